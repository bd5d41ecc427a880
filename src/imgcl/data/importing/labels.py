"""The label column of a node table: classes in the order of their values, -1 where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.unlabelled import FILE_WORDS, WORDS, as_text, is_infinite, is_unlabelled
from imgcl.data.importing.columns import FRACTIONAL, MOST_CATEGORIES, NUMERIC
from imgcl.data.importing.database import chunks, quoted_text, scalar
from imgcl.data.importing.edges import EXACT
from imgcl.data.importing.settings import ImportSettings
from imgcl.data.store import StoreWriter
from imgcl.graph.checks import check_distinct

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NUMBERS = tuple(kind for kind in (*NUMERIC, *FRACTIONAL) if kind != "BOOLEAN")
SPARE = 1_000  # values that mean no label are not counted, but a column of names must not be fetched as a whole


def write_labels(
    connection: DuckDBPyConnection,
    writer: StoreWriter,
    label: str | None,
    kind: str | None,
    n: int,
    words: frozenset[str] = WORDS,
    known: Sequence[str] = (),
) -> list[str] | None:
    """Write the array ``y`` from the column ``label`` of the table ``nodes``; returns the names of the classes.

    Args:
        connection: to the database that has the table.
        writer: of the store.
        label: what the user calls the column; ``None``: there is none.
        kind: SQL type of the column, without its parameters.
        n: number of nodes.
        words: text that means no label, see :mod:`imgcl._core.unlabelled`.
        known: classes of an earlier import, which keep their numbers whether they occur or not; others follow.

    Raises:
        InputError: for a column that names nodes instead of classes, or a label that is an infinite number.
    """
    if label is None:
        return None
    _find_labels(connection, label, words)
    connection.execute(
        f"CREATE TEMP TABLE classes AS SELECT v.value AS value, row_number() OVER (ORDER BY "
        f"{_order(connection, kind)}) - 1 AS code FROM label_values AS v"
    )
    found = connection.execute("SELECT classes.value FROM classes ORDER BY classes.code").fetchall()
    names = check_distinct("class_names", [as_text(row[0]) for row in found])
    classes = list(dict.fromkeys([*known, *names]))
    number = {name: code for code, name in enumerate(classes)}
    _write_codes(connection, writer, n, np.array([*(number[name] for name in names), -1], dtype=np.int64))
    return classes


def _write_codes(connection: DuckDBPyConnection, writer: StoreWriter, n: int, numbers: NDArray[np.int64]) -> None:
    """Write the array ``y``: what ``numbers`` has for the code of a node's label, and its last for none."""
    y = writer.create("y", (n,), np.int64)
    query = (
        "SELECT nodes.node AS node, COALESCE(classes.code, -1) AS code "
        "FROM nodes LEFT JOIN classes ON nodes.label = classes.value"
    )
    for frame in chunks(connection.execute(query)):
        y[frame["node"].to_numpy()] = numbers[frame["code"].to_numpy()]


def class_sizes(connection: DuckDBPyConnection) -> dict[str, int]:
    """Labelled nodes of every class that occurs, the largest first; :func:`write_labels` comes before."""
    rows = connection.execute(
        "SELECT classes.value, count(*) FROM nodes JOIN classes ON classes.value = nodes.label "
        "GROUP BY classes.value, classes.code ORDER BY count(*) DESC, classes.code"
    ).fetchall()
    return {as_text(value): int(count) for value, count in rows}


def _find_labels(connection: DuckDBPyConnection, label: str, words: frozenset[str]) -> None:
    """Make the table ``label_values`` of the different values that are labels, by the rule of all sources."""
    values = "SELECT DISTINCT nodes.label AS value FROM nodes WHERE nodes.label IS NOT NULL"
    _check_number(label, int(scalar(connection, f"SELECT count(*) FROM ({values}) AS v")), SPARE)
    numbered = f"SELECT row_number() OVER () AS number, v.value AS value FROM ({values}) AS v"
    connection.execute(f"CREATE TEMP TABLE label_values AS {numbered}")
    found = connection.execute("SELECT v.number, v.value FROM label_values AS v").fetchall()
    for _, value in found:
        if is_infinite(value):
            raise InputError(
                f"column {label!r} (`label`) has the infinite number {value}: leave it empty, or rename it"
            )
    without = [int(number) for number, value in found if is_unlabelled(value, words)]
    _check_number(label, len(found) - len(without))
    connection.execute("DELETE FROM label_values WHERE number IN (SELECT unnest(?::BIGINT[]))", [without])


def _check_number(label: str, found: int, spare: int = 0) -> None:
    if found > MOST_CATEGORIES + spare:
        raise InputError(
            f"column {label!r} has {found:,} different values (`label`): that is a name, not a class; "
            "choose another column, or leave `label` out"
        )


def _order(connection: DuckDBPyConnection, kind: str | None) -> str:
    """SQL of the order of the classes: where all names are numbers, 2 comes before 10."""
    numbers = "SELECT bool_and(TRY_CAST(v.value AS DOUBLE) IS NOT NULL) FROM label_values AS v"
    if kind == "VARCHAR" and scalar(connection, numbers):
        return "CAST(v.value AS DOUBLE), v.value"
    return "v.value"


def make_label_a_number(connection: DuckDBPyConnection, settings: ImportSettings) -> None:
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
