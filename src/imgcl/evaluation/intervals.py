"""From values over splits x seeds to a mean, a standard deviation and a 95 % interval.

Values come from a crossed design: every seed (one pre-training) is evaluated on every split. Cells that share a seed
or a split are alike, so treating them as independent would give intervals that are too narrow. The variance of the
grand mean is therefore estimated from the mean squares of the two-way layout,

    var = (MS_seed + MS_split - MS_residual) / (seeds * splits),

with Satterthwaite's degrees of freedom; with one seed (or one split) that is the ordinary t interval. Where cells are
missing (a metric that is undefined there, a run that failed) the variances of seeds, splits and residual are estimated
by Henderson's method 3 (Henderson 1953): each effect's sum of squares is what it explains beyond the other one. On a
full table both are the same. The interval speaks about other splits of the same graph and other seeds, not about other
graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
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
    variance, freedom = sd**2 / n, float(n - 1)
    if seeds is not None and splits is not None:
        design = _effect(np.asarray(seeds)[known]), _effect(np.asarray(splits)[known])
        if any(len(np.unique(effect)) > 1 for effect in design):
            variance, freedom = _crossed(cells[known], *design)
    half = float(student.ppf(0.975, freedom) * np.sqrt(variance))
    return Estimate(mean, sd, (mean - half, mean + half))


def _effect(levels: np.ndarray) -> NDArray[np.int64]:
    """Levels as 0, 1, ...; all 0 when no two cells share one, for such an effect is part of the residual."""
    names, codes = np.unique(levels, return_inverse=True)
    return np.zeros(len(codes), dtype=np.int64) if len(names) == len(codes) else codes


def _crossed(cells: np.ndarray, row: NDArray[np.int64], column: NDArray[np.int64]) -> tuple[float, float]:
    """Variance of the mean of cells with two crossed effects, and its degrees of freedom."""
    counts = np.zeros((row.max() + 1, column.max() + 1), dtype=np.int64)
    np.add.at(counts, (row, column), 1)
    if min(counts.shape) < 2 or (counts != 1).any():
        return _unbalanced(cells, row, column, counts)
    table = np.empty(counts.shape)
    table[row, column] = cells
    return _two_way(table)


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


def _unbalanced(cells: np.ndarray, row: np.ndarray, column: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """As :func:`_two_way` where cells are missing or repeated: Henderson's method 3."""
    n, values = len(cells), cells - cells.mean()
    rows, columns = np.eye(counts.shape[0])[row], np.eye(counts.shape[1])[column]
    design = np.hstack([rows, columns])
    fitted, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    unexplained = float(((values - design @ fitted) ** 2).sum())
    freedom = np.array([rank - columns.shape[1], rank - rows.shape[1], n - rank])  # rows, columns, residual
    beyond = [max(0.0, _within(values, effect) - unexplained) for effect in (columns, rows)]
    squares = np.array([*beyond, unexplained]) / np.maximum(freedom, 1)
    squares[:2] = np.maximum(squares[:2], squares[2])
    weights = np.array([_weight(counts, freedom[0]), _weight(counts.T, freedom[1]), 0.0])
    weights[2] = 1 / n - weights.sum()
    parts = weights * squares
    total = float(parts.sum())
    if total <= 0:
        return 0.0, float(n - 1)
    return total, max(1.0, float(total**2 / (parts**2 / np.maximum(freedom, 1)).sum()))


def _within(values: np.ndarray, effect: np.ndarray) -> float:
    """Sum of squares around the means of an effect's levels."""
    means = effect.T @ values / effect.sum(axis=0)
    return float(((values - effect @ means) ** 2).sum())


def _weight(counts: np.ndarray, freedom: int) -> float:
    """Weight of the mean square of the effect in ``counts``' rows in the variance of the mean."""
    if freedom < 1:
        return 0.0
    n, own, other = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    in_mean_square = (n - (counts**2 / other).sum()) / freedom
    in_mean = (own**2).sum() / n**2
    return float(in_mean / in_mean_square)
