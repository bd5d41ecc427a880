"""Feature columns of a node table: numbers as they are or standardised, text as one feature per value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl.data.importing.database import scalar
from imgcl.data.importing.settings import ImportSettings
from imgcl.data.importing.source import kind_of, shown
from imgcl.graph.checks import LARGEST

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NUMERIC = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
FRACTIONAL = ("FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "UHUGEINT")
CATEGORICAL = ("VARCHAR", "ENUM", "UUID", "DATE")
MOST_CATEGORIES = 10_000  # a text column with more values is a name, not a category
COLUMNS_AT_ONCE = 64
LARGEST_AS_IT_IS = float(f"{LARGEST:g}")  # LARGEST itself is rounded to float32
LARGEST_STANDARDISED = 1e100  # beyond, squares that go into a deviation do not fit into a double
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WITH_COMMAS = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][+-]?\d+)?|[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class Source:
    """A column of the table ``nodes`` that is to become features.

    Attributes:
        name: what the user calls it.
        column: what it is called in SQL.
        sql_type: of its values.
        numbers: whether it holds numbers.
    """

    name: str
    column: str
    sql_type: str
    numbers: bool

    @property
    def value(self) -> str:
        """SQL of a finite double, or of text; NULL where there is none."""
        if not self.numbers:
            return f"CAST({self.column} AS VARCHAR)"
        number = f"CAST({self.column} AS DOUBLE)"
        return f"CASE WHEN isfinite({number}) THEN {number} END"


@dataclass(frozen=True)
class Column:
    """One column of the node table as features.

    Attributes:
        expression: SQL that gives its number, or the number of its category (-1: missing).
        names: the features it becomes.
        categorical: whether it has a feature for every value.
    """

    expression: str
    names: tuple[str, ...]
    categorical: bool

    def write(self, values: pd.Series[Any], rows: NDArray[np.int64], begin: int, x: NDArray[Any]) -> None:
        """Put the column's values of these rows into their places of x, from column ``begin`` on."""
        numbers = values.to_numpy()
        if not self.categorical:
            x[rows, begin] = numbers
            return
        known = numbers >= 0
        x[rows[known], begin + numbers[known].astype(np.int64)] = 1


def choose_columns(
    patterns: Sequence[str], found: Sequence[str], path: str, taken: dict[str, str | None] | None = None
) -> list[str]:
    """Column names for names and ``prefix*`` patterns, in the order given, each once.

    Args:
        patterns: names, and beginnings of names with a star.
        found: the table's columns.
        path: of the table.
        taken: option and column that is no feature: patterns leave it out, and its name is refused.

    Example:
        >>> choose_columns(["b", "a*"], ["a1", "b", "a2"], "nodes.csv")
        ['b', 'a1', 'a2']
    """
    chosen: dict[str, None] = {}
    options = {column: option for option, column in (taken or {}).items() if column is not None}
    for pattern in patterns:
        if pattern in options:
            raise InputError(f"column {pattern!r} is given by `{options[pattern]}`: it cannot be a feature as well")
        matching = (
            [name for name in found if name.startswith(pattern[:-1]) and name not in options]
            if pattern.endswith("*")
            else [name for name in found if name == pattern]
        )
        if not matching:
            raise InputError(f"{path} has no column {pattern!r} (`features`): it has {shown(found)}")
        chosen.update(dict.fromkeys(matching))
    return list(chosen)


def feature_sources(
    connection: DuckDBPyConnection, columns: dict[str, tuple[str, str]], *, guessed: bool
) -> list[Source]:
    """The feature columns of the table ``nodes``: numbers or text.

    Args:
        connection: to the database that has the table.
        columns: name of every column, and its name and type in SQL.
        guessed: types were guessed from the first rows; text is numbers where all of it can be read so.

    Raises:
        InputError: for a type that is no feature.
    """
    sources = []
    for name, (column, sql_type) in columns.items():
        kind = kind_of(sql_type)
        if kind not in (*NUMERIC, *FRACTIONAL, *CATEGORICAL):
            raise InputError(f"column {name!r} has type {sql_type}: features must be numbers or text")
        numbers = kind not in CATEGORICAL or (guessed and kind == "VARCHAR" and _all_numbers(connection, column))
        sources.append(Source(name, f"nodes.{column}", sql_type, numbers))
    return sources


def _all_numbers(connection: DuckDBPyConnection, column: str) -> bool:
    counts = f"count(nodes.{column}) > 0 AND count(nodes.{column}) = count(TRY_CAST(nodes.{column} AS DOUBLE))"
    return bool(scalar(connection, f"SELECT {counts} FROM nodes"))


def plan_columns(connection: DuckDBPyConnection, sources: Sequence[Source], settings: ImportSettings) -> list[Column]:
    """What every column becomes.

    Raises:
        InputError: for a missing value that may not be filled, a number that is too large, text that was meant as
            numbers, too many categories, or two features with the same name.
    """
    _check_values(connection, sources, settings)
    moments = _moments(connection, sources) if settings.standardise or settings.missing == "mean" else {}
    planned = [
        _numbers(source, settings, *moments.get(source.name, (0.0, 1.0)))
        if source.numbers
        else _categories(connection, source, f"categories_{i}")
        for i, source in enumerate(sources)
    ]
    names = Counter(name for column in planned for name in column.names)
    for name, count in names.items():
        if count > 1:
            raise InputError(f"{count} features would be called {name!r}: rename a column, or leave one out")
    return planned


def _check_values(connection: DuckDBPyConnection, sources: Sequence[Source], settings: ImportSettings) -> None:
    facts = [
        (f"count(*) - count({source.value})", f"max(abs({source.value}))" if source.numbers else "NULL")
        for source in sources
    ]
    for source, (absent, largest) in zip(sources, _measured(connection, facts), strict=True):
        if absent and settings.missing == "error":
            raise InputError(
                f"column {source.name!r} has {absent:,} missing values: fill them with `missing='mean'` or "
                "`missing='zero'`, or leave the column out"
            )
        if largest is not None and largest > _largest(settings):
            _raise_too_large(connection, source, settings)


def _measured(connection: DuckDBPyConnection, facts: Sequence[tuple[str, str]]) -> Iterator[tuple[Any, Any]]:
    """Two aggregates of every column, some columns at a time: planning a query takes the square of its width."""
    for begin in range(0, len(facts), COLUMNS_AT_ONCE):
        part = [fact for pair in facts[begin : begin + COLUMNS_AT_ONCE] for fact in pair]
        row = connection.execute(f"SELECT {', '.join(part)} FROM nodes").fetchone()
        assert row is not None
        yield from zip(row[::2], row[1::2], strict=True)


def _largest(settings: ImportSettings) -> float:
    """The largest number that a column may hold."""
    if settings.standardise:
        return LARGEST_STANDARDISED
    return float(np.finfo(np.float16).max) if settings.dtype == "float16" else LARGEST_AS_IT_IS


def _raise_too_large(connection: DuckDBPyConnection, source: Source, settings: ImportSettings) -> None:
    limit = _largest(settings)
    row = connection.execute(
        f"SELECT nodes.node, CAST(nodes.id AS VARCHAR), {source.value} FROM nodes "
        f"WHERE abs({source.value}) > {limit!r} ORDER BY nodes.node LIMIT 1"
    ).fetchone()
    assert row is not None
    kind, advice = "features", "scale the column"
    if not settings.standardise:
        advice = "use `standardise=True`, or scale the column"
    if limit < LARGEST_AS_IT_IS:
        kind, advice = "float16 features", f"use `dtype='float32'`, {advice.removeprefix('use ')}"
    raise InputError(
        f"column {source.name!r} is {row[2]:g} in row {row[0] + 1:,} (id {row[1]!r}): {kind} must be numbers up to "
        f"{limit:g}; {advice}"
    )


def _moments(connection: DuckDBPyConnection, sources: Sequence[Source]) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the columns of numbers."""
    numbers = [source for source in sources if source.numbers]
    facts = [(f"avg({source.value})", f"stddev_pop({source.value})") for source in numbers]
    return {
        source.name: (float(mean or 0), float(deviation or 1))
        for source, (mean, deviation) in zip(numbers, _measured(connection, facts), strict=True)
    }


def _numbers(source: Source, settings: ImportSettings, mean: float, deviation: float) -> Column:
    value, fill = source.value, mean if settings.missing == "mean" else 0.0
    if settings.standardise:  # first, so that what is filled in is the mean either way
        value, fill = f"({value} - {mean!r}) / {deviation!r}", 0.0
    return Column(f"CAST(COALESCE({value}, {fill!r}) AS FLOAT)", (source.name,), categorical=False)


def _categories(connection: DuckDBPyConnection, source: Source, table: str) -> Column:
    query = f"SELECT DISTINCT {source.value} AS value FROM nodes WHERE {source.value} IS NOT NULL"
    first = f"SELECT v.value FROM ({query}) AS v ORDER BY v.value LIMIT {MOST_CATEGORIES + 1}"
    values = [row[0] for row in connection.execute(first).fetchall()]
    _check_commas(source.name, values)
    if len(values) > MOST_CATEGORIES:
        raise InputError(
            f"column {source.name!r} is text with more than {MOST_CATEGORIES:,} different values: that is a name, "
            "not a category; leave the column out"
        )
    connection.execute(
        f"CREATE TEMP TABLE {table} AS SELECT v.value AS value, row_number() OVER (ORDER BY v.value) - 1 AS code "
        f"FROM ({query}) AS v"
    )
    expression = f"COALESCE((SELECT k.code FROM {table} AS k WHERE k.value = {source.value}), -1)"
    return Column(expression, tuple(f"{source.name}={value}" for value in values), categorical=True)


def _check_commas(name: str, values: Sequence[str]) -> None:
    """Refuse text that would be numbers but for their commas, which would silently become categories."""
    numbers = [value for value in map(str.strip, values) if value]
    commas = [value for value in numbers if WITH_COMMAS.fullmatch(value)]
    if commas and all(WITH_COMMAS.fullmatch(value) or NUMBER.fullmatch(value) for value in numbers):
        raise InputError(
            f"column {name!r} holds numbers with commas, such as {commas[0]!r}: write them with a decimal point and "
            "without thousands separators, or leave the column out"
        )
