"""Where something helps and where it hurts: effects of many settings over two of their knobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from imgcl._core.errors import InputError
from imgcl.plots.style import PAGE, checked, drawing, plain, plain_minor_ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VERDICTS = {"helps": "^", "hurts": "v", "nothing": "o"}
COLOURS = "PuOr"  # orange to purple: told apart with any colour vision


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
                    cmap=COLOURS,
                    vmin=-limit,
                    vmax=limit,
                    edgecolors="#333333",
                    linewidths=0.2 if verdict == "nothing" else 0.7,
                    label=f"{verdict} ({mine.sum()})",
                )
            axis.set(title=plain(name), xlabel=labels[0], ylabel=labels[1])
            axis.set_xscale("log" if logarithmic[0] else "linear")
            axis.set_yscale("log" if logarithmic[1] else "linear")
            plain_minor_ticks(axis)
            axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
        figure.colorbar(dots, ax=list(axes), label="percentage points")
    return figure
