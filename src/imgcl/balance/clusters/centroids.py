"""Pseudo-labels by k-means, with and without a minimum cluster size."""

from __future__ import annotations

import numpy as np

from imgcl.balance.clusters.kmeans import kmeans
from imgcl.balance.clusters.lloyd import ClusterSums
from imgcl.balance.clusters.points import Points
from imgcl.balance.clusters.task import ClusterTask, Labels


def constrained(task: ClusterTask) -> Labels:
    """Constrained k-means, the paper's choice: no cluster below the minimum size (nor above the maximum)."""
    points = task.points()
    return kmeans(
        points,
        task.n_clusters,
        min_size=task.min_size,
        max_size=task.max_size,
        start=warm_start(points, task),
        seed=task.seed,
    ).labels


def plain(task: ClusterTask) -> Labels:
    """k-means; every cluster keeps at least one row."""
    points = task.points()
    return kmeans(points, task.n_clusters, start=warm_start(points, task), seed=task.seed).labels


def warm_start(points: Points, task: ClusterTask) -> np.ndarray | None:
    """Centroids of the previous labelling, taken among today's rows: the encoder has moved on since."""
    if task.previous is None:
        return None
    sums = ClusterSums(points, task.previous, task.n_clusters)
    return sums.means() if sums.sizes.all() else None
