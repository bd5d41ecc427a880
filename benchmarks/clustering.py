"""Constrained k-means against k-means-constrained, and its share of a whole pre-training.

Both sides make ten iterations from the same k-means++ start. The reference assigns rows by plain distances, ours by
squared ones as k-means asks for, so the two do not take exactly the same path; `cost_ratio` compares where they arrive.

python benchmarks/clustering.py [--json]                    13,752 and 100,000 rows, 256 dimensions, 10 clusters
IMGCL_DATA=<raw files> python benchmarks/clustering.py --pretraining [--json]     also 500 epochs on Amazon-Computers
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from k_means_constrained import KMeansConstrained

from common import arguments, interleaved, peak_mb, show
from imgcl.balance import CLUSTERERS, BalanceSettings, kmeans
from imgcl.balance.clusters import ClusterTask
from imgcl.balance.clusters.kmeans import plus_plus

DIMENSIONS, CLUSTERS, ITERATIONS = 256, 10, 10
SHARES = np.array([5158, 2158, 2156, 1414, 818, 515, 487, 446, 308, 292]) / 13752  # classes of Amazon-Computers
SMALL, LARGE = 13_752, 100_000


def make_points(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping groups of very different size, and centroids to start from."""
    generator = np.random.default_rng(0)
    centres = 0.5 * generator.normal(size=(CLUSTERS, DIMENSIONS))
    group = generator.choice(CLUSTERS, size=rows, p=SHARES)
    points = (generator.normal(size=(rows, DIMENSIONS)) + centres[group]).astype(np.float32)
    return points, plus_plus(points, CLUSTERS, generator)


def least_size(rows: int) -> int:
    return -(-rows // (2 * CLUSTERS))  # half of the mean size


def ours(points: np.ndarray, start: np.ndarray) -> Any:
    least = least_size(len(points))
    return kmeans(points, CLUSTERS, min_size=least, start=start, max_iterations=ITERATIONS, tolerance=0)


def reference(points: np.ndarray, start: np.ndarray) -> Any:
    least = least_size(len(points))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KMeansConstrained(CLUSTERS, size_min=least, init=start, n_init=1, max_iter=ITERATIONS, tol=0)
        return model.fit(points)


def inertia(points: np.ndarray, labels: np.ndarray) -> float:
    means = np.stack([points[labels == k].mean(axis=0, dtype=np.float64) for k in range(CLUSTERS)])
    return float(((points - means[labels]) ** 2).sum())


def compare(rows: int, repeats: int) -> dict[str, Any]:
    points, start = make_points(rows)
    mine, theirs = ours(points, start), reference(points, start)
    seconds = interleaved(
        {"ours": lambda: ours(points, start), "reference": lambda: reference(points, start)}, repeats, warm_up=0
    )
    return {
        "ours_s": seconds["ours"],
        "reference_s": seconds["reference"],
        "ratio": seconds["reference"] / seconds["ours"],
        "peak_mb": peak_mb(run_ours, rows),
        "rows": rows,
        "cost_ratio": inertia(points, mine.labels) / inertia(points, theirs.labels_),
    }


def run_ours(rows: int) -> None:
    ours(*make_points(rows))


def pretraining(epochs: int = 500) -> dict[str, Any]:
    """Seconds spent in clustering during one GBT pre-training of Amazon-Computers with ImGCL."""
    from imgcl.data import load_graph
    from imgcl.training import Trainer
    from imgcl.training.estimator import make_config

    spent: list[float] = []
    original = CLUSTERERS["constrained"]

    def timed(task: ClusterTask) -> np.ndarray:
        task.points()  # encoding is not clustering; the rows are kept
        begin = time.perf_counter()
        labels = original(task)
        spent.append(time.perf_counter() - begin)
        return labels

    graph = load_graph("amazon-computers")
    original(ClusterTask(graph, lambda: np.eye(40, dtype=np.float32), 2))  # compile before the clock starts
    CLUSTERERS["constrained"] = timed
    try:
        trainer = Trainer(make_config(graph.name, balance=BalanceSettings(), overrides={"epochs": epochs}), graph)
        begin = time.perf_counter()
        trainer.train()
        total = time.perf_counter() - begin
    finally:
        CLUSTERERS["constrained"] = original
    return {
        "epochs": epochs,
        "total_s": total,
        "clustering_s": sum(spent),
        "share": sum(spent) / total,
        "each_s": spent,
    }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.set_defaults(repeats=3)
    parser.add_argument("--pretraining", action="store_true", help="also measure the share of a 500-epoch pre-training")
    options = parser.parse_args()
    result = compare(SMALL, options.repeats)
    result["large"] = compare(LARGE, repeats=1)
    if options.pretraining:
        result["pretraining"] = pretraining()
    show("clustering", result, options.json)


if __name__ == "__main__":
    main()
