"""Edges and nodes from tables into a graph store.

Ids of any kind are mapped to node numbers by a join in DuckDB, which spills to disk what does not fit its memory; the
mapped pairs go to a file, and from there into sorted neighbour lists. Node numbers are the order of the node table.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import GraphError, InputError
from imgcl._core.unlabelled import FILE_WORDS, WORDS
from imgcl.data.importing.columns import (
    Column,
    Source,
    check_repeated,
    choose_columns,
    count_unseen,
    feature_sources,
    learn_columns,
    plan_columns,
    repeated_sources,
)
from imgcl.data.importing.database import chunks, quoted_text, run, scalar, scratch_database
from imgcl.data.importing.edges import EXACT, TEXT, check_ends, edge_table, map_edges
from imgcl.data.importing.labels import NUMBERS, class_sizes, make_label_a_number, write_labels
from imgcl.data.importing.recipe import Recipe, Unseen
from imgcl.data.importing.relations import RelationFiles, find_relations, keep_weights, write_lists
from imgcl.data.importing.settings import ImportSettings, Progress
from imgcl.data.importing.shapes import Shape, find_shapes, with_logarithms
from imgcl.data.importing.source import MISSING, Table, kind_of, open_table, shown
from imgcl.data.importing.times import edge_times, write_node_times
from imgcl.data.store import PairFile, StoreWriter, build_csr
from imgcl.graph import Graph
from imgcl.graph.checks import DIRECTIONS, ONE_WAY, Cleaning, no_features
from imgcl.graph.relations import BOTH_WAYS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

WEIGHTS = "weights.npy"  # scratch file
TOGETHER = 250  # feature columns of one query: the time to plan it grows with their square


@dataclass(frozen=True)
class ImportReport:
    """What an import read and what it left out.

    Attributes:
        path: of the store.
        nodes: number of nodes.
        features: number of features.
        rows: edge rows read.
        edges: undirected edges of the graph.
        dangling: rows left out because a node is unknown.
        weightless: rows left out because their weight is 0 or missing.
        cleaning: self-loops, duplicates, one-directional edges.
        unseen: by column, values that the import named by ``like`` did not have; these features are 0.
        new_classes: classes that it did not have.
        without_label: the label column, where the repeated import had one and this table has none.
        weights: smallest, largest and mean weight of the graph's edges; ``None``: all weigh 1.
        limited: by text column with more values than ``most_values``, how many it has.
        numbers_as_text: by text column of which most values look like numbers, one that does not.
        relations: names of the relations, where edges have some.
        new_relations: those that the import named by ``like`` did not have; they are in the union alone.
        late: rows left out because their time is after ``as_of``, or not known.
        class_sizes: labelled nodes of every class that occurs, the largest first; ``None`` without a label column.
        shapes: by feature column of numbers, how large and how skew they are; not of an import that repeats another.
        standardised: whether numbers were brought to one scale.
    """

    path: Path
    nodes: int
    features: int
    rows: int
    edges: int
    dangling: int
    weightless: int
    cleaning: Cleaning
    unseen: dict[str, Unseen] = field(default_factory=dict)
    new_classes: tuple[str, ...] = ()
    without_label: str | None = None
    weights: tuple[float, float, float] | None = None
    limited: dict[str, int] = field(default_factory=dict)
    numbers_as_text: dict[str, str] = field(default_factory=dict)
    relations: tuple[str, ...] = ()
    new_relations: tuple[str, ...] = ()
    late: int = 0
    class_sizes: dict[str, int] | None = None
    shapes: dict[str, Shape] = field(default_factory=dict)
    standardised: bool = False


def import_tables(settings: ImportSettings, out: str | Path, on_progress: Progress | None = None) -> ImportReport:
    """Make a graph store from a table of edges and, if there is one, a table of nodes.

    Args:
        settings: files, columns, and what to do with what is not as it should be.
        out: the store to create.
        on_progress: called with a stage, the rows done and the rows in all (``None``: not known).

    Raises:
        InputError: when a file or column is not there, ids are missing or not unique, or a value is refused.
    """
    say = on_progress or (lambda stage, done, total: None)
    known = None if settings.like is None else Recipe.read(settings.like)
    asked, settings = settings, settings if known is None else known.applied(settings)
    _check_roles(settings)
    unseen: dict[str, Unseen] = {}
    with StoreWriter(out) as writer:
        folder = writer.scratch()
        with scratch_database(folder, settings.memory_limit) as connection:
            say("nodes", 0, None)
            if known is not None:
                settings = known.fitted(connection, settings, label_needed=asked.label is not None)
            edge_table(connection, settings)  # a file or column that is not there is refused before the nodes are read
            features, label, words = _read_nodes(connection, settings, known)
            n = int(scalar(connection, "SELECT count(*) FROM nodes"))
            _check_ids(connection, settings, n)
            old = (known and known.class_names) or ()
            classes = write_labels(connection, writer, settings.label, label, n, words, old)
            sizes = None if classes is None else class_sizes(connection)
            recipe = _recipe(connection, settings, features, known, classes)
            shapes = find_shapes(connection, features) if known is None else {}
            if settings.structural:
                _check_memory_of_structure(settings, n)
            else:
                columns = plan_columns(connection, features, recipe.columns, settings)
                width = _write_features(connection, writer, columns, settings.dtype, n, say)
                unseen = {} if known is None else count_unseen(connection, features, recipe.columns)
            _write_names(connection, writer, n)
            pairs = PairFile(folder / "pairs", n, weighted=settings.weight is not None)
            relations, recipe = _relations(connection, settings, recipe, known)
            kept = recipe.relation_names if settings.relations == "side-by-side" else ()
            separate = RelationFiles(folder, kept, n, weighted=settings.weight is not None) if kept else None
            times = edge_times(connection, edge_table(connection, settings), settings)
            node_times = write_node_times(connection, writer, settings, n)
            counts = map_edges(connection, pairs, settings, say, separate, times)
        say("neighbour lists", 0, 100)
        built = build_csr(
            pairs,
            writer.file("indices"),
            weights_out=folder / WEIGHTS if settings.weight is not None else None,
            directed_as="both" if settings.directed_as in ONE_WAY else settings.directed_as,
            memory=settings.memory_limit // 8,
            on_progress=lambda share: say("neighbour lists", round(100 * share), 100),
        )
        writer.array("indptr", built.indptr)
        weights = keep_weights(writer, folder / WEIGHTS, "edge_weight")
        if separate is not None:
            separate.write(writer, settings)
        if settings.directed_as in ONE_WAY:
            built = replace(built, cleaning=replace(built.cleaning, one_directional=0))
            write_lists(writer, pairs, "received", folder / "received.npy", settings)
        if settings.structural:
            say("structure", 0, None)
            width = _write_structure(writer, built.indptr, settings.dtype, weighted=weights is not None)
        recipe.write(writer.folder)
        name = settings.name or Path(out).name.removesuffix(".store")
        notes = {"direction": DIRECTIONS[settings.directed_as]}
        notes |= {"relations": f"union of {shown(relations)}"} if relations and not kept else {}
        notes |= {} if times is None else {"edge time": times.described(settings.as_of)}
        path = writer.commit(
            name,
            class_names=classes,
            cleaning=built.cleaning,
            relations=kept,
            notes=notes,
            time=("time", False) if node_times is None else (node_times.column, node_times.dates),
        )
    return ImportReport(
        path,
        n,
        width,
        counts.rows,
        int(built.indptr[-1]) // 2,
        counts.dangling,
        counts.weightless,
        built.cleaning,
        unseen,
        tuple(classes or ())[len(old) :] if known is not None else (),
        recipe.settings.label if settings.label is None else None,
        weights,
        {each.name: len(each.categories or ()) + each.other for each in recipe.columns if each.other and known is None},
        {each.name: odd for each in recipe.columns if (odd := each.odd_value) is not None and known is None},
        relations,
        tuple(name for name in relations if name not in recipe.relation_names),
        counts.late,
        sizes,
        shapes,
        settings.standardise,
    )


def _recipe(
    connection: DuckDBPyConnection,
    settings: ImportSettings,
    features: list[Source],
    known: Recipe | None,
    classes: list[str] | None,
) -> Recipe:
    """What the store keeps: the recipe of these tables, or the known one after checks, with the classes found."""
    if known is None:
        columns = () if settings.structural else tuple(learn_columns(connection, features, settings))
        return Recipe(
            settings=settings.repeated, columns=columns, class_names=None if classes is None else tuple(classes)
        )
    check_repeated(connection, features, known.columns, settings)
    return known if classes is None else known.model_copy(update={"class_names": tuple(classes)})


def _relations(
    connection: DuckDBPyConnection, settings: ImportSettings, recipe: Recipe, known: Recipe | None
) -> tuple[tuple[str, ...], Recipe]:
    """The relations of the edges, and the recipe with those that it keeps: its own, or the first import's."""
    if settings.relation is None:
        return (), recipe
    found = find_relations(connection, edge_table(connection, settings), settings)
    return found, recipe if known is not None else recipe.model_copy(update={"relation_names": found})


def _check_roles(settings: ImportSettings) -> None:
    """Refuse a column of the edges that is given for two things."""
    given: dict[str, str] = {}
    if settings.as_of is not None and settings.time is None:
        raise InputError("`as_of` needs the column of the edges' times: give it (`time`)")
    if settings.nodes is None and settings.node_time is not None:
        raise InputError("`node_time` is a column of the nodes, and there is no table of nodes: give it (`nodes`)")
    roles = ("src", "dst", "weight", "relation", "time")
    for option, column in ((option, getattr(settings, option)) for option in roles):
        if column is not None and given.setdefault(column, option) != option:
            raise InputError(f"`{given[column]}` and `{option}` are the same column {column!r}: give two columns")
    if settings.relations == "side-by-side" and settings.directed_as in ONE_WAY:
        raise InputError(f"`directed_as={settings.directed_as!r}` and `relations='side-by-side'`: {BOTH_WAYS}")
    if settings.relation is None and settings.relations != "union":
        raise InputError("`relations` needs the column that names them: give it (`relation`)")
    if settings.log and settings.structural:
        raise InputError("`log` is about feature columns, and none are given: name them (`features`)")
    if settings.nodes is None and (settings.label is not None or not settings.structural):
        what = "label" if settings.label is not None else "features"
        raise InputError(f"`{what}` is a column of the nodes, and there is no table of nodes: give it (`nodes`)")


def _read_nodes(
    connection: DuckDBPyConnection, settings: ImportSettings, known: Recipe | None
) -> tuple[list[Source], str | None, frozenset[str]]:
    """Copy the columns that are needed into the table ``nodes``, numbered in their order.

    There they have names of ours: ``node``, ``id``, ``label`` and ``f0``, ``f1``, ….

    Returns:
        The columns that become features, the label's SQL type, and the text that means no label.
    """
    if settings.nodes is None:
        _collect_nodes(connection, settings)
        return [], None, WORDS
    table = _node_table(connection, settings, known)
    features = []
    if known is not None:
        features = known.feature_columns(table.names, settings)
    elif not settings.structural:
        features = choose_columns(settings.features, table.names, settings.nodes, _no_features(settings))
    columns = {"id": table.column(settings.id_column)}
    if settings.label is not None:
        columns["label"] = table.value(settings.label)
    if settings.node_time is not None:
        columns["time"] = table.value(settings.node_time)
    columns |= {f"f{i}": table.value(name) for i, name in enumerate(features)}
    wanted = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
    numbered = f"SELECT row_number() OVER () - 1 AS node, {wanted} FROM {table.sql}"
    run(connection, f"CREATE TABLE nodes AS {numbered}", settings.node_file)
    if settings.label is not None and settings.numeric_label and table.kind(settings.label) not in NUMBERS:
        make_label_a_number(connection, settings)
    _name_nodes(connection, table.kind(settings.id_column))
    types = {name: kind for name, kind, *_ in connection.execute("DESCRIBE nodes").fetchall()}
    sources = {name: (f"f{i}", types[f"f{i}"]) for i, name in enumerate(features)}
    label = kind_of(types["label"]) if settings.label is not None else None
    words = FILE_WORDS if table.text else WORDS
    if known is not None:
        return repeated_sources(connection, sources, known.columns), label, words
    return with_logarithms(feature_sources(connection, sources, guessed=table.text), settings.log), label, words


def _collect_nodes(connection: DuckDBPyConnection, settings: ImportSettings) -> None:
    """Make the table ``nodes`` of all ids that edges name, as text; numbers in their order."""
    table = edge_table(connection, settings)
    check_ends(connection, table, settings)
    ends = (
        f"SELECT CAST({table.column(end)} AS VARCHAR) AS id FROM {table.sql}" for end in (settings.src, settings.dst)
    )
    distinct = f"SELECT DISTINCT ends.id FROM ({' UNION ALL '.join(ends)}) AS ends WHERE ends.id IS NOT NULL"
    numbered = "SELECT row_number() OVER (ORDER BY TRY_CAST(every.id AS HUGEINT), every.id) - 1 AS node, every.id AS id"
    run(connection, f"CREATE TABLE nodes AS {numbered} FROM ({distinct}) AS every ORDER BY node", settings.edges)
    _name_nodes(connection, "VARCHAR")


def _name_nodes(connection: DuckDBPyConnection, kind: str) -> None:
    """Make the view ``ids``: number of every node, its id, and the same as text."""
    key = as_text = "CAST(nodes.id AS VARCHAR)"
    if kind not in TEXT:
        key = "CASE WHEN NOT isnan(nodes.id) THEN nodes.id END" if kind in EXACT else "nodes.id"
    connection.execute(f"CREATE VIEW ids AS SELECT nodes.node AS node, {key} AS id, {as_text} AS name FROM nodes")


def _node_table(connection: DuckDBPyConnection, settings: ImportSettings, known: Recipe | None) -> Table:
    """The node table; NA and its like mean no value in CSV files, unless a node is called so."""
    named = _no_features(settings)
    plain = open_table(connection, settings.node_file, named)
    if not plain.text:
        return plain
    words = ", ".join(map(quoted_text, MISSING))
    names = f"SELECT count(*) FROM {plain.sql} WHERE {plain.column(settings.id_column)} IN ({words})"
    if run(connection, names, settings.node_file).fetchone() != (0,):
        return plain
    texts = [name for name in (settings.id_column, settings.label, settings.node_time) if name is not None]
    texts += [] if known is None else known.texts
    return open_table(connection, settings.node_file, named, as_text=texts, missing=MISSING)


def _no_features(settings: ImportSettings) -> dict[str, str | None]:
    """Columns that have another use."""
    return {"id_column": settings.id_column, "label": settings.label, "node_time": settings.node_time}


def _check_ids(connection: DuckDBPyConnection, settings: ImportSettings, n: int) -> None:
    if n == 0:
        raise GraphError(f"{settings.node_file} has no rows: the graph is empty")
    missing = int(scalar(connection, "SELECT count(*) FROM ids WHERE id IS NULL"))
    if missing:
        raise InputError(
            f"{settings.node_file}: {missing:,} rows have no {settings.id_column!r}: every node needs an id"
        )
    twice = connection.execute("SELECT name, count(*) AS n FROM ids GROUP BY name HAVING n > 1 LIMIT 1").fetchone()
    if twice is not None:
        raise InputError(f"{settings.node_file}: the id {twice[0]!r} is there {twice[1]} times: ids must be unique")


def _write_features(
    connection: DuckDBPyConnection, writer: StoreWriter, columns: list[Column], dtype: str, n: int, say: Progress
) -> int:
    """Write the array ``x``; returns its width."""
    begins = np.concatenate([[0], np.cumsum([len(column.names) for column in columns])])
    x = writer.create("x", (n, int(begins[-1])), np.dtype(dtype))
    if not x.shape[1]:
        raise InputError("the feature columns hold no values at all: choose others (`features`)")
    parts, done = range(0, len(columns), TOGETHER), 0
    for first in parts:
        part = dict(enumerate(columns[first : first + TOGETHER], first))
        wanted = ", ".join(f"{column.expression} AS f{i}" for i, column in part.items())
        for frame in chunks(connection.execute(f"SELECT nodes.node AS node, {wanted} FROM nodes")):
            for i, column in part.items():
                column.write(frame[f"f{i}"], frame["node"].to_numpy(), int(begins[i]), x)
            done += len(frame)
            say("features", done // len(parts), n)
    writer.names("feature", [name for column in columns for name in column.names])
    return int(begins[-1])


def _check_memory_of_structure(settings: ImportSettings, n: int) -> None:
    from imgcl.graph.structure.features import check_memory_of_structure  # loads torch

    remedy = "allow more (`memory_limit`), or give the nodes features of their own (`features`)"
    check_memory_of_structure(n, available=settings.memory_limit, remedy=remedy)


def _write_structure(writer: StoreWriter, indptr: NDArray[np.int64], dtype: str, *, weighted: bool) -> int:
    """Write features made from the edges as the array ``x``; returns its width."""
    from imgcl.graph.structure.features import structural_features, structural_names  # loads torch

    names = ("indices", "edge_weight") if weighted else ("indices",)
    indices, *weights = (np.load(writer.file(name), mmap_mode="r", allow_pickle=False) for name in names)
    graph = Graph(indptr, indices, no_features(indices, len(indptr) - 1), edge_weight=weights[0] if weights else None)
    x = structural_features(graph)
    writer.array("x", x.astype(dtype))
    writer.names("feature", structural_names(x.shape[1] - 1))
    return int(x.shape[1])


def _write_names(connection: DuckDBPyConnection, writer: StoreWriter, n: int) -> None:
    size = int(scalar(connection, "SELECT sum(strlen(name)) FROM ids"))
    text, ends = writer.create("node_names", (size,), np.uint8), writer.create("node_names_ends", (n,), np.int64)
    end, row = 0, 0
    for frame in chunks(connection.execute("SELECT name, strlen(name) AS length FROM ids ORDER BY node")):
        joined = "".join(frame["name"]).encode()
        text[end : end + len(joined)] = np.frombuffer(joined, np.uint8)
        ends[row : row + len(frame)] = end + np.cumsum(frame["length"].to_numpy())
        end, row = end + len(joined), row + len(frame)
