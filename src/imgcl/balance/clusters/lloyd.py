"""The two halves of a k-means iteration, block by block: costs of all centroids, and means of all clusters."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl.balance.clusters.points import Points, blocks, dense
from imgcl.errors import InputError

Labels = NDArray[np.int64]


def centroid_costs(points: Points, centroids: NDArray[np.float64]) -> NDArray[np.float32]:
    """Squared distances to the centroids, (N, K), less each row's own squared norm, which no comparison needs."""
    centres = torch.from_numpy(centroids.astype(np.float32))
    norms = torch.from_numpy((centroids**2).sum(axis=1).astype(np.float32))
    cost = torch.empty(points.shape[0], len(centroids))
    for rows, block in blocks(points):
        torch.addmm(norms, block, centres.T, alpha=-2, out=cost[rows])
    return np.asarray(cost.numpy())


class ClusterSums:
    """Sums and sizes of the clusters of one labelling, brought up to date by the rows that changed only.

    Example:
        >>> points = np.array([[1.0], [3.0], [8.0]], dtype=np.float32)
        >>> sums = ClusterSums(points, np.array([0, 0, 1]), n_clusters=2)
        >>> sums.relabel(np.array([0, 1, 1]))
        1
        >>> sums.means().tolist()
        [[1.0], [5.5]]
    """

    def __init__(self, points: Points, labels: Labels, n_clusters: int) -> None:
        self._points, self.labels = points, labels
        self._sums = torch.zeros(n_clusters, points.shape[1], dtype=torch.float64)
        self.sizes = np.bincount(labels, minlength=n_clusters)
        for rows, block in blocks(points):
            self._sums += _membership(labels[rows], n_clusters) @ block

    def relabel(self, labels: Labels) -> int:
        """Take over other labels; returns how many rows changed."""
        changed = np.flatnonzero(labels != self.labels)
        k = len(self._sums)
        step = max(1, len(self.labels) // 16)  # bounds the copy of changed rows
        for begin in range(0, len(changed), step):
            rows = changed[begin : begin + step]
            moves = _membership(labels[rows], k) - _membership(self.labels[rows], k)
            self._sums += moves @ dense(self._points, rows)
        self.labels, self.sizes = labels, np.bincount(labels, minlength=k)
        return len(changed)

    def means(self) -> NDArray[np.float64]:
        """Mean of each cluster's rows, (K, D); 0 for a cluster without rows."""
        return np.asarray(self._sums.numpy() / np.maximum(self.sizes, 1)[:, None])


def _membership(labels: Labels, n_clusters: int) -> torch.Tensor:
    """Indicator matrix (K, rows): a product with it is several times faster than adding rows one by one."""
    return torch.zeros(n_clusters, len(labels)).scatter_(0, torch.from_numpy(labels)[None], 1.0)


def spread(points: Points) -> tuple[NDArray[np.float64], float]:
    """Mean of the rows, and the sum of their squared distances from it; refuses rows that are not finite."""
    n = points.shape[0]
    mean, squares = np.zeros(points.shape[1]), 0.0
    for _, block in blocks(points):
        mean += (torch.ones(len(block)) @ block).numpy()
        squares += float(torch.linalg.vector_norm(block, dim=1).double().square().sum())
    if not np.isfinite(squares):
        bad = sum(int((~torch.isfinite(block)).sum()) for _, block in blocks(points))
        raise InputError(
            f"{bad} of {n} x {points.shape[1]} values to cluster are not finite: the encoder has diverged, "
            "or data are missing"
        )
    mean /= n
    return mean, max(0.0, squares - n * float(mean @ mean))
