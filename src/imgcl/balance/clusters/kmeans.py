"""k-means with bounds on the cluster sizes; plain k-means is the case "at least one row each"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from imgcl import seeding
from imgcl.balance.clusters.assignment import assign
from imgcl.balance.clusters.points import Points, as_points, blocks
from imgcl.balance.clusters.start import plus_plus
from imgcl.errors import InputError

FAR_OFF = 100.0  # squared distance of the mean from the origin, in variances, from which on rows are centred first


@dataclass(frozen=True)
class KMeans:
    """What k-means found: labels, centroids (their means), squared distance to them in total, iterations made."""

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
    seed: int = 0,
) -> KMeans:
    """Constrained k-means: every cluster has ``min_size`` to ``max_size`` rows, and each assignment step is exact.

    Args:
        points: rows to cluster, dense or sparse.
        n_clusters: number of clusters K.
        min_size: least size of a cluster; with the default 1 this is k-means that never empties a cluster.
        max_size: greatest size of a cluster.
        start: centroids to begin with (warm start); by default greedy k-means++.
        max_iterations: stop after so many assignment steps.
        tolerance: stop when the centroids' squared movement is below this fraction of the data's mean variance.
        seed: seed of the start.

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
    if start is None:
        centroids = plus_plus(rows, n_clusters, seeding.generator(seed, "k-means++"))
    else:
        centroids = np.array(start, dtype=np.float32)
        if centroids.shape != (n_clusters, rows.shape[1]):
            raise InputError(f"start has shape {centroids.shape}, expected ({n_clusters}, {rows.shape[1]})")
    mean, spread = _spread(rows)
    offset = np.zeros_like(mean)
    if isinstance(rows, np.ndarray) and n * float(mean @ mean) > FAR_OFF * spread:
        offset = mean  # far from the origin float32 distances lose their digits
        rows = rows - offset
    centroids = centroids - offset
    labels = np.full(n, -1)
    for iteration in range(1, max_iterations + 1):  # noqa: B007 (the count is part of the result)
        previous, labels = labels, assign(centroid_costs(rows, centroids), min_size, max_size)
        if np.array_equal(labels, previous):
            break
        means = centroid_means(rows, labels, n_clusters)
        shift = float(((means - centroids) ** 2).sum())
        centroids = means
        if shift <= tolerance * spread / (n * rows.shape[1]):
            break
    sizes = np.bincount(labels, minlength=n_clusters)
    total = spread + n * float((mean - offset) @ (mean - offset))
    inertia = max(0.0, total - float(sizes @ (centroids**2).sum(axis=1)))
    return KMeans(labels, (centroids + offset).astype(np.float32), inertia, iteration)


def centroid_costs(points: Points, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
    """Squared distances to the centroids, (N, K), less each row's own squared norm, which no comparison needs."""
    centres = torch.from_numpy(centroids.astype(np.float32))
    norms = torch.from_numpy((centroids**2).sum(axis=1).astype(np.float32))
    cost = torch.empty(points.shape[0], len(centroids))
    for rows, block in blocks(points):
        torch.addmm(norms, block, centres.T, alpha=-2, out=cost[rows])
    return cost.numpy()


def centroid_means(points: Points, labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.float64]:
    """Mean of each cluster's rows, (K, D); a cluster without rows has the mean 0."""
    sums = torch.zeros(n_clusters, points.shape[1], dtype=torch.float64)
    member = torch.from_numpy(labels)
    for rows, block in blocks(points):
        # a product with the membership matrix is several times faster than adding rows one by one
        membership = torch.zeros(n_clusters, len(block)).scatter_(0, member[None, rows], 1.0)
        sums += membership @ block
    sizes = np.bincount(labels, minlength=n_clusters)
    return np.asarray(sums.numpy() / np.maximum(sizes, 1)[:, None])


def _spread(points: Points) -> tuple[NDArray[np.float64], float]:
    """Mean of the rows, and sum of their squared distances from it."""
    mean, squares = torch.zeros(points.shape[1], dtype=torch.float64), 0.0
    for _, block in blocks(points):
        mean += block.sum(0)
    mean /= points.shape[0]
    for _, block in blocks(points):
        squares += float(((block - mean.float()) ** 2).sum())
    return mean.numpy(), squares
