"""Columns of numbers whose scale or tail would outweigh all others, found on some rows of the table ``nodes``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from imgcl._core.errors import InputError
from imgcl.data.importing.columns import Source, measured
from imgcl.data.importing.database import logarithm, scalar
from imgcl.data.importing.source import shown

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS = 100_000  # that are looked at, spread over the table
FEWEST = 50  # rows: fewer say nothing about a tail
UNEQUAL = 30.0  # times the size of another column: an encoder hardly sees the other
HEAVY = 5.0  # skewness of a tail that outweighs all other nodes; that of an exponential distribution is 2


@dataclass(frozen=True)
class Shape:
    """How large and how skew the numbers of a column are.

    Attributes:
        size: their mean absolute value, at least 1, so that rare ones and zeros are no small scale.
        skewness: of the numbers.
        skewness_of_log: of their logarithms.
    """

    size: float
    skewness: float
    skewness_of_log: float

    @property
    def heavy(self) -> bool:
        """Whether few nodes have far larger numbers than all others, and a logarithm mends it."""
        return self.skewness > HEAVY and 2 * abs(self.skewness_of_log) < self.skewness

    @classmethod
    def of(cls, size: float | None, skewness: float | None, skewness_of_log: float | None) -> Shape:
        """The shape of what a query measured; NULL of a column without numbers or variation."""
        return cls(max(1.0, size or 0.0), skewness or 0.0, skewness_of_log or 0.0)


def find_shapes(connection: DuckDBPyConnection, sources: Sequence[Source]) -> dict[str, Shape]:
    """The shape of every feature column of numbers; none of a table with few rows."""
    numbers, n = [source for source in sources if source.numbers], int(scalar(connection, "SELECT count(*) FROM nodes"))
    if n < FEWEST or not numbers:
        return {}
    rows = f"(SELECT * FROM nodes WHERE nodes.node % {-(-n // ROWS)} = 0) AS nodes"
    sizes = list(measured(connection, [_size(source) for source in numbers], rows))
    tails = [_tail(source, float(largest or 0) or 1.0) for source, (_, largest) in zip(numbers, sizes, strict=True)]
    pairs = zip(numbers, sizes, measured(connection, tails, rows), strict=True)
    return {source.name: Shape.of(size, *tail) for source, (size, _), tail in pairs}


def _size(source: Source) -> tuple[str, str]:
    """SQL of the mean and the largest absolute value."""
    return f"avg(abs({source.value}))", f"max(abs({source.value}))"


def _tail(source: Source, largest: float) -> tuple[str, str]:
    """SQL of the skewness of a column and of its logarithm; scaled first, for cubes that fit into a double."""
    value = source.value
    return f"skewness(({value}) / {largest!r})", f"skewness({logarithm(value)})"


def with_logarithms(sources: Sequence[Source], patterns: Sequence[str]) -> list[Source]:
    """The columns, with logarithms where the patterns (names, or ``prefix*``) ask for them.

    Raises:
        InputError: when a pattern names no feature column, or one of text.
    """
    chosen = {name for pattern in patterns for name in _matching(pattern, sources)}
    return [replace(source, log=source.name in chosen) for source in sources]


def _matching(pattern: str, sources: Sequence[Source]) -> list[str]:
    """Names of the columns of numbers that a pattern means; a prefix may match text as well, which has no logarithm."""
    numbers, begin = [source.name for source in sources if source.numbers], pattern.removesuffix("*")
    found = [name for name in numbers if name.startswith(begin)] if begin != pattern else [pattern]
    if not found or found[0] not in numbers:
        raise InputError(f"`log` has {pattern!r}, and feature columns of numbers are {shown(numbers) or 'none'}")
    return found
