"""k-means with bounds on the cluster sizes; plain k-means is the case "at least one row each"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core import seeding
from imgcl._core.errors import InputError
from imgcl.balance.clusters.assignment import assign
from imgcl.balance.clusters.lloyd import ClusterSums, centroid_costs, row_norms
from imgcl.balance.clusters.minibatch import mini_batch_centroids
from imgcl.balance.clusters.points import Points, as_points, centred, dense
from imgcl.balance.clusters.start import plus_plus

FAR_OFF = 100.0  # squared distance of the mean from the origin, in variances, from which on rows are centred first
LOOK_AT = 4096  # rows from which the data's mean and variance are estimated
MINI_BATCH_ABOVE = 1 << 18  # rows from which on mini-batches do the work
FULL_PASSES = 5  # iterations over all rows that follow the mini-batches, or a warm start instead of them


@dataclass(frozen=True)
class KMeans:
    """What k-means found.

    Attributes:
        labels: cluster of each row.
        centroids: mean of each cluster's rows.
        inertia: sum of the rows' squared distances from their cluster's mean.
        iterations: passes over all rows that were made.
    """

    labels: NDArray[np.int64]
    centroids: NDArray[np.float32]
    inertia: float
    iterations: int


def kmeans(
    points: Points | ArrayLike,
    n_clusters: int,
    *,
    min_size: int = 1,
    max_size: int | None = None,
    start: ArrayLike | None = None,
    max_iterations: int = 100,
    tolerance: float = 1e-4,
    mini_batch: bool | None = None,
    seed: int = 0,
) -> KMeans:
    """Constrained k-means: every cluster has ``min_size`` to ``max_size`` rows, and each assignment step is exact.

    Memory beyond the points is O(N K): distances are made block by block, in float32.

    Args:
        points: rows to cluster, dense or sparse.
        n_clusters: number of clusters K.
        min_size: least size of a cluster; with the default 1 this is k-means that never empties a cluster.
        max_size: greatest size of a cluster.
        start: centroids to begin with (warm start); by default greedy k-means++.
        max_iterations: stop after so many assignment steps.
        tolerance: stop when the centroids' squared movement is below this fraction of the data's mean variance.
        mini_batch: find the centroids on random batches unless a start is given, then make at most five passes over
            all rows; ``None``: above 262,144 rows.
        seed: seed of the start and of the batches.

    Example:
        >>> points = np.array([[0.0], [0.1], [0.2], [9.0]])
        >>> found = kmeans(points, 2, min_size=2)
        >>> np.bincount(found.labels).tolist(), round(found.inertia, 3)
        ([2, 2], 38.725)
    """
    rows = as_points(points)
    n = rows.shape[0]
    if not 1 <= n_clusters <= n:
        raise InputError(f"cannot make {n_clusters} clusters of {n} rows: choose 1 <= n_clusters <= {n}")
    some = dense(rows, slice(None, None, max(1, n // LOOK_AT)))
    offset, variance = some.mean(axis=0, dtype=np.float64), float(some.var(axis=0, dtype=np.float64).mean())
    if isinstance(rows, np.ndarray) and (offset**2).mean() > FAR_OFF * variance:
        rows = centred(rows, offset)  # far from the origin float32 distances lose their digits
    else:
        offset[:] = 0.0
    squares = float(row_norms(rows).sum())
    if start is None:
        centroids = plus_plus(rows, n_clusters, seeding.generator(seed, "k-means++"))
    else:
        centroids = _given_start(start, n_clusters, rows.shape[1]) - offset
    if n > MINI_BATCH_ABOVE if mini_batch is None else mini_batch:
        if start is None:
            generator = seeding.generator(seed, "mini-batches")
            centroids = mini_batch_centroids(rows, centroids, generator, min_size=min_size, max_size=max_size)
        max_iterations = min(max_iterations, FULL_PASSES)
    sums: ClusterSums | None = None
    for iteration in range(1, max_iterations + 1):  # noqa: B007 (the count is part of the result)
        labels = assign(centroid_costs(rows, centroids), min_size, max_size)
        if sums is None:
            sums = ClusterSums(rows, labels, n_clusters)
        elif not sums.relabel(labels):
            break
        before, centroids = centroids, sums.means()
        if ((centroids - before) ** 2).sum() <= tolerance * variance:
            break
    if sums is None:
        raise InputError(f"max_iterations is {max_iterations}: at least one is needed to make labels")
    inertia = max(0.0, squares - float(sums.sizes @ (centroids**2).sum(axis=1)))
    return KMeans(sums.labels, (centroids + offset).astype(np.float32), inertia, iteration)


def _given_start(start: ArrayLike, n_clusters: int, dimensions: int) -> NDArray[np.float64]:
    centroids = np.array(start, dtype=np.float64)
    if centroids.shape != (n_clusters, dimensions):
        raise InputError(f"start has shape {centroids.shape}, expected ({n_clusters}, {dimensions})")
    return centroids
