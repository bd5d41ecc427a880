"""Ranks of methods over graphs, and the difference of mean ranks that chance does not explain (Demsar 2006)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range

from imgcl.plots.style import PAGE, drawing, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL = 0.05


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean rank of every method, 1 the best, of values (problems, methods); equal values share ranks.

    Example:
        >>> mean_ranks(np.array([[0.9, 0.5, 0.7], [0.8, 0.6, 0.6]])).tolist()
        [1.0, 2.75, 2.25]
    """
    return np.asarray(np.mean([rankdata(-row) for row in values], axis=0))


def critical_difference(methods: int, problems: int) -> float:
    """Nemenyi's: mean ranks that are further apart differ at the 5 % level.

    Example:
        >>> round(critical_difference(methods=4, problems=14), 2)
        1.25
    """
    q = float(studentized_range.ppf(1 - LEVEL, methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * problems)))


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """First and last of every largest group of neighbours in rank that do not differ, for ranks in rising order.

    Example:
        >>> cliques([1.0, 1.5, 2.2, 4.0], difference=1.0)
        [(0, 1), (1, 2)]
    """
    ends = [max(j for j, rank in enumerate(ranks) if rank - ranks[i] <= difference) for i in range(len(ranks))]
    found = [(i, end) for i, end in enumerate(ends) if end > i]
    return [pair for i, pair in enumerate(found) if not i or pair[1] > found[i - 1][1]]


def critical_difference_diagram(ranks: Mapping[str, float], problems: int) -> Figure:
    """Methods by mean rank; a bar joins those that do not differ.

    Example:
        >>> figure = critical_difference_diagram({"a": 1.2, "b": 1.9, "c": 2.9}, problems=12)
        >>> len(figure.axes[0].lines) > 3
        True
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    values, difference = [ranks[name] for name in order], critical_difference(len(ranks), problems)
    bars, n = cliques(values, difference), len(order)
    with drawing(PAGE, 0.6 + 0.17 * n + 0.1 * len(bars)) as figure:
        axis = figure.subplots()
        for y, (name, rank) in enumerate(zip(order, values, strict=True)):
            axis.plot([rank, n + 0.4], [y, y], color="#bbbbbb", linewidth=0.6)
            axis.plot(rank, y, "o", color="#0072B2")
            axis.text(n + 0.5, y, f"{plain(name)}  {rank:.1f}", va="center")
        for i, (first, last) in enumerate(bars):
            x = [values[first], values[last]]
            axis.plot(x, [n + 0.4 * i] * 2, color="#D55E00", linewidth=2)
        axis.plot([1, 1 + difference], [-1.2, -1.2], color="#000000")
        axis.text(1 + difference + 0.1, -1.2, f"critical difference {difference:.2f}", va="center")
        axis.set_xlim(0.8, n + 0.5)
        axis.set_ylim(n + 0.4 * len(bars), -1.8)
        axis.set_yticks([])
        axis.spines["left"].set_visible(False)
        axis.set_xlabel(f"mean rank over {problems} graphs and protocols, 1 is best; bars join what does not differ")
    return figure
