"""Embeddings as points in the plane, coloured by class, several embeddings beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from imgcl._core.errors import InputError
from imgcl.plots.style import PAGE, checked, class_style, drawing, names_of, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def embedding_map(
    panels: Mapping[str, ArrayLike], classes: ArrayLike, *, class_names: Sequence[str] | None = None
) -> Figure:
    """One panel per embedding, one point per node.

    Args:
        panels: points (n, 2) by title; all of the same nodes.
        classes: class 0..K-1 of each node, -1 for unlabelled (grey, below the others).
        class_names: one per class.

    Example:
        >>> points = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
        >>> len(embedding_map({"GBT": points, "GBT + ImGCL": points}, [0, 0, 1]).axes)
        2
    """
    labels = np.asarray(classes)
    if not panels or labels.ndim != 1 or not len(labels):
        raise InputError("a map needs at least one panel of points, and one class per point")
    if not np.isin(labels, np.arange(-1, labels.max() + 1)).all():
        raise InputError("classes must be whole numbers 0..K-1, or -1 for unlabelled: others would not be drawn")
    n_classes = max(int(labels.max()) + 1, len(class_names or ()))
    names = names_of(class_names, n_classes)
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    with drawing(min(PAGE, 2.3 * columns + 0.6), 2.2 * rows + 0.5) as figure:
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for axis, (title, given) in zip(axes, panels.items(), strict=False):
            points = checked(f"panels[{title!r}]", given, (len(labels), 2))
            for k in range(-1, n_classes):
                colour, marker = ("#bbbbbb", ".") if k < 0 else class_style(k)
                mine = points[labels == k]
                label = "unlabelled" if k < 0 else names[k]
                if len(mine):
                    axis.scatter(*mine.T, s=4, c=colour, marker=marker, linewidths=0, label=label, rasterized=True)
            axis.set_title(plain(title))
            axis.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
        for axis in axes[len(panels) :]:
            axis.remove()
        handles, legend = axes[0].get_legend_handles_labels()
        figure.legend(handles, legend, loc="outside lower center", ncols=min(6, len(legend)), markerscale=2)
    return figure
