"""Columns of times: dates or numbers, read from text, and the last moment whose edges count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import numpy as np

from imgcl._core.errors import InputError
from imgcl.data.importing.database import chunks, run
from imgcl.data.importing.pandas_table import Place
from imgcl.data.importing.settings import ImportSettings
from imgcl.data.importing.source import Table
from imgcl.data.store import StoreWriter
from imgcl.graph.time import DAY, time_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

YEARS = (1000, 9999)  # 24-05-31 would be of the year 24


@dataclass(frozen=True)
class Times:
    """A column of times.

    Attributes:
        column: its name.
        expression: SQL of seconds since 1970, or of a number; NULL where there is none.
        dates: whether they are seconds.
        low: the first of them.
        high: the last.
    """

    column: str
    expression: str
    dates: bool
    low: float
    high: float

    def described(self, as_of: str | None = None) -> str:
        """For ``imgcl info``."""
        ends = (time_text(value, dates=self.dates) for value in (self.low, self.high))
        return f"{' to '.join(ends)} (column {self.column!r})" + (f", edges up to {as_of}" if as_of else "")

    def until(self, as_of: str) -> str:
        """SQL of whether a row's time is known and not after ``as_of``; a date means its whole day."""
        if not self.dates:
            last = _number(as_of)
            if last is None:
                raise InputError(f"`as_of` is {as_of!r}: column {self.column!r} holds numbers, so give one")
            return f"COALESCE({self.expression} <= {last!r}, false)"
        try:
            moment = datetime.fromisoformat(as_of.strip())
        except ValueError:
            raise InputError(f"`as_of` is {as_of!r}: write a date such as 2024-05-31") from None
        whole_day = _is_date(as_of.strip())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        end = moment.timestamp() + (DAY if whole_day else 0)
        return f"COALESCE({self.expression} {'<' if whole_day else '<='} {end!r}, false)"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_date(text: str) -> bool:
    """Whether a text is a date without a time of day, in any way that ISO 8601 has for it."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def read_times(connection: DuckDBPyConnection, value: str, source: str, path: Place, column: str, option: str) -> Times:
    """Look at a column of times.

    Args:
        connection: to DuckDB.
        value: SQL of a value.
        source: SQL of the table.
        path: of the file, for messages.
        column: what the user calls it.
        option: by which it was given.

    Raises:
        InputError: for a value that is neither a date nor a number, or a column without values.
    """
    text = f"trim(CAST({value} AS VARCHAR))"
    number = f"CASE WHEN isfinite(TRY_CAST({text} AS DOUBLE)) THEN TRY_CAST({text} AS DOUBLE) END"
    parsed = f"TRY_CAST({text} AS TIMESTAMP)"
    moment = f"CASE WHEN year({parsed}) BETWEEN {YEARS[0]} AND {YEARS[1]} THEN epoch({parsed}) END"
    parts = [f"count({text})"]
    for each in (number, moment):
        parts += [f"count({each})", f"min({each})", f"max({each})"]
    row = run(connection, f"SELECT {', '.join(parts)} FROM {source}", path).fetchone()
    assert row is not None
    every, numbers, low, high, moments, first, last = row
    if every and numbers == every:
        return Times(column, number, False, low, high)
    if every and moments == every:
        return Times(column, moment, True, first, last)
    what = f"{path}: column {column!r} (`{option}`)"
    if not every:
        raise InputError(f"{what} has no values: give a column of dates or numbers")
    chosen = moment if moments >= numbers else number
    query = f"SELECT count(*), min({text}) FROM {source} WHERE {text} IS NOT NULL AND {chosen} IS NULL"
    bad = run(connection, query, path).fetchone()
    assert bad is not None
    raise InputError(
        f"{what} is {bad[1]!r} ({bad[0]:,} such rows): write dates as 2024-05-31, perhaps with the time, or numbers"
    )


def edge_times(connection: DuckDBPyConnection, table: Table, settings: ImportSettings) -> Times | None:
    """The times of the edges, where they have some."""
    if settings.time is None:
        return None
    return read_times(connection, table.value(settings.time), table.sql, settings.edges, settings.time, "time")


def write_node_times(
    connection: DuckDBPyConnection, writer: StoreWriter, settings: ImportSettings, n: int
) -> Times | None:
    """Write the array ``node_time`` from the table ``nodes``, where nodes have times."""
    if settings.node_time is None:
        return None
    times = read_times(connection, "nodes.time", "nodes", settings.node_file, settings.node_time, "node_time")
    values = writer.create("node_time", (n,), np.float64)
    for frame in chunks(connection.execute(f"SELECT nodes.node AS node, {times.expression} AS time FROM nodes")):
        values[frame["node"].to_numpy()] = frame["time"].to_numpy(dtype=np.float64, na_value=np.nan)
    return times
