"""Who earned the gain: the 2 x 2 attribution as points with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from imgcl._core.errors import InputError
from imgcl.plots.style import COLOURS, COLUMN, MARKERS, drawing, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEGEND_LETTERS = 50  # beside four markers, in the width of a column


def effects(rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Figure:
    """Differences in percentage points, one row per effect, one mark per metric; an interval that misses 0 is clear.

    Args:
        rows: effect, then metric, then ``mean`` and ``ci95`` as fractions: what ``Effects.to_dict()`` gives.

    Example:
        >>> gain = {"mean": 0.1, "ci95": [0.05, 0.15]}
        >>> figure = effects({"pre-training": {"tail": gain}, "classifier": {"tail": gain}})
        >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
        ['pre-training', 'classifier']
    """
    if not rows:
        raise InputError("there is no effect to draw")
    metrics = list(next(iter(rows.values())))
    for name, row in rows.items():
        if set(row) != set(metrics):
            raise InputError(f"effect {name!r} has the metrics {', '.join(row)}, the first one {', '.join(metrics)}")
    with drawing(COLUMN, 0.55 + 0.45 * len(rows)) as figure:
        axis = figure.subplots()
        axis.axvline(0, color="#888888", linewidth=0.8)
        for i, metric in enumerate(metrics):
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            for j, entry in enumerate(row[metric] for row in rows.values()):
                if entry["mean"] is None:
                    continue
                mean, (low, high) = entry["mean"], entry["ci95"] or (entry["mean"],) * 2
                error = 100 * np.array([[mean - low], [high - mean]])
                y = j + (i - (len(metrics) - 1) / 2) * 0.7 / len(metrics)
                axis.errorbar(
                    100 * mean,
                    y,
                    xerr=error,
                    fmt=marker,
                    color=colour,
                    elinewidth=1,
                    label=None if j else plain(metric),
                )
        axis.set_yticks(range(len(rows)), [plain(name) for name in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.set_xlabel("percentage points, 95 % interval")
        axis.grid(axis="x")
        handles, labels = axis.get_legend_handles_labels()
        in_a_row = 4 if sum(map(len, labels)) <= LEGEND_LETTERS else 2
        figure.legend(handles, labels, loc="outside upper center", ncols=min(in_a_row, max(1, len(labels))))
    return figure
