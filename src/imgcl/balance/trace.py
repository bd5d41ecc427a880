"""The history of a training as table rows and as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl.balance.history import Labelling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def trace_rows(history: Sequence[Labelling]) -> list[dict[str, float | int | None]]:
    """One row per labelling, narrow enough for a terminal; what was not recorded is ``None``.

    The columns: ``epoch``; ``alpha``; ``K`` pseudo-classes; ``rows`` selected; ``ratio`` of the largest to the smallest
    pseudo-class among all nodes, and ``drawn_ratio`` among the selected rows (1 is balanced); ``agreement`` with the
    labelling before (adjusted Rand index); with labels for diagnosis ``ari``, ``nmi`` and ``true_ratio``, the ratio of
    the largest to the smallest true class among the selected rows.

    Example:
        >>> from imgcl.balance.history import record
        >>> entry = record(0, 1.0, np.array([0, 0, 0, 1]), np.array([0, 3]), n_clusters=2)
        >>> row = trace_rows([entry])[0]
        >>> row["ratio"], row["drawn_ratio"], row["agreement"]
        (3.0, 1.0, None)
    """
    return [
        {
            "epoch": entry["epoch"],
            "alpha": entry["alpha"],
            "K": len(entry["sizes"]),
            "rows": entry["selected"],
            "ratio": _ratio(entry["sizes"]),
            "drawn_ratio": _ratio(entry["drawn"]),
            "agreement": entry["agreement"],
            "ari": entry["ari"],
            "nmi": entry["nmi"],
            "true_ratio": None if entry["true_drawn"] is None else _ratio(entry["true_drawn"]),
        }
        for entry in history
    ]


def _ratio(sizes: Sequence[float]) -> float:
    return float(max(sizes) / min(sizes)) if min(sizes) > 0 else float("inf")


def trace_figure(history: Sequence[Labelling]) -> Figure:
    """Pseudo-classes, their shares of the selection and alpha with the agreements over training; ``imgcl[plots]``."""
    need("plots", "the plot")
    from matplotlib.figure import Figure

    if not history:
        raise InputError("there is no labelling to draw: the run was made without balanced selection")
    epochs = [entry["epoch"] for entry in history]
    sizes = np.array([entry["sizes"] for entry in history], dtype=np.float64)
    panels = [
        ("pseudo-classes, share of nodes", sizes / sizes.sum(axis=1, keepdims=True)),
        ("pseudo-classes, share of the selection", np.array([entry["drawn"] for entry in history])),
    ]
    if all(entry["true_drawn"] is not None for entry in history):
        panels.append(("true classes, share of the selection", np.array([entry["true_drawn"] for entry in history])))
    drawing = Figure(figsize=(4 * (len(panels) + 1), 3.6), layout="constrained")
    axes = drawing.subplots(1, len(panels) + 1)
    for axis, (title, shares) in zip(axes, panels, strict=False):
        _stack(axis, epochs, shares)
        axis.set(title=title, xlabel="epoch", ylim=(0, 1))
    last: Axes = axes[-1]
    last.step(epochs, [entry["alpha"] for entry in history], where="post", color="black", label="alpha")
    for label, values in (
        ("ARI with the labelling before", [entry["agreement"] for entry in history]),
        ("ARI with the truth", [entry["ari"] for entry in history]),
        ("NMI with the truth", [entry["nmi"] for entry in history]),
    ):
        known = [(epoch, value) for epoch, value in zip(epochs, values, strict=True) if value is not None]
        if known:
            last.plot(*zip(*known, strict=True), marker="o", label=label)
    last.set(title="alpha and agreement", xlabel="epoch", ylim=(-0.05, 1.05))
    last.legend()
    return drawing


def _stack(axis: Axes, epochs: Sequence[int], shares: NDArray[np.float64]) -> None:
    """Stacked bars, one colour per class, one bar per labelling."""
    from matplotlib import colormaps

    width = 0.9 * (min(np.diff(epochs)) if len(epochs) > 1 else 1)
    tops = np.cumsum(shares, axis=1)
    for k in range(shares.shape[1]):
        colour = colormaps["tab20"](k % 20)
        axis.bar(epochs, shares[:, k], width, bottom=tops[:, k] - shares[:, k], align="edge", color=colour)
