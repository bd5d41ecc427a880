"""Nodes of each class, head, middle and tail in colours of their own, and the accuracy on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from imgcl.evaluation.groups import class_groups
from imgcl.plots.style import COLUMN, GROUP_COLOURS, MARKERS, by_size, checked, drawing, names_of, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE_COLOURS = ("#000000", "#009E73", "#CC79A7", "#56B4E9")


def class_distribution(
    sizes: ArrayLike,
    *,
    class_names: Sequence[str] | None = None,
    accuracy: Mapping[str, ArrayLike] | None = None,
    ylabel: str = "nodes",
) -> Figure:
    """Bars of class sizes from the largest to the smallest; lines of per-class accuracy on a second axis.

    Args:
        sizes: number of nodes (or training labels) of class 0, 1, ...
        class_names: one per class.
        accuracy: fractions per class, in the order of ``sizes``, by the name of the run.
        ylabel: what is counted.

    Example:
        >>> figure = class_distribution([50, 20, 5], accuracy={"GBT": [0.9, 0.8, 0.2]})
        >>> [int(bar.get_height()) for bar in figure.axes[0].patches]
        [50, 20, 5]
    """
    counts = np.asarray(sizes, dtype=np.float64)
    order, group = by_size(counts), class_groups(counts).of_class()
    names = names_of(class_names, len(counts))
    with drawing(COLUMN, 2.1) as figure:
        from matplotlib.patches import Patch

        axis = figure.subplots()
        place = np.arange(len(counts))
        axis.bar(place, counts[order], color=[GROUP_COLOURS[group[k]] for k in order])
        long = max(map(len, names)) > 3
        axis.set_xticks(place, [names[k] for k in order], rotation=45 if long else 0, ha="right" if long else "center")
        axis.set(ylabel=ylabel, xlabel="" if long else "class, by size")
        present = [name for name in GROUP_COLOURS if name in group]
        handles: list[Any] = [Patch(color=GROUP_COLOURS[name], label=name) for name in present]
        if accuracy:
            right = axis.twinx()
            right.spines["right"].set_visible(True)
            right.set(ylim=(0, 1.02), ylabel="accuracy")
            for i, (name, values) in enumerate(accuracy.items()):
                line = checked(f"accuracy[{name!r}]", values, counts.shape)
                colour, marker = LINE_COLOURS[i % len(LINE_COLOURS)], MARKERS[i % len(MARKERS)]
                handles += right.plot(place, line[order], color=colour, marker=marker, label=plain(name))
        figure.legend(handles=handles, loc="outside upper center", ncols=min(4, len(handles)))
    return figure
