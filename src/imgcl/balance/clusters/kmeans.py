"""k-means with a minimum cluster size: initialisation, on mini-batches, on all rows, and as a clusterer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core import seeding
from imgcl._core.errors import InputError
from imgcl.balance.clusters.assignment import assign
from imgcl.balance.clusters.lloyd import ClusterSums, centroid_costs, row_norms
from imgcl.balance.clusters.points import Points, as_points, centred, dense
from imgcl.balance.clusters.task import ClusterTask, Labels

SAMPLE = 1 << 13  # rows that k-means++ looks at; more do not make a better start
BATCHES = 100
BATCH_ROWS = 1 << 13
FAR_OFF = 100.0  # squared distance of the mean from the origin, in variances, from which on rows are centred first
LOOK_AT = 4096  # rows from which the data's mean and variance are estimated
MINI_BATCH_ABOVE = 1 << 18  # rows from which on mini-batches do the work
FULL_PASSES = 5  # iterations over all rows that follow the mini-batches, or a warm start instead of them


def plus_plus(points: Points, n_clusters: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Centroids far apart: each next one is drawn in proportion to the squared distance from those so far.

    Of ``2 + log K`` candidates the one that lowers the total most is taken (Arthur and Vassilvitskii, 2007). Many rows
    are represented by a random sample of them.

    Example:
        >>> points = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0]], dtype=np.float32)
        >>> sorted(plus_plus(points, 2, np.random.default_rng(0))[:, 1].tolist())
        [0.0, 9.0]
    """
    size = max(SAMPLE, 100 * n_clusters)
    if points.shape[0] > size:
        points = points[np.sort(generator.choice(points.shape[0], size, replace=False))]
    n = points.shape[0]
    norms = row_norms(points).astype(np.float32)
    chosen = [int(generator.integers(n))]
    nearest = _squared_distances(points, norms, np.array(chosen))[:, 0]
    while len(chosen) < n_clusters:
        reach = np.cumsum(nearest, dtype=np.float64)
        marks = generator.random(2 + int(math.log(n_clusters))) * reach[-1]
        # all distances are zero when there are fewer distinct rows than clusters: any row will do
        picks = np.minimum(np.searchsorted(reach, marks, side="right"), n - 1)
        closer = np.minimum(_squared_distances(points, norms, picks), nearest[:, None])
        best = int(closer.sum(axis=0, dtype=np.float64).argmin())
        chosen.append(int(picks[best]))
        nearest = closer[:, best]
    return dense(points, np.array(chosen)).astype(np.float64)


def _squared_distances(points: Points, norms: NDArray[np.float32], picks: NDArray[np.int64]) -> NDArray[np.float32]:
    distances = centroid_costs(points, dense(points, picks))
    distances += norms[:, None]
    np.maximum(distances, 0.0, out=distances)
    distances[picks, np.arange(len(picks))] = 0.0
    return distances


def mini_batch_centroids(
    points: Points,
    start: NDArray[np.float64],
    generator: np.random.Generator,
    *,
    min_size: int = 1,
    max_size: int | None = None,
) -> NDArray[np.float64]:
    """Improve ``start`` on random batches of rows, each centroid with a step that falls with the rows it has seen.

    The size bounds hold in every batch in proportion (Sculley, 2010, with the constrained assignment).

    Example:
        >>> points = np.repeat(np.array([[0.0], [8.0]], dtype=np.float32), 500, axis=0)
        >>> mini_batch_centroids(points, np.array([[3.0], [4.5]]), np.random.default_rng(0)).round(1).tolist()
        [[0.0], [8.0]]
    """
    n, k = points.shape[0], len(start)
    size = min(n, max(BATCH_ROWS, 100 * k))
    least = math.floor(min_size * size / n)
    most = None if max_size is None else math.ceil(max_size * size / n)
    centroids, seen = np.array(start, dtype=np.float64), np.zeros(k)
    for _ in range(BATCHES):
        batch = points[np.sort(generator.integers(n, size=size))]
        sums = ClusterSums(batch, assign(centroid_costs(batch, centroids), least, most), k)
        seen += sums.sizes
        step = sums.sizes / np.maximum(seen, 1)
        centroids += step[:, None] * (sums.means() - centroids)
    return centroids


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
        max_iterations: assignment steps at most.
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
