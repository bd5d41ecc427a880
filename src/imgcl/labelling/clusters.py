"""Clusters of all nodes, with the nodes of each from the most typical to the least."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imgcl._core import seeding
from imgcl._core.progress import stage
from imgcl.balance import kmeans
from imgcl.balance.clusters import as_points
from imgcl.balance.clusters.lloyd import centroid_costs, row_norms

COSTS = 1 << 25  # distances that k-means may hold at once: 128 MB of float32
LEAST_PER_CLUSTER = 20  # rows of a sample for each cluster
FEW = 512  # clusters up to which k-means runs until it settles
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Clusters:
    """A clustering of all rows.

    Attributes:
        labels: cluster of each row; cluster 0 is the largest.
        distance: squared distance of each row from the centroid of its cluster.
    """

    labels: NDArray[np.int64]
    distance: NDArray[np.float32]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each cluster."""
        return np.bincount(self.labels)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """All rows, cluster after cluster, in each the most typical first."""
        return np.asarray(np.lexsort((self.distance, self.labels)), dtype=np.int64)

    @property
    def typical(self) -> NDArray[np.int64]:
        """The most typical row of each cluster: the one that is nearest to the centroid.

        Example:
            >>> Clusters(np.array([0, 0, 1]), np.array([0.5, 0.1, 0.0], dtype=np.float32)).typical.tolist()
            [1, 2]
        """
        first: NDArray[np.int64] = self.order[np.cumsum(self.sizes) - self.sizes]
        return first

    def typicality(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How typical rows are of their clusters: 1 for the nearest to the centroid, towards 0 for the farthest.

        Example:
            >>> clusters = Clusters(np.array([0, 0, 1]), np.array([0.5, 0.1, 0.0], dtype=np.float32))
            >>> clusters.typicality(np.array([0, 1, 2])).tolist()
            [0.5, 1.0, 1.0]
        """
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        own = self.labels[rows]
        nearer = place[rows] - (np.cumsum(self.sizes) - self.sizes)[own]
        return np.asarray(1 - nearer / self.sizes[own])


def cluster(rows: NDArray[np.float32], n_clusters: int, seed: int) -> Clusters:
    """k-means of all rows; of very many rows a random sample finds the centroids.

    Args:
        rows: (N, d).
        n_clusters: K; of fewer distinct rows than that there may be fewer clusters.
        seed: of the start and of the sample.

    Example:
        >>> found = cluster(np.array([[0.0], [0.1], [9.0]], dtype=np.float32), 2, seed=0)
        >>> found.labels.tolist(), found.sizes.tolist()
        ([0, 0, 1], [2, 1])
    """
    sample = _sample(rows, n_clusters, seed)
    steps = 100 if n_clusters <= FEW else 20
    with stage(f"{n_clusters:,} clusters", weight=0.8):
        stream = seeding.derive(seed, "clusters")
        found = kmeans(sample, n_clusters, max_iterations=steps, seed=stream, mini_batch=False)
    labels, distance = nearest(rows, found.centroids)
    # Largest first, and no empty ones: of equal rows all are nearest to one centroid.
    sizes = np.bincount(labels, minlength=n_clusters)
    rank = np.empty(n_clusters, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_clusters)
    return Clusters(rank[labels], distance)


def _sample(rows: NDArray[np.float32], n_clusters: int, seed: int) -> NDArray[np.float32]:
    most = max(LEAST_PER_CLUSTER * n_clusters, COSTS // n_clusters)
    if len(rows) <= most:
        return rows
    return rows[np.sort(seeding.generator(seed, "sample").choice(len(rows), most, replace=False))]


def nearest(rows: NDArray[np.float32], centroids: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The nearest centroid of each row, and the squared distance from it, block by block.

    Example:
        >>> found, distance = nearest(np.array([[0.0], [3.0]], dtype=np.float32), np.array([[1.0], [5.0]], "float32"))
        >>> found.tolist(), distance.tolist()
        ([0, 0], [1.0, 4.0])
    """
    labels, distance = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.float32)
    step = max(1, min(BLOCK, COSTS // (4 * len(centroids))))
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        block = as_points(rows[part])
        cost = centroid_costs(block, centroids)
        labels[part] = cost.argmin(axis=1)
        own = cost[np.arange(len(cost)), labels[part]] + row_norms(block)
        distance[part] = np.maximum(own, 0.0)
    return labels, distance
