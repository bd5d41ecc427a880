"""Edges and nodes from tables into a graph store.

Ids of any kind are mapped to node numbers by a join in DuckDB, which spills to disk what does not fit its memory; the
mapped pairs go to a file, and from there into sorted neighbour lists. Node numbers are the order of the node table.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import GraphError, InputError
from imgcl._core.unlabelled import FILE_WORDS, WORDS
from imgcl.data.importing.columns import Source, choose_columns, feature_sources, plan_columns
from imgcl.data.importing.database import chunks, quoted_text, run, scalar, scratch_database
from imgcl.data.importing.labels import NUMBERS, write_labels
from imgcl.data.importing.settings import ImportSettings, Progress
from imgcl.data.importing.source import MISSING, Table, kind_of, open_table
from imgcl.data.store import PairFile, StoreWriter, build_csr
from imgcl.graph import Graph
from imgcl.graph.checks import Cleaning, no_features

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TEXT = ("VARCHAR", "UUID", "BLOB", "ENUM")
EXACT = {"FLOAT": 2**24, "DOUBLE": 2**53}  # from here on, floats no longer tell an integer from the next one


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
    """

    path: Path
    nodes: int
    features: int
    rows: int
    edges: int
    dangling: int
    weightless: int
    cleaning: Cleaning


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
    _check_roles(settings)
    with StoreWriter(out) as writer:
        folder = writer.scratch()
        with scratch_database(folder, settings.memory_limit) as connection:
            say("nodes", 0, None)
            features, label, words = _read_nodes(connection, settings)
            n = int(scalar(connection, "SELECT count(*) FROM nodes"))
            _check_ids(connection, settings, n)
            classes = write_labels(connection, writer, settings.label, label, n, words)
            if settings.structural:
                _check_memory_of_structure(settings, n)
            else:
                width = _write_features(connection, writer, settings, features, n, say)
            _write_names(connection, writer, n)
            pairs = PairFile(folder / "pairs", n)
            rows, dangling, weightless = _map_edges(connection, pairs, settings, say)
        say("neighbour lists", 0, 100)
        built = build_csr(
            pairs,
            writer.file("indices"),
            directed_as=settings.directed_as,
            memory=settings.memory_limit // 8,
            on_progress=lambda share: say("neighbour lists", round(100 * share), 100),
        )
        writer.array("indptr", built.indptr)
        if settings.structural:
            say("structure", 0, None)
            width = _write_structure(writer, built.indptr, settings.dtype)
        name = settings.name or Path(out).name.removesuffix(".store")
        path = writer.commit(name, class_names=classes, cleaning=built.cleaning)
    return ImportReport(path, n, width, rows, int(built.indptr[-1]) // 2, dangling, weightless, built.cleaning)


def _check_roles(settings: ImportSettings) -> None:
    """Refuse a column of the edges that is given for two things."""
    given: dict[str, str] = {}
    for option, column in (("src", settings.src), ("dst", settings.dst), ("weight", settings.weight)):
        if column is not None and given.setdefault(column, option) != option:
            raise InputError(f"`{given[column]}` and `{option}` are the same column {column!r}: give two columns")
    if settings.nodes is None and (settings.label is not None or not settings.structural):
        what = "label" if settings.label is not None else "features"
        raise InputError(f"`{what}` is a column of the nodes, and there is no table of nodes: give it (`nodes`)")


# ---------------------------------------------------------------------- nodes


def _read_nodes(
    connection: DuckDBPyConnection, settings: ImportSettings
) -> tuple[list[Source], str | None, frozenset[str]]:
    """Copy the columns that are needed into the table ``nodes``, numbered in their order.

    There they have names of ours: ``node``, ``id``, ``label`` and ``f0``, ``f1``, ….

    Returns:
        The columns that become features, the label's SQL type, and the text that means no label.
    """
    if settings.nodes is None:
        _collect_nodes(connection, settings)
        return [], None, WORDS
    table = _node_table(connection, settings)
    features = []
    if not settings.structural:
        features = choose_columns(settings.features, table.names, settings.nodes, _no_features(settings))
    columns = {"id": table.column(settings.id_column)}
    if settings.label is not None:
        columns["label"] = table.value(settings.label)
    columns |= {f"f{i}": table.value(name) for i, name in enumerate(features)}
    wanted = ", ".join(f"{expression} AS {name}" for name, expression in columns.items())
    numbered = f"SELECT row_number() OVER () - 1 AS node, {wanted} FROM {table.sql}"
    run(connection, f"CREATE TABLE nodes AS {numbered}", settings.node_file)
    if settings.label is not None and settings.numeric_label and table.kind(settings.label) not in NUMBERS:
        _make_label_a_number(connection, settings)
    _name_nodes(connection, table.kind(settings.id_column))
    types = {name: kind for name, kind, *_ in connection.execute("DESCRIBE nodes").fetchall()}
    sources = {name: (f"f{i}", types[f"f{i}"]) for i, name in enumerate(features)}
    label = kind_of(types["label"]) if settings.label is not None else None
    words = FILE_WORDS if table.text else WORDS
    return feature_sources(connection, sources, guessed=table.text), label, words


def _collect_nodes(connection: DuckDBPyConnection, settings: ImportSettings) -> None:
    """Make the table ``nodes`` of all ids that edges name, as text; numbers in their order."""
    table = _edge_table(connection, settings)
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


def _node_table(connection: DuckDBPyConnection, settings: ImportSettings) -> Table:
    """The node table; NA and its like mean no value in CSV files, unless a node is called so."""
    named = _no_features(settings)
    plain = open_table(connection, settings.node_file, named)
    if not plain.text:
        return plain
    words = ", ".join(map(quoted_text, MISSING))
    names = f"SELECT count(*) FROM {plain.sql} WHERE {plain.column(settings.id_column)} IN ({words})"
    if run(connection, names, settings.node_file).fetchone() != (0,):
        return plain
    texts = [name for name in (settings.id_column, settings.label) if name is not None]
    return open_table(connection, settings.node_file, named, as_text=texts, missing=MISSING)


def _make_label_a_number(connection: DuckDBPyConnection, settings: ImportSettings) -> None:
    """Change the type of the column ``label`` of the table ``nodes``; words that mean no label become NULL."""
    text = "trim(CAST(nodes.label AS VARCHAR))"
    words = ", ".join(map(quoted_text, sorted(FILE_WORDS)))
    row = connection.execute(
        f"SELECT nodes.node, {text} FROM nodes WHERE nodes.label IS NOT NULL AND {text} NOT IN ({words}) "
        f"AND COALESCE(abs(TRY_CAST({text} AS DOUBLE)) >= {EXACT['DOUBLE']}, true) ORDER BY nodes.node LIMIT 1"
    ).fetchone()
    if row is not None:
        raise InputError(
            f"{settings.node_file}: column {settings.label!r} is {row[1]!r} in row {row[0] + 1:,}, which is no number "
            "below 2^53: leave `numeric_label` out"
        )
    connection.execute(
        "ALTER TABLE nodes ALTER label TYPE DOUBLE USING TRY_CAST(trim(CAST(label AS VARCHAR)) AS DOUBLE)"
    )


def _no_features(settings: ImportSettings) -> dict[str, str | None]:
    """Columns that have another use."""
    return {"id_column": settings.id_column, "label": settings.label}


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
    connection: DuckDBPyConnection,
    writer: StoreWriter,
    settings: ImportSettings,
    features: list[Source],
    n: int,
    say: Progress,
) -> int:
    """Write the array ``x``; returns its width."""
    columns = plan_columns(connection, features, settings)
    begins = np.concatenate([[0], np.cumsum([len(column.names) for column in columns])])
    x = writer.create("x", (n, int(begins[-1])), np.dtype(settings.dtype))
    if not x.shape[1]:
        raise InputError("the feature columns hold no values at all: choose others (`features`)")
    wanted = ", ".join(f"{column.expression} AS f{i}" for i, column in enumerate(columns))
    done = 0
    for frame in chunks(connection.execute(f"SELECT nodes.node AS node, {wanted} FROM nodes")):
        rows = frame["node"].to_numpy()
        for i, column in enumerate(columns):
            column.write(frame[f"f{i}"], rows, int(begins[i]), x)
        done += len(frame)
        say("features", done, n)
    writer.names("feature", [name for column in columns for name in column.names])
    return int(begins[-1])


def _check_memory_of_structure(settings: ImportSettings, n: int) -> None:
    from imgcl.graph.structure.features import check_memory_of_structure  # loads torch

    remedy = "allow more (`memory_limit`), or give the nodes features of their own (`features`)"
    check_memory_of_structure(n, available=settings.memory_limit, remedy=remedy)


def _write_structure(writer: StoreWriter, indptr: NDArray[np.int64], dtype: str) -> int:
    """Write features made from the edges as the array ``x``; returns its width."""
    from imgcl.graph.structure.features import structural_features, structural_names  # loads torch

    indices = np.load(writer.file("indices"), mmap_mode="r", allow_pickle=False)
    x = structural_features(Graph(indptr, indices, no_features(indices, len(indptr) - 1)))
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


# ---------------------------------------------------------------------- edges


def _map_edges(
    connection: DuckDBPyConnection, pairs: PairFile, settings: ImportSettings, say: Progress
) -> tuple[int, int, int]:
    """Append every edge's node numbers; returns rows read, dangling ones, and those without weight."""
    table = _edge_table(connection, settings)
    key, ends = _keys(connection, table, settings)
    connection.execute("SET preserve_insertion_order = false")
    query = (
        f"SELECT COALESCE(s.node, -1) AS u, COALESCE(d.node, -1) AS v, e.weighs AS weighs FROM "
        f"(SELECT {ends[0]} AS a, {ends[1]} AS b, {_weighs(table, settings.weight)} AS weighs FROM {table.sql}) AS e "
        f"LEFT JOIN ids AS s ON s.{key} = e.a LEFT JOIN ids AS d ON d.{key} = e.b"
    )
    total = None
    if not table.text:
        total = int(scalar(connection, f"SELECT count(*) FROM {table.sql}"))
    rows = dangling = weightless = 0
    for frame in chunks(run(connection, query, settings.edges), settings.edges):
        u, v, weighs = (frame[name].to_numpy() for name in ("u", "v", "weighs"))
        rows += len(frame)
        weightless += int((~weighs).sum())
        known = (u >= 0) & (v >= 0)
        dangling += int((weighs & ~known).sum())
        if dangling and settings.on_dangling == "error":
            _raise_dangling(connection, query, settings)
        pairs.append(u[weighs & known], v[weighs & known])
        say("edges", rows, total)
    return rows, dangling, weightless


def _edge_table(connection: DuckDBPyConnection, settings: ImportSettings) -> Table:
    named = {"src": settings.src, "dst": settings.dst, "weight": settings.weight}
    return open_table(connection, settings.edges, named, as_text=[name for name in named.values() if name is not None])


def _keys(connection: DuckDBPyConnection, table: Table, settings: ImportSettings) -> tuple[str, list[str]]:
    """By which column of ``ids`` edges are looked up, and SQL of their two ends."""
    kinds = {column: table.kind(column) for column in (settings.src, settings.dst)}
    kind = kind_of(str(connection.execute("DESCRIBE SELECT ids.id FROM ids").fetchall()[0][1]))
    columns = [table.column(column) for column in kinds]
    if kind in TEXT or not set(TEXT).isdisjoint(kinds.values()):  # as soon as one side is text, all are compared so
        return "name", [f"CAST({column} AS VARCHAR)" for column in columns]
    _check_exact(connection, settings, {settings.id_column: (settings.node_file, kind)})
    _check_exact(connection, settings, {column: (settings.edges, kinds[column]) for column in kinds})
    return "id", columns


def _check_exact(connection: DuckDBPyConnection, settings: ImportSettings, columns: dict[str, tuple[str, str]]) -> None:
    """Refuse ids that a column of floats cannot tell from their neighbours: their edges would join other nodes."""
    for column, (path, kind) in columns.items():
        exact = EXACT.get(kind)
        if exact is None:
            continue
        row = connection.execute(f"SELECT ids.name FROM ids WHERE abs(ids.id) >= {exact} LIMIT 1").fetchone()
        if row is not None:
            raise InputError(
                f"{path}: column {column!r} holds floats ({kind}), which cannot tell ids such as {row[0]} of "
                f"{settings.node_file} from their neighbours: write the column as integers or text"
            )


def _weighs(table: Table, weight: str | None) -> str:
    """SQL of whether a row is an edge."""
    if weight is None:
        return "true"
    number = f"CAST({table.value(weight)} AS DOUBLE)"
    return f"COALESCE({number} <> 0 AND NOT isnan({number}), false)"


def _raise_dangling(connection: DuckDBPyConnection, query: str, settings: ImportSettings) -> None:
    wider = query.replace("AS v,", "AS v, e.a AS a, e.b AS b,", 1)
    facts = connection.execute(
        f"SELECT count(*), any_value(CASE WHEN w.u < 0 THEN w.a ELSE w.b END) FROM ({wider}) AS w "
        "WHERE w.weighs AND (w.u < 0 OR w.v < 0)"
    ).fetchone()
    assert facts is not None
    raise InputError(
        f"{settings.edges}: {facts[0]:,} edges name nodes that {settings.node_file} does not have, for example "
        f"{facts[1]!r}: use `on_dangling='drop'` to leave them out, or add the nodes"
    )
