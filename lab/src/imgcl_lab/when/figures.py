"""The figures of the map: where something helps and where it hurts, and how its effect moves with every knob."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl.plots.style import COLOURS, MARKERS, PAGE, checked, drawing, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VERDICTS = {"helps": "^", "hurts": "v", "nothing": "o"}
MAP_COLOURS = "PuOr"  # orange to purple: distinct for any colour vision
BINS = 5
COLUMNS = 4


def effect_map(
    x: ArrayLike,
    y: ArrayLike,
    effects: Mapping[str, ArrayLike],
    verdicts: Mapping[str, Sequence[str]],
    *,
    labels: tuple[str, str],
    logarithmic: tuple[bool, bool] = (False, False),
) -> Figure:
    """One panel per metric: a mark for every setting, its colour the effect, its shape whether the interval misses 0.

    Args:
        x: knob of every setting, (n,).
        y: another one.
        effects: differences as fractions, (n,), by metric.
        verdicts: ``helps``, ``hurts`` or ``nothing`` for every setting, by metric.
        labels: of the axes.
        logarithmic: scales of the axes.

    Example:
        >>> effects, verdicts = {"tail": [0.1, -0.1]}, {"tail": ["helps", "nothing"]}
        >>> figure = effect_map([1, 2], [3, 4], effects, verdicts, labels=("width", "epochs"))
        >>> figure.axes[0].get_title()
        'tail'
    """
    across = np.asarray(x, dtype=np.float64)
    if not effects or not len(across):
        raise InputError("a map needs at least one metric and one setting")
    up = checked("y", y, across.shape)
    points = {name: 100 * checked(f"effects[{name!r}]", values, across.shape) for name, values in effects.items()}
    limit = max(1e-9, *(float(np.quantile(np.abs(values), 0.95)) for values in points.values()))
    with drawing(PAGE, 2.9) as figure:
        axes = figure.subplots(1, len(points), squeeze=False)[0]
        for axis, (name, values) in zip(axes, points.items(), strict=True):
            for verdict, marker in VERDICTS.items():
                mine = np.array([each == verdict for each in verdicts[name]])
                dots = axis.scatter(
                    across[mine],
                    up[mine],
                    c=values[mine],
                    marker=marker,
                    s=12 if verdict == "nothing" else 34,
                    cmap=MAP_COLOURS,
                    vmin=-limit,
                    vmax=limit,
                    edgecolors="#333333",
                    linewidths=0.2 if verdict == "nothing" else 0.7,
                    label=f"{verdict} ({mine.sum()})",
                )
            axis.set(title=plain(name), xlabel=labels[0], ylabel=labels[1])
            axis.set_xscale("log" if logarithmic[0] else "linear")
            axis.set_yscale("log" if logarithmic[1] else "linear")
            _plain_minor_ticks(axis)
            axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
        figure.colorbar(dots, ax=list(axes), label="percentage points")
    return figure


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
            _plain_minor_ticks(axis)
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


def _plain_minor_ticks(axis: Any) -> None:
    """Minor ticks of logarithmic axes without numbers, which run into each other in small panels."""
    from matplotlib.ticker import NullFormatter

    for each in (axis.xaxis, axis.yaxis):
        each.set_minor_formatter(NullFormatter())
