"""The edges of a table as pairs of node numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from imgcl._core.errors import InputError
from imgcl.data.importing.database import chunks, run, scalar
from imgcl.data.importing.pandas_table import Place
from imgcl.data.importing.relations import CODES, UNKNOWN, RelationFiles, number_relations
from imgcl.data.importing.settings import ImportSettings, Progress
from imgcl.data.importing.source import Table, kind_of, open_table
from imgcl.data.importing.times import Times
from imgcl.data.store import PairFile
from imgcl.graph.checks import LARGEST, LIGHTEST, weight_rule

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TEXT = ("VARCHAR", "UUID", "BLOB", "ENUM")
EXACT = {"FLOAT": 2**24, "DOUBLE": 2**53}  # from here on, floats no longer tell an integer from the next one


class Counts(NamedTuple):
    """Rows read, and of those left out: rows that name unknown nodes, without weight, and after the last time."""

    rows: int
    dangling: int
    weightless: int
    late: int


def map_edges(
    connection: DuckDBPyConnection,
    pairs: PairFile,
    settings: ImportSettings,
    say: Progress,
    relations: RelationFiles | None = None,
    times: Times | None = None,
) -> Counts:
    """Append every edge's node numbers."""
    table = edge_table(connection, settings)
    early = "true" if times is None or settings.as_of is None else times.until(settings.as_of)
    key, ends = _keys(connection, table, settings)
    number_relations(connection, () if relations is None else relations.names)
    kind = "''" if settings.relation is None else f"CAST({table.value(settings.relation)} AS VARCHAR)"
    connection.execute("SET preserve_insertion_order = false")
    query = (
        f"SELECT COALESCE(s.node, -1) AS u, COALESCE(d.node, -1) AS v, e.weight AS weight, "
        f"COALESCE(k.code, {UNKNOWN}) AS relation, e.early AS early FROM (SELECT {ends[0]} AS a, {ends[1]} AS b, "
        f"{_weight(table, settings.weight)} AS weight, {kind} AS kind, {early} AS early FROM {table.sql}) AS e "
        f"LEFT JOIN {CODES} AS k ON k.name = e.kind "
        f"LEFT JOIN ids AS s ON s.{key} = e.a LEFT JOIN ids AS d ON d.{key} = e.b"
    )
    total = None
    if not table.text:
        total = int(scalar(connection, f"SELECT count(*) FROM {table.sql}"))
    rows = dangling = weightless = late = 0
    for frame in chunks(run(connection, query, settings.edges), settings.edges):
        u, v, weights = (frame[name].to_numpy() for name in ("u", "v", "weight"))
        if settings.weight is not None and (weights < 0).any():
            _raise_weight(connection, table, settings)
        in_time = frame["early"].to_numpy()
        late += int((~in_time).sum())
        weighs = (weights > 0) & in_time
        rows += len(frame)
        weightless += int((in_time & ~weighs).sum())
        known = (u >= 0) & (v >= 0)
        dangling += int((weighs & ~known).sum())
        if dangling and settings.on_dangling == "error":
            _raise_dangling(connection, query, settings)
        found = [values[weighs & known] for values in (u, v, weights)]
        pairs.append(*found)
        if relations is not None:
            relations.append(frame["relation"].to_numpy()[weighs & known], *found)
        say("edges", rows, total)
    return Counts(rows, dangling, weightless, late)


def edge_table(connection: DuckDBPyConnection, settings: ImportSettings) -> Table:
    """The table of edges, its columns as text."""
    roles = ("src", "dst", "weight", "relation", "time")
    named: dict[str, str | None] = {role: getattr(settings, role) for role in roles}
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


def _check_exact(
    connection: DuckDBPyConnection, settings: ImportSettings, columns: dict[str, tuple[Place, str]]
) -> None:
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


def check_ends(connection: DuckDBPyConnection, table: Table, settings: ImportSettings) -> None:
    """Refuse ends of edges that a column of floats cannot tell from their neighbours, where they alone name nodes."""
    for column in (settings.src, settings.dst):
        exact = EXACT.get(table.kind(column))
        if exact is None:
            continue
        large = f"SELECT {table.column(column)} FROM {table.sql} WHERE abs({table.column(column)}) >= {exact} LIMIT 1"
        row = run(connection, large, settings.edges).fetchone()
        if row is not None:
            raise InputError(
                f"{settings.edges}: column {column!r} holds floats ({table.kind(column)}), which cannot tell ids such "
                f"as {row[0]:.0f} from their neighbours: write the column as integers or text"
            )


def _weight(table: Table, weight: str | None) -> str:
    """SQL of a row's weight: 0 for a row that is no edge, -1 for a value that is refused."""
    if weight is None:
        return "1.0"
    value = table.value(weight)
    number = f"TRY_CAST({value} AS DOUBLE)"
    return (
        f"CASE WHEN {value} IS NULL OR isnan({number}) OR {number} = 0 THEN 0.0 "
        f"WHEN {number} BETWEEN {LIGHTEST!r} AND {float(LARGEST)!r} THEN {number} ELSE -1.0 END"
    )


def _raise_weight(connection: DuckDBPyConnection, table: Table, settings: ImportSettings) -> None:
    assert settings.weight is not None
    value = f"CAST({table.value(settings.weight)} AS VARCHAR)"
    facts = run(
        connection,
        f"SELECT count(*), first({value}) FROM {table.sql} WHERE {_weight(table, settings.weight)} < 0",
        settings.edges,
    ).fetchone()
    assert facts is not None
    try:
        rule = weight_rule(float(facts[1]))
    except ValueError:
        rule = "weights must be numbers"
    raise InputError(
        f"{settings.edges}: column {settings.weight!r} (`weight`) is {facts[1]!r} ({facts[0]:,} such rows): {rule}"
    )


def _raise_dangling(connection: DuckDBPyConnection, query: str, settings: ImportSettings) -> None:
    wider = query.replace("AS v,", "AS v, e.a AS a, e.b AS b,", 1)
    facts = connection.execute(
        f"SELECT count(*), any_value(CASE WHEN w.u < 0 THEN w.a ELSE w.b END) FROM ({wider}) AS w "
        "WHERE w.weight > 0 AND w.early AND (w.u < 0 OR w.v < 0)"
    ).fetchone()
    assert facts is not None
    if facts[1] is None:
        raise InputError(
            f"{settings.edges}: {facts[0]:,} rows have no {settings.src!r} or no {settings.dst!r}: use "
            "`on_dangling='drop'` to leave them out, or fill them in"
        )
    raise InputError(
        f"{settings.edges}: {facts[0]:,} edges name nodes that {settings.node_file} does not have, for example "
        f"{facts[1]!r}: use `on_dangling='drop'` to leave them out, or add the nodes"
    )
