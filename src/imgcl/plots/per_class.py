"""Recall and precision of every class, two or more runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from imgcl._core.errors import InputError
from imgcl.plots.style import COLOURS, COLUMN, PAGE, by_size, checked, drawing, names_of, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def per_class(
    recall: Mapping[str, ArrayLike],
    precision: Mapping[str, ArrayLike],
    *,
    class_names: Sequence[str] | None = None,
    sizes: ArrayLike | None = None,
) -> Figure:
    """Grouped bars: one panel for recall, one for precision, one bar per class and run.

    Args:
        recall: fractions per class, by the name of the run.
        precision: the same runs.
        class_names: one per class.
        sizes: class sizes; with them, classes stand from the largest to the smallest.

    Example:
        >>> runs = {"GBT": [0.9, 0.1], "GBT + ImGCL": [0.8, 0.6]}
        >>> len(per_class(runs, runs).axes)
        2
    """
    if not recall or list(recall) != list(precision):
        raise InputError("recall and precision must name the same runs, at least one, in the same order")
    n_classes = len(np.asarray(next(iter(recall.values()))))
    names = names_of(class_names, n_classes)
    order = np.arange(n_classes) if sizes is None else by_size(checked("sizes", sizes, (n_classes,)))
    width = 0.84 / len(recall)
    with drawing(COLUMN if n_classes * len(recall) <= 24 else PAGE, 3.0) as figure:
        panels = figure.subplots(2, 1, sharex=True)
        for axis, (title, runs) in zip(panels, (("recall", recall), ("precision", precision)), strict=True):
            for i, (name, values) in enumerate(runs.items()):
                bars = checked(f"{title}[{name!r}]", values, (n_classes,))[order]
                place = np.arange(n_classes) + (i - (len(runs) - 1) / 2) * width
                axis.bar(place, bars, width, color=COLOURS[i % len(COLOURS)], label=plain(name))
            axis.set(ylabel=title, ylim=(0, 1))
            axis.set_axisbelow(True)
            axis.grid(axis="y")
        long = max(map(len, names)) > 3
        panels[1].set_xticks(
            np.arange(n_classes),
            [names[k] for k in order],
            rotation=45 if long else 0,
            ha="right" if long else "center",
        )
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(3, len(labels)))
    return figure
