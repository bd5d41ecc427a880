"""The label column of a node table: classes in the order of their values, -1 where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from imgcl._core.errors import InputError
from imgcl.data.importing.columns import FRACTIONAL, MOST_CATEGORIES, NUMERIC
from imgcl.data.importing.database import chunks, quoted, scalar
from imgcl.data.store import StoreWriter

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NUMBERS = tuple(kind for kind in (*NUMERIC, *FRACTIONAL) if kind != "BOOLEAN")


def write_labels(
    connection: DuckDBPyConnection, writer: StoreWriter, label: str | None, types: dict[str, str], n: int
) -> list[str] | None:
    """Write the array ``y`` from a column of the table ``nodes``; returns the names of the classes.

    Missing values, NaN and -1 mean that a node has no label.

    Raises:
        InputError: for a column that names nodes instead of classes.
    """
    if label is None:
        return None
    column, kind = quoted(label), types[label].partition("(")[0].upper()
    known = f"{column} IS NOT NULL"
    if kind in NUMBERS:
        known += f" AND {column} <> -1"
    if kind == "VARCHAR":
        known += f" AND {column} <> '-1'"
    if kind in ("FLOAT", "DOUBLE"):
        known += f" AND isfinite({column})"
    found = int(scalar(connection, f"SELECT count(DISTINCT {column}) FROM nodes WHERE {known}"))
    if found > MOST_CATEGORIES:
        raise InputError(
            f"column {label!r} has {found:,} different values (--label): that is a name, not a class; "
            "choose another column, or leave --label out"
        )
    connection.execute(
        f"CREATE TEMP TABLE classes AS SELECT value, row_number() OVER (ORDER BY value) - 1 AS class FROM "
        f"(SELECT DISTINCT {column} AS value FROM nodes WHERE {known})"
    )
    y = writer.create("y", (n,), np.int64)
    query = (
        f"SELECT {quoted('#')} AS node, COALESCE(class, -1) AS class FROM nodes LEFT JOIN classes ON {column} = value"
    )
    for frame in chunks(connection.execute(query)):
        y[frame["node"].to_numpy()] = frame["class"].to_numpy()
    return [_name(row[0]) for row in connection.execute("SELECT value FROM classes ORDER BY class").fetchall()]


def _name(value: Any) -> str:
    """Whole numbers without a point: a column of integers with gaps often comes as floats."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
