"""When the nodes of a graph came into being: one time each, dates or plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

DAY = 86_400


@dataclass(frozen=True, eq=False)
class NodeTime:
    """A time for every node.

    Attributes:
        column: what the times are called, as in ``--split time:COLUMN``.
        values: seconds since 1970 (UTC), or numbers such as years; nan where a node has none.
        dates: whether they are seconds.

    Example:
        >>> joined = NodeTime("joined", np.array([0.0, 86400.0, np.nan]), dates=True)
        >>> joined.text(86400.0), joined.range
        ('1970-01-02', '1970-01-01 to 1970-01-02')
    """

    column: str
    values: NDArray[np.float64]
    dates: bool

    def subset(self, nodes: NDArray[np.int64]) -> NodeTime:
        """The times of some nodes."""
        return replace(self, values=self.values[nodes])

    @property
    def range(self) -> str:
        """The first and the last time."""
        known = self.values[np.isfinite(self.values)]
        return f"{self.text(known.min())} to {self.text(known.max())}" if len(known) else "no times"

    def text(self, value: float) -> str:
        """A time for people."""
        return time_text(value, dates=self.dates)


def time_text(value: float, *, dates: bool) -> str:
    """A time for people: a date, with the time of day where it is not midnight, or a number.

    Example:
        >>> time_text(3600.0, dates=True), time_text(2017.0, dates=False)
        ('1970-01-01 01:00:00', '2017')
    """
    if not dates:
        return f"{value:.10g}"
    moment = datetime.fromtimestamp(float(value), UTC)
    return f"{moment:%Y-%m-%d}" if value % DAY == 0 else f"{moment:%Y-%m-%d %H:%M:%S}"
