"""How an effect moves with each knob of many settings: one small panel per knob."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl.plots.style import COLOURS, MARKERS, PAGE, checked, drawing, plain, plain_minor_ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 5
COLUMNS = 4


def knob_effects(
    knobs: Mapping[str, ArrayLike], effects: Mapping[str, ArrayLike], *, logarithmic: Collection[str] = ()
) -> Figure:
    """Mean effect and its 95 % interval over settings, in fifths of every knob.

    Args:
        knobs: value of every setting, (n,), by knob.
        effects: differences as fractions, (n,), by metric.
        logarithmic: knobs whose axis is logarithmic.

    Example:
        >>> figure = knob_effects({"width": [8, 16, 32, 64]}, {"tail": [0.0, 0.1, 0.1, 0.3]}, logarithmic=["width"])
        >>> figure.axes[0].get_xlabel()
        'width'
    """
    if not knobs or not effects:
        raise InputError("a figure of knobs needs at least one knob and one metric")
    rows = -(-len(knobs) // COLUMNS)
    with drawing(PAGE, 0.4 + 1.45 * rows) as figure:
        axes = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False).ravel()
        for axis, (knob, given) in zip(axes, knobs.items(), strict=False):
            x = np.asarray(given, dtype=np.float64)
            axis.axhline(0, color="#888888", linewidth=0.8)
            for i, (metric, values) in enumerate(effects.items()):
                centres, means, halves = _fifths(x, 100 * checked(f"effects[{metric!r}]", values, x.shape))
                style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
                axis.errorbar(centres, means, yerr=halves, elinewidth=0.8, label=plain(metric), **style)
            axis.set_xlabel(plain(knob))
            axis.set_xscale("log" if knob in logarithmic else "linear")
            plain_minor_ticks(axis)
        for axis in axes[len(knobs) :]:
            axis.set_axis_off()
        for axis in axes[::COLUMNS]:
            axis.set_ylabel("percentage points")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _fifths(x: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[list[float], list[float], list[float]]:
    """Median knob, mean effect and half the interval of every fifth (of every value, if a knob has few)."""
    known = np.unique(x)
    place = (
        np.searchsorted(known, x) if len(known) <= BINS else np.argsort(np.argsort(x, kind="stable")) * BINS // len(x)
    )
    centres, means, halves = [], [], []
    for part in np.unique(place):
        mine = values[place == part]
        centres.append(float(np.median(x[place == part])))
        means.append(float(mine.mean()))
        halves.append(1.96 * float(mine.std(ddof=1)) / len(mine) ** 0.5 if len(mine) > 1 else 0.0)
    return centres, means, halves
