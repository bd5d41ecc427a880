"""The paper's own figures, to stand beside ours: accuracy in percent, Exp-100 (Table 1)."""

from __future__ import annotations

PAPER_GRAPHS = ("amazon-computers", "amazon-photo", "wiki-cs", "dblp")

_BASELINES: dict[str, tuple[float, float, float, float]] = {
    "features": (33.99, 38.07, 34.50, 38.51),
    "node2vec": (69.80, 69.44, 51.76, 50.41),
    "deepwalk": (69.67, 69.00, 51.32, 50.57),
    "deepwalk-features": (70.20, 71.60, 51.51, 49.57),
}

_WITHOUT_AND_WITH: dict[str, tuple[tuple[float, float], ...]] = {
    "dgi": ((10.88, 48.85), (13.62, 47.99), (17.11, 41.20), (26.63, 50.39)),
    "mvgrl": ((13.40, 46.42), (16.92, 50.86), (45.97, 60.85), (44.43, 51.90)),
    "infograph": ((35.83, 75.44), (53.57, 72.56), (44.19, 68.96), (48.26, 69.12)),
    "grace": ((41.54, 77.54), (45.24, 68.89), (54.20, 73.86), (44.48, 63.61)),
    "bgrl": ((40.81, 67.82), (51.18, 72.67), (39.82, 59.35), (49.58, 57.90)),
    "gbt": ((42.17, 78.62), (60.73, 75.13), (44.95, 73.08), (58.51, 70.05)),
    "gcn": ((46.83, 70.12), (68.84, 73.34), (59.84, 63.15), (51.55, 73.11)),
}

# On ordinary random 10/10/80 splits, from the methods' own papers.
_PUBLISHED = {"amazon-photo": {"grace": 92.2, "bgrl": 93.2, "gbt": 92.6, "dgi": 91.6, "mvgrl": 91.7}}


def published_accuracy(method: str, graph: str) -> float | None:
    """Accuracy (percent) on ordinary 10/10/80 splits as the method's own paper reports it, where it does.

    Example:
        >>> published_accuracy("gbt", "amazon-photo")
        92.6
    """
    return _PUBLISHED.get(graph, {}).get(method)


def paper_accuracy(method: str, graph: str, *, balanced: bool = False) -> float | None:
    """The paper's accuracy (percent) for a row of its main table; ``None`` where it has no such row.

    Args:
        method: a contrastive method (``gbt``), ``gcn``, or a baseline (``deepwalk``).
        graph: name of the graph.
        balanced: with ImGCL (of ``gcn``: with PBS).

    Example:
        >>> paper_accuracy("gbt", "amazon-photo", balanced=True)
        75.13
    """
    if graph not in PAPER_GRAPHS:
        return None
    column = PAPER_GRAPHS.index(graph)
    if method in _WITHOUT_AND_WITH:
        return _WITHOUT_AND_WITH[method][column][int(balanced)]
    if method in _BASELINES and not balanced:
        return _BASELINES[method][column]
    return None
