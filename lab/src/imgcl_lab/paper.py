"""The paper's Tables 2 and 3 (GBT on Amazon-Computers), to stand beside ours: recall in percent."""

from __future__ import annotations

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
