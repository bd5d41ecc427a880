"""How a result moves with one parameter: lines with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from imgcl._core.errors import InputError
from imgcl.plots.style import COLOURS, COLUMN, MARKERS, checked, drawing, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sensitivity(
    values: ArrayLike,
    means: Mapping[str, ArrayLike],
    intervals: Mapping[str, ArrayLike] | None = None,
    *,
    xlabel: str,
    ylabel: str = "accuracy",
    reference: Mapping[str, float] | None = None,
) -> Figure:
    """One line per name over the values of a parameter, the interval as a band around it.

    Args:
        values: of the parameter, (n,).
        means: of the result at each value, by name.
        intervals: lower and upper ends, (n, 2), by the same names.
        xlabel: the parameter.
        ylabel: the result.
        reference: level lines by name, for example the plain method.

    Example:
        >>> figure = sensitivity([2, 4, 8], {"tail": [0.5, 0.6, 0.6]}, xlabel="labellings")
        >>> figure.axes[0].get_xlabel()
        'labellings'
    """
    x = np.asarray(values, dtype=np.float64)
    if not means or not len(x):
        raise InputError("a sensitivity plot needs at least one line with at least one point")
    with drawing(COLUMN, 2.1) as figure:
        axis = figure.subplots()
        for i, (name, given) in enumerate(means.items()):
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            axis.plot(x, checked(f"means[{name!r}]", given, x.shape), color=colour, marker=marker, label=plain(name))
            if intervals is not None and name in intervals:
                low, high = checked(f"intervals[{name!r}]", intervals[name], (len(x), 2)).T
                axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        for name, level in (reference or {}).items():
            axis.axhline(level, color="#555555", linestyle="--", linewidth=0.9, label=plain(name))
        axis.set(xlabel=xlabel, ylabel=ylabel)
        axis.set_xticks(x)
        axis.grid(axis="y")
        handles, labels = axis.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(4, len(labels)))
    return figure
