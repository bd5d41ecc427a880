"""From values over splits x seeds to a mean, a standard deviation and a 95 % interval.

Values come from a crossed design: every seed (one pre-training) is evaluated on every split. Cells that share a seed
or a split are alike, so treating them as independent would give intervals that are too narrow. The variance of the
grand mean is therefore estimated from the mean squares of the two-way layout,

    var = (MS_seed + MS_split - MS_residual) / (seeds * splits),

with Satterthwaite's degrees of freedom; with one seed (or one split) that is the ordinary t interval. The interval
speaks about other splits of the same graph and other seeds, not about other graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student


@dataclass(frozen=True)
class Estimate:
    """A mean over splits x seeds; ``None`` where there is nothing to compute it from.

    Attributes:
        mean: the mean.
        sd: standard deviation over the cells (n - 1); ``None`` for a single cell.
        ci95: 95 % interval of the mean; ``None`` for a single cell.
    """

    mean: float | None
    sd: float | None
    ci95: tuple[float, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as in the JSON output."""
        return {"mean": self.mean, "sd": self.sd, "ci95": None if self.ci95 is None else list(self.ci95)}

    def percent(self) -> str:
        """Mean and standard deviation in percent, as in the tables."""
        if self.mean is None:
            return "-"
        return f"{100 * self.mean:.1f}" if self.sd is None else f"{100 * self.mean:.1f} ± {100 * self.sd:.1f}"

    def points(self) -> str:
        """A difference in percentage points with its interval."""
        if self.mean is None:
            return "-"
        interval = "" if self.ci95 is None else " [{:+.1f}, {:+.1f}]".format(*(100 * end for end in self.ci95))
        return f"{100 * self.mean:+.1f}{interval}"


def estimate(values: ArrayLike, seeds: ArrayLike | None = None, splits: ArrayLike | None = None) -> Estimate:
    """Mean, standard deviation and 95 % interval of values over splits x seeds.

    Args:
        values: one per cell; nan where there is none.
        seeds: the seed of each cell; by default all the same.
        splits: the split of each cell; by default all different.

    Example:
        >>> result = estimate([0.8, 0.9, 1.0])
        >>> [round(number, 3) for number in (result.mean, result.sd, *result.ci95)]
        [0.9, 0.1, 0.652, 1.148]
    """
    cells = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(cells)
    n = int(known.sum())
    if n == 0:
        return Estimate(None, None, None)
    mean = float(cells[known].mean())
    if n == 1:
        return Estimate(mean, None, None)
    sd = float(cells[known].std(ddof=1))
    table = None if seeds is None or splits is None else _crossed(cells, np.asarray(seeds), np.asarray(splits))
    variance, freedom = (sd**2 / n, float(n - 1)) if table is None else _two_way(table)
    half = float(student.ppf(0.975, freedom) * np.sqrt(variance))
    return Estimate(mean, sd, (mean - half, mean + half))


def _crossed(cells: np.ndarray, seeds: np.ndarray, splits: np.ndarray) -> np.ndarray | None:
    """The values as a (seeds, splits) table, or ``None`` when the design is not a full crossing of several."""
    rows, row = np.unique(seeds, return_inverse=True)
    columns, column = np.unique(splits, return_inverse=True)
    if min(len(rows), len(columns)) < 2 or len(cells) != len(rows) * len(columns):
        return None
    table = np.full((len(rows), len(columns)), np.nan)
    table[row, column] = cells
    return None if np.isnan(table).any() else table


def _two_way(table: np.ndarray) -> tuple[float, float]:
    """Variance of the grand mean of a crossed table, and its degrees of freedom."""
    r, c = table.shape
    grand, by_row, by_column = table.mean(), table.mean(axis=1), table.mean(axis=0)
    rows = c * ((by_row - grand) ** 2).sum() / (r - 1)
    columns = r * ((by_column - grand) ** 2).sum() / (c - 1)
    residual = ((table - by_row[:, None] - by_column + grand) ** 2).sum() / ((r - 1) * (c - 1))
    # noise can make an effect's mean square smaller than the residual's; its variance is not negative for that
    rows, columns = max(rows, residual), max(columns, residual)
    total = rows + columns - residual
    if total == 0:
        return 0.0, float(r * c - 1)
    weights = rows**2 / (r - 1) + columns**2 / (c - 1) + residual**2 / ((r - 1) * (c - 1))
    return total / (r * c), max(1.0, total**2 / weights)
