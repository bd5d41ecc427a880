"""Figures that the paper reports, in percent, to stand beside ours."""

from __future__ import annotations

PAPER_GRAPHS = ("amazon-computers", "amazon-photo", "wiki-cs", "dblp")

# Table 1: accuracy, Exp-100, on PAPER_GRAPHS.
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

# Tables 2 and 3: recall of GBT on Amazon-Computers.
GROUPS = ("head", "middle", "tail", "accuracy")
Figures = tuple[float, float, float, float]  # head, middle, tail, all

IMBALANCE: dict[str, dict[str, Figures]] = {
    "exp:20": {"none": (79.45, 65.40, 73.25, 71.97), "imgcl": (71.58, 89.95, 94.55, 85.82)},
    "exp:50": {"none": (80.12, 60.57, 57.42, 65.49), "imgcl": (63.88, 86.03, 95.75, 82.30)},
    "exp:100": {"none": (70.38, 41.92, 14.29, 42.17), "imgcl": (57.32, 82.72, 94.45, 78.62)},
    "exp:200": {"none": (78.13, 25.12, 10.28, 36.57), "imgcl": (46.95, 75.27, 76.42, 67.12)},
    "pareto:2": {"none": (83.31, 61.01, 52.58, 65.17), "imgcl": (53.81, 70.25, 93.19, 72.20)},
    "pareto:1": {"none": (82.06, 57.22, 39.85, 59.46), "imgcl": (41.94, 78.34, 87.97, 70.31)},
}

ABLATION: dict[str, Figures] = {
    "none": (70.38, 41.92, 14.29, 42.17),
    "k-means": (52.09, 84.16, 89.00, 75.99),
    "communities": (51.22, 84.61, 91.20, 76.57),
    "no centrality": (56.45, 86.08, 84.44, 76.70),
    "imgcl": (57.32, 82.72, 94.45, 78.62),
    "true labels": (58.43, 84.40, 92.24, 78.96),
}


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
