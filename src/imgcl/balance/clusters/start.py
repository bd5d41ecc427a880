"""Where k-means begins: greedy k-means++."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl.balance.clusters.points import Points, blocks, dense

SAMPLE = 1 << 15  # rows that k-means++ looks at; more do not make a better start


def plus_plus(points: Points, n_clusters: int, generator: np.random.Generator) -> NDArray[np.float32]:
    """Centroids far apart: each next one is drawn in proportion to the squared distance from those so far.

    Of ``2 + log K`` candidates the one that lowers the total most is taken (Arthur and Vassilvitskii, 2007). Large inputs
    are represented by a random sample of their rows.

    Example:
        >>> points = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0]], dtype=np.float32)
        >>> sorted(plus_plus(points, 2, np.random.default_rng(0))[:, 1].tolist())
        [0.0, 9.0]
    """
    n = points.shape[0]
    if n > SAMPLE:
        points = points[np.sort(generator.choice(n, SAMPLE, replace=False))]
        n = SAMPLE
    candidates = 2 + int(math.log(n_clusters))
    chosen = [int(generator.integers(n))]
    nearest = _squared_distances(points, chosen)[:, 0]
    while len(chosen) < n_clusters:
        total = nearest.sum(dtype=np.float64)
        if total > 0:
            marks = generator.random(candidates) * total
            picks = np.minimum(np.searchsorted(np.cumsum(nearest, dtype=np.float64), marks), n - 1)
        else:
            picks = generator.integers(n, size=candidates)  # fewer distinct rows than clusters
        closer = np.minimum(_squared_distances(points, picks), nearest[:, None])
        best = int(closer.sum(axis=0, dtype=np.float64).argmin())
        chosen.append(int(picks[best]))
        nearest = closer[:, best]
    return dense(points, chosen).numpy().copy()


def _squared_distances(points: Points, picks: list[int] | NDArray[np.int64]) -> NDArray[np.float32]:
    centres = dense(points, picks)
    result = np.empty((points.shape[0], len(centres)), dtype=np.float32)
    norms = (centres**2).sum(1)
    for rows, block in blocks(points):
        squared = torch.addmm(norms, block, centres.T, alpha=-2).add_((block**2).sum(1, keepdim=True))
        result[rows] = squared.clamp_(min=0).numpy()
    result[picks, np.arange(len(centres))] = 0.0
    return result
