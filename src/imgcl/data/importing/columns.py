"""Feature columns of a node table: numbers as they are or standardised, text as one feature per value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.data.importing.database import logarithm, scalar
from imgcl.data.importing.pandas_table import Place
from imgcl.data.importing.recipe import NUMBER, ColumnRecipe, Unseen
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
WITH_COMMAS = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][+-]?\d+)?|[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class Source:
    """A column of the table ``nodes`` that is to become features.

    Attributes:
        name: what the user calls it.
        column: what it is called in SQL.
        sql_type: of its values.
        numbers: whether it holds numbers.
        log: whether their logarithms are taken, of 1 more than a number's size and with its sign.
    """

    name: str
    column: str
    sql_type: str
    numbers: bool
    log: bool = False

    @property
    def value(self) -> str:
        """SQL of a finite double, or of text; NULL where there is none."""
        if not self.numbers:
            return f"CAST({self.column} AS VARCHAR)"
        return f"CASE WHEN isfinite({self.number}) THEN {logarithm(self.number) if self.log else self.number} END"

    @property
    def number(self) -> str:
        """SQL of the column as doubles, finite or not."""
        return f"CAST({self.column} AS DOUBLE)"


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
    patterns: Sequence[str], found: Sequence[str], path: Place, taken: dict[str, str | None] | None = None
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
            hint = did_you_mean(pattern, found, f"it has {shown(found)}")
            raise InputError(f"{path} has no column {pattern!r} (`features`){hint}")
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


def repeated_sources(
    connection: DuckDBPyConnection, columns: dict[str, tuple[str, str]], recipe: Sequence[ColumnRecipe]
) -> list[Source]:
    """The feature columns of the table ``nodes``, numbers or text as they were in an earlier import.

    Args:
        connection: to the database that has the table.
        columns: name of every column, and its name and type in SQL.
        recipe: of the columns, in their order.

    Raises:
        InputError: for a type that is no feature, or text where there were numbers.
    """
    sources = feature_sources(connection, columns, guessed=False)
    repeated = [
        replace(source, numbers=column.categories is None, log=column.log)
        for source, column in zip(sources, recipe, strict=True)
    ]
    for source in repeated:
        if source.numbers and kind_of(source.sql_type) in CATEGORICAL:
            _check_numbers(connection, source)
    return repeated


def _check_numbers(connection: DuckDBPyConnection, source: Source) -> None:
    text = f"CAST({source.column} AS VARCHAR)"
    row = connection.execute(
        f"SELECT nodes.node, {text} FROM nodes WHERE {text} IS NOT NULL AND TRY_CAST({text} AS DOUBLE) IS NULL "
        "ORDER BY nodes.node LIMIT 1"
    ).fetchone()
    if row is not None:
        raise InputError(
            f"column {source.name!r} is {row[1]!r} in row {row[0] + 1:,}, and held numbers in the import that is "
            "repeated (`like`): mend the value, or leave it empty"
        )


def learn_columns(
    connection: DuckDBPyConnection, sources: Sequence[Source], settings: ImportSettings
) -> list[ColumnRecipe]:
    """How every column becomes features: means, deviations and categories of the table.

    Raises:
        InputError: for a missing value that may not be filled, a number that is too large, text that was meant as
            numbers, too many categories, or two features with the same name.
    """
    _check_values(connection, sources, settings, [f"abs({source.value})" for source in sources])
    moments = _moments(connection, sources) if settings.standardise or settings.missing == "mean" else {}
    learnt = []
    for source in sources:
        mean, deviation = moments.get(source.name, (0.0, 1.0))
        values, other = (None, 0) if source.numbers else _categories(connection, source, settings.most_values)
        facts = {"mean": mean, "deviation": deviation, "categories": values, "other": other}
        learnt.append(ColumnRecipe(name=source.name, kind=kind_of(source.sql_type), log=source.log, **facts))
    names = Counter(name for column in learnt for name in column.features)
    for name, count in names.items():
        if count > 1:
            raise InputError(f"{count} features would be called {name!r}: rename a column, or leave one out")
    return learnt


def check_repeated(
    connection: DuckDBPyConnection, sources: Sequence[Source], recipe: Sequence[ColumnRecipe], settings: ImportSettings
) -> None:
    """Refuse values that the recipe of an earlier import cannot make features of.

    Raises:
        InputError: for a missing value that may not be filled, or a number that is too large.
    """
    sizes = [
        f"abs({column.standardised(source.value) if settings.standardise else source.value})"
        for source, column in zip(sources, recipe, strict=True)
    ]
    _check_values(connection, sources, settings, sizes)


def plan_columns(
    connection: DuckDBPyConnection, sources: Sequence[Source], recipe: Sequence[ColumnRecipe], settings: ImportSettings
) -> list[Column]:
    """What every column becomes, by its recipe."""
    return [
        _numbers(source, column, settings)
        if column.categories is None
        else _coded(connection, source, column, f"categories_{i}")
        for i, (source, column) in enumerate(zip(sources, recipe, strict=True))
    ]


def count_unseen(
    connection: DuckDBPyConnection, sources: Sequence[Source], recipe: Sequence[ColumnRecipe]
) -> dict[str, Unseen]:
    """Values of every column of text that its recipe has no feature for; :func:`plan_columns` comes first."""
    counted = {}
    for i, (source, column) in enumerate(zip(sources, recipe, strict=True)):
        if source.numbers or column.other:
            continue
        row = connection.execute(
            f"SELECT count(*), count(DISTINCT {source.value}), min({source.value}) FROM nodes "
            f"WHERE {source.value} NOT IN (SELECT k.value FROM categories_{i} AS k)"
        ).fetchone()
        assert row is not None
        if row[0]:
            counted[source.name] = Unseen(*row)
    return counted


def _check_values(
    connection: DuckDBPyConnection, sources: Sequence[Source], settings: ImportSettings, sizes: Sequence[str]
) -> None:
    """Refuse missing values that may not be filled, and numbers whose ``sizes`` (in SQL) are too large."""
    facts = [
        (f"count(*) - count({source.value})", f"max({size})" if source.numbers else "NULL")
        for source, size in zip(sources, sizes, strict=True)
    ]
    for source, size, (absent, largest) in zip(sources, sizes, measured(connection, facts), strict=True):
        if absent:
            _check_infinite(connection, source)
        if absent and settings.missing == "error":
            _raise_missing(source.name, absent, settings)
        if largest is not None and largest > _largest(settings):
            _raise_too_large(connection, source, settings, size)


def _check_infinite(connection: DuckDBPyConnection, source: Source) -> None:
    """Refuse an infinite number: no table means a missing value by it."""
    if not source.numbers:
        return
    row = connection.execute(
        f"SELECT nodes.node, {source.number} FROM nodes WHERE isinf({source.number}) ORDER BY nodes.node LIMIT 1"
    ).fetchone()
    if row is not None:
        raise InputError(
            f"column {source.name!r} is {row[1]} in row {row[0] + 1:,}: features must be finite; mend the value, or "
            "leave it empty"
        )


def _raise_missing(name: str, absent: int, settings: ImportSettings) -> None:
    what = f"column {name!r} has {absent:,} missing values"
    if settings.like is not None:
        raise InputError(
            f"{what}, and {settings.like} was imported without a rule for them (`like`): fill them in the table, or "
            "import both again with `missing='mean'` or `missing='zero'`"
        )
    raise InputError(f"{what}: fill them with `missing='mean'` or `missing='zero'`, or leave the column out")


def measured(
    connection: DuckDBPyConnection, facts: Sequence[tuple[str, str]], rows: str = "nodes"
) -> Iterator[tuple[Any, Any]]:
    """Two aggregates of every column, some columns at a time: planning a query takes the square of its width."""
    for begin in range(0, len(facts), COLUMNS_AT_ONCE):
        part = [fact for pair in facts[begin : begin + COLUMNS_AT_ONCE] for fact in pair]
        row = connection.execute(f"SELECT {', '.join(part)} FROM {rows}").fetchone()
        assert row is not None
        yield from zip(row[::2], row[1::2], strict=True)


def _largest(settings: ImportSettings) -> float:
    """The largest number that a column may hold."""
    if settings.standardise and settings.like is None:
        return LARGEST_STANDARDISED
    return float(np.finfo(np.float16).max) if settings.dtype == "float16" else LARGEST_AS_IT_IS


def _raise_too_large(connection: DuckDBPyConnection, source: Source, settings: ImportSettings, size: str) -> None:
    limit = _largest(settings)
    row = connection.execute(
        f"SELECT nodes.node, CAST(nodes.id AS VARCHAR), {source.value} FROM nodes "
        f"WHERE {size} > {limit!r} ORDER BY nodes.node LIMIT 1"
    ).fetchone()
    assert row is not None
    if settings.like is not None:
        raise InputError(
            f"column {source.name!r} is {row[2]:g} in row {row[0] + 1:,} (id {row[1]!r}): made a feature as in "
            f"{settings.like} (`like`), it exceeds {limit:g}; mend the value, or leave it empty"
        )
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
        for source, (mean, deviation) in zip(numbers, measured(connection, facts), strict=True)
    }


def _numbers(source: Source, column: ColumnRecipe, settings: ImportSettings) -> Column:
    value, fill = source.value, column.mean if settings.missing == "mean" else 0.0
    if settings.standardise:  # first, so that what is filled in is the mean either way
        value, fill = column.standardised(value), 0.0
    return Column(f"CAST(COALESCE({value}, {fill!r}) AS FLOAT)", column.features, categorical=False)


def _categories(connection: DuckDBPyConnection, source: Source, most: int) -> tuple[tuple[str, ...], int]:
    """The most common values of a column of text, in their order, and how many others there are."""
    query = f"SELECT {source.value} AS value, count(*) AS n FROM nodes WHERE {source.value} IS NOT NULL GROUP BY value"
    first = f"SELECT v.value FROM ({query}) AS v ORDER BY v.n DESC, v.value LIMIT {MOST_CATEGORIES + 1}"
    values = [row[0] for row in connection.execute(first).fetchall()]
    _check_commas(source.name, values)
    if len(values) > MOST_CATEGORIES:
        raise InputError(
            f"column {source.name!r} is text with more than {MOST_CATEGORIES:,} different values: that is a name, "
            "not a category; leave the column out"
        )
    return tuple(sorted(values[:most], key=str.encode)), max(0, len(values) - most)


def _coded(connection: DuckDBPyConnection, source: Source, column: ColumnRecipe, table: str) -> Column:
    """A feature for every category, and one for all others; ``table`` is made, with a code for each."""
    values = list(column.categories or ())
    connection.execute(
        f"CREATE TEMP TABLE {table} AS SELECT unnest(?::VARCHAR[]) AS value, unnest(range(?)) AS code",
        [values, len(values)],
    )
    without = f"CASE WHEN {source.value} IS NULL THEN -1 ELSE {len(values)} END" if column.other else "-1"
    expression = f"COALESCE((SELECT k.code FROM {table} AS k WHERE k.value = {source.value}), {without})"
    return Column(expression, column.features, categorical=True)


def _check_commas(name: str, values: Sequence[str]) -> None:
    """Refuse text that would be numbers but for their commas, which would silently become categories."""
    numbers = [value for value in map(str.strip, values) if value]
    commas = [value for value in numbers if WITH_COMMAS.fullmatch(value)]
    if commas and all(WITH_COMMAS.fullmatch(value) or NUMBER.fullmatch(value) for value in numbers):
        raise InputError(
            f"column {name!r} holds numbers with commas, such as {commas[0]!r}: write them with a decimal point and "
            "without thousands separators, or leave the column out"
        )
