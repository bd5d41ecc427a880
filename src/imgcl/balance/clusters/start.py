"""Where k-means begins: greedy k-means++."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from imgcl.balance.clusters.lloyd import centroid_costs, row_norms
from imgcl.balance.clusters.points import Points, dense

SAMPLE = 1 << 13  # rows that k-means++ looks at; more do not make a better start


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
