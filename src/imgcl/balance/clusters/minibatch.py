"""Mini-batch k-means: good centroids for many rows from few of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from imgcl.balance.clusters.assignment import assign
from imgcl.balance.clusters.lloyd import ClusterSums, centroid_costs
from imgcl.balance.clusters.points import Points

BATCHES = 100
BATCH_ROWS = 1 << 13


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
