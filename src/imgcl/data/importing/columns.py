"""Feature columns of a node table: numbers as they are or standardised, text as one feature per value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl.data.importing.database import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NUMERIC = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
FRACTIONAL = ("FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "UHUGEINT")
CATEGORICAL = ("VARCHAR", "ENUM", "UUID", "DATE")
MOST_CATEGORIES = 10_000  # a text column with more values is a name, not a category


@dataclass(frozen=True)
class Column:
    """One column of the node table as features.

    Attributes:
        column: its name.
        expression: SQL that gives its number, or the number of its category (-1: missing).
        names: the features it becomes.
        categorical: whether it has a feature for every value.
    """

    column: str
    expression: str
    names: tuple[str, ...]
    categorical: bool

    def write(self, values: pd.Series[Any], rows: NDArray[np.int64], begin: int, x: NDArray[Any]) -> None:
        """Put the column's values of these rows into their places of x, from column ``begin`` on."""
        numbers = values.to_numpy()
        if not self.categorical:
            with np.errstate(over="ignore"):  # what float16 cannot hold is reported when all is written
                x[rows, begin] = numbers
            return
        known = numbers >= 0
        x[rows[known], begin + numbers[known].astype(np.int64)] = 1


def choose_columns(
    patterns: Sequence[str], found: dict[str, str], path: str, taken: dict[str, str | None] | None = None
) -> list[str]:
    """Column names for names and ``prefix*`` patterns, in the order given, each once.

    Args:
        patterns: names, and beginnings of names with a star.
        found: the table's columns.
        path: of the table.
        taken: option and column that is no feature: patterns leave it out, and its name is refused.

    Example:
        >>> choose_columns(["b", "a*"], {"a1": "DOUBLE", "b": "DOUBLE", "a2": "DOUBLE"}, "nodes.csv")
        ['b', 'a1', 'a2']
    """
    chosen: dict[str, None] = {}
    options = {column: option for option, column in (taken or {}).items() if column is not None}
    for pattern in patterns:
        if pattern in options:
            raise InputError(f"column {pattern!r} is given by --{options[pattern]}: it cannot be a feature as well")
        matching = (
            [name for name in found if name.startswith(pattern[:-1]) and name not in options]
            if pattern.endswith("*")
            else [name for name in found if name == pattern]
        )
        if not matching:
            shown = ", ".join(list(found)[:12]) + (", …" if len(found) > 12 else "")
            raise InputError(f"{path} has no column {pattern!r} (--features): it has {shown}")
        chosen.update(dict.fromkeys(matching))
    return list(chosen)


def plan_columns(
    connection: DuckDBPyConnection,
    names: Sequence[str],
    types: dict[str, str],
    *,
    missing: Literal["error", "mean", "zero"],
    standardise: bool,
) -> list[Column]:
    """What every column of the table ``nodes`` becomes.

    Raises:
        InputError: for a type that is no feature, a missing value that may not be filled, or too many categories.
    """
    kinds = {name: types[name].partition("(")[0].upper() for name in names}
    for name, kind in kinds.items():
        if kind not in (*NUMERIC, *FRACTIONAL, *CATEGORICAL):
            raise InputError(f"column {name!r} has type {types[name]}: features must be numbers or text")
    numeric = [name for name in names if kinds[name] not in CATEGORICAL]
    facts = _facts(connection, names, set(numeric))
    planned = []
    for name in names:
        absent, mean, deviation = facts[name]
        if absent and missing == "error":
            raise InputError(
                f"column {name!r} has {absent:,} missing values: fill them with --missing mean or --missing zero, "
                "or leave the column out"
            )
        if name in numeric:
            fill = mean if missing == "mean" else 0.0
            value = f"COALESCE({_finite(name)}, {fill!r})"
            if standardise:
                value = f"({value} - {mean!r}) / {deviation or 1.0!r}"
            planned.append(Column(name, f"CAST({value} AS FLOAT)", (name,), categorical=False))
        else:
            planned.append(_categories(connection, name))
    return planned


def _finite(name: str) -> str:
    """A column as a finite double, or NULL."""
    number = f"CAST({quoted(name)} AS DOUBLE)"
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def _facts(
    connection: DuckDBPyConnection, names: Sequence[str], numeric: set[str]
) -> dict[str, tuple[int, float, float]]:
    """Number of missing values, mean and standard deviation of every column."""
    parts = []
    for name in names:
        value = _finite(name) if name in numeric else quoted(name)
        moments = f"avg({value}), stddev_pop({value})" if name in numeric else "0.0, 0.0"
        parts.append(f"count(*) - count({value}), {moments}")
    row = connection.execute(f"SELECT {', '.join(parts)} FROM nodes").fetchone()
    assert row is not None
    triples = zip(row[::3], row[1::3], row[2::3], strict=True)
    return {
        name: (int(absent), float(mean or 0), float(deviation or 0))
        for name, (absent, mean, deviation) in zip(names, triples, strict=True)
    }


def _categories(connection: DuckDBPyConnection, name: str) -> Column:
    text = f"CAST({quoted(name)} AS VARCHAR)"
    query = f"SELECT DISTINCT {text} AS value FROM nodes WHERE value IS NOT NULL ORDER BY value"
    values = [row[0] for row in connection.execute(f"{query} LIMIT {MOST_CATEGORIES + 1}").fetchall()]
    if len(values) > MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} is text with more than {MOST_CATEGORIES:,} different values: that is a name, "
            "not a category; leave the column out"
        )
    table = quoted(f"categories of {name}")
    connection.execute(
        f"CREATE TEMP TABLE {table} AS SELECT value, row_number() OVER (ORDER BY value) - 1 AS code FROM ({query})"
    )
    expression = f"COALESCE((SELECT code FROM {table} WHERE value = {text}), -1)"
    return Column(name, expression, tuple(f"{name}={value}" for value in values), categorical=True)
