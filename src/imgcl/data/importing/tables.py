"""Edges and nodes from tables into a graph store.

Ids of any kind are mapped to node numbers by a join in DuckDB, which spills to disk what does not fit its memory; the
mapped pairs go to a file, and from there into sorted neighbour lists. Node numbers are the order of the node table.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from imgcl._core.errors import GraphError, InputError
from imgcl.data.importing.columns import choose_columns, plan_columns
from imgcl.data.importing.database import (
    MISSING,
    check_columns,
    chunks,
    columns_of,
    quoted,
    run,
    scalar,
    scratch_database,
    table_source,
)
from imgcl.data.importing.labels import write_labels
from imgcl.data.importing.settings import ImportSettings, Progress
from imgcl.data.store import PairFile, StoreWriter, build_csr
from imgcl.graph.checks import Cleaning

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TEXT = ("VARCHAR", "UUID", "BLOB", "ENUM")


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
    """Make a graph store from a table of edges and a table of nodes.

    Args:
        settings: files, columns, and what to do with what is not as it should be.
        out: the store to create.
        on_progress: called with a stage, the rows done and the rows in all (``None``: not known).

    Raises:
        InputError: when a file or column is not there, ids are missing or not unique, or a value is refused.
    """
    say = on_progress or (lambda stage, done, total: None)
    with StoreWriter(out) as writer:
        folder = writer.scratch()
        with scratch_database(folder, settings.memory_limit) as connection:
            say("nodes", 0, None)
            types = _read_nodes(connection, settings)
            n = int(scalar(connection, "SELECT count(*) FROM nodes"))
            _check_ids(connection, settings, n)
            names = choose_columns(settings.features, types, settings.nodes, _no_features(settings))
            classes = write_labels(connection, writer, settings.label, types, n)
            width = _write_features(connection, writer, settings, names, types, n, say)
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
        name = settings.name or Path(out).name.removesuffix(".store")
        path = writer.commit(name, class_names=classes, cleaning=built.cleaning)
    return ImportReport(path, n, width, rows, int(built.indptr[-1]) // 2, dangling, weightless, built.cleaning)


# ---------------------------------------------------------------------- nodes


def _read_nodes(connection: DuckDBPyConnection, settings: ImportSettings) -> dict[str, str]:
    """Copy the node table's columns that are needed, numbered in their order; returns the columns' types."""
    check_columns(
        settings.nodes,
        columns_of(connection, table_source(settings.nodes), settings.nodes),
        _no_features(settings),
    )
    source = _node_source(connection, settings)
    types = columns_of(connection, source, settings.nodes)
    features = choose_columns(settings.features, types, settings.nodes, _no_features(settings))
    wanted = dict.fromkeys(filter(None, (settings.id_column, settings.label, *features)))
    columns = ", ".join(quoted(name) for name in wanted)
    numbered = f"SELECT row_number() OVER () - 1 AS {quoted('#')}, {columns} FROM {source}"
    run(connection, f"CREATE TABLE nodes AS {numbered}", settings.nodes)
    as_text = f"CAST({quoted(settings.id_column)} AS VARCHAR)"
    key = as_text if _is_text(types[settings.id_column]) else quoted(settings.id_column)
    connection.execute(f"CREATE VIEW ids AS SELECT {quoted('#')} AS node, {key} AS id, {as_text} AS name FROM nodes")
    return types


def _node_source(connection: DuckDBPyConnection, settings: ImportSettings) -> str:
    """The SQL that reads the node table; NA and its like mean no value, unless a node is called so."""
    plain = table_source(settings.nodes, (settings.id_column,))
    source = table_source(settings.nodes, (settings.id_column,), MISSING)
    if source == plain:  # not a CSV file
        return plain
    names = f"SELECT count(*) FROM {plain} WHERE {quoted(settings.id_column)} IN {MISSING}"
    found = run(connection, names, settings.nodes).fetchone()
    return source if found == (0,) else plain


def _no_features(settings: ImportSettings) -> dict[str, str | None]:
    """Columns that have another use."""
    return {"id-column": settings.id_column, "label": settings.label}


def _check_ids(connection: DuckDBPyConnection, settings: ImportSettings, n: int) -> None:
    if n == 0:
        raise GraphError(f"{settings.nodes} has no rows: the graph is empty")
    missing = int(scalar(connection, "SELECT count(*) FROM ids WHERE id IS NULL"))
    if missing:
        raise InputError(f"{settings.nodes}: {missing:,} rows have no {settings.id_column!r}: every node needs an id")
    twice = connection.execute("SELECT name, count(*) AS n FROM ids GROUP BY name HAVING n > 1 LIMIT 1").fetchone()
    if twice is not None:
        raise InputError(f"{settings.nodes}: the id {twice[0]!r} is there {twice[1]} times: ids must be unique")


def _write_features(
    connection: DuckDBPyConnection,
    writer: StoreWriter,
    settings: ImportSettings,
    names: list[str],
    types: dict[str, str],
    n: int,
    say: Progress,
) -> int:
    """Write the array ``x``; returns its width."""
    columns = plan_columns(connection, names, types, missing=settings.missing, standardise=settings.standardise)
    begins = np.concatenate([[0], np.cumsum([len(column.names) for column in columns])])
    x = writer.create("x", (n, int(begins[-1])), np.dtype(settings.dtype))
    if not x.shape[1]:
        raise InputError("the feature columns hold no values at all: choose others with --features")
    wanted = ", ".join(f"{column.expression} AS {quoted(f'f{i}')}" for i, column in enumerate(columns))
    done = 0
    for frame in chunks(connection.execute(f"SELECT {quoted('#')} AS node, {wanted} FROM nodes")):
        rows = frame["node"].to_numpy()
        for i, column in enumerate(columns):
            column.write(frame[f"f{i}"], rows, int(begins[i]), x)
        done += len(frame)
        say("features", done, n)
    if settings.dtype == "float16" and any(not np.isfinite(x[i : i + 4096]).all() for i in range(0, n, 4096)):
        raise InputError("a feature does not fit into float16 (up to 65504): use float32, or standardise")
    writer.names("feature", [name for column in columns for name in column.names])
    return int(begins[-1])


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
    plain = columns_of(connection, table_source(settings.edges), settings.edges)
    wanted = {"src": settings.src, "dst": settings.dst, "weight": settings.weight}
    check_columns(settings.edges, plain, wanted)
    source = table_source(settings.edges, (settings.src, settings.dst))
    types = columns_of(connection, source, settings.edges)
    text = any(_is_text(types[column]) for column in (settings.src, settings.dst))
    text = text or _is_text(str(connection.execute("DESCRIBE SELECT id FROM ids").fetchall()[0][1]))
    key = "name" if text else "id"  # as soon as one side is text, all are compared as text
    ends = [f"CAST({quoted(c)} AS VARCHAR)" if text else quoted(c) for c in (settings.src, settings.dst)]
    weight = "true"
    if settings.weight is not None:
        number = f"CAST({quoted(settings.weight)} AS DOUBLE)"
        weight = f"COALESCE({number} <> 0 AND NOT isnan({number}), false)"
    connection.execute("SET preserve_insertion_order = false")
    query = (
        f"SELECT COALESCE(s.node, -1) AS u, COALESCE(t.node, -1) AS v, weighs FROM "
        f"(SELECT {ends[0]} AS a, {ends[1]} AS b, {weight} AS weighs FROM {source}) "
        f"LEFT JOIN ids s ON s.{key} = a LEFT JOIN ids t ON t.{key} = b"
    )
    total = None
    if source.startswith("read_parquet"):
        total = int(scalar(connection, f"SELECT count(*) FROM {source}"))
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


def _raise_dangling(connection: DuckDBPyConnection, query: str, settings: ImportSettings) -> None:
    wider = query.replace("AS v,", "AS v, a, b,", 1)
    facts = connection.execute(
        f"SELECT count(*), any_value(CASE WHEN u < 0 THEN a ELSE b END) FROM ({wider}) "
        "WHERE weighs AND (u < 0 OR v < 0)"
    ).fetchone()
    assert facts is not None
    raise InputError(
        f"{settings.edges}: {facts[0]:,} edges name nodes that {settings.nodes} does not have, for example "
        f"{facts[1]!r}: use --on-dangling drop to leave them out, or add the nodes"
    )


def _is_text(kind: str) -> bool:
    return kind.partition("(")[0].upper() in TEXT
