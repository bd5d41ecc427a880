"""The two halves of a k-means iteration, block by block: costs of all centroids, and means of all clusters.

The inner loops are compiled: a BLAS does these products no faster, because K is small, and its threads wait for each
other by spinning, which on a busy machine costs many times the work. They release the interpreter lock, so blocks can
run side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.errors import InputError
from imgcl.balance.clusters.points import Points, dense, each_block

Labels = NDArray[np.int64]
LARGEST_NORM = 1e37  # squared: distances to it and between two of them are single-precision numbers
MOVED_TOGETHER = 1 << 13  # rows that are copied at once when they change cluster
Float = NDArray[np.float32]


def centroid_costs(points: Points, centroids: NDArray[np.floating]) -> NDArray[np.float32]:
    """Squared distances to the centroids, (N, K), less each row's own squared norm, which no comparison needs."""
    cost = np.empty((points.shape[0], len(centroids)), dtype=np.float32)
    centres = np.ascontiguousarray(centroids, dtype=np.float32)
    norms = (centroids.astype(np.float64) ** 2).sum(axis=1).astype(np.float32)
    each_block(points, lambda rows, block: block_costs(block, centres, norms, cost[rows]))
    return cost


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
        self._points, self.labels = points, np.full(len(labels), -1)
        self._sums = np.zeros((n_clusters, points.shape[1]))
        self.relabel(labels)

    def relabel(self, labels: Labels) -> int:
        """Take over other labels; returns how many rows changed."""
        changed = np.flatnonzero(labels != self.labels)
        for begin in range(0, len(changed), MOVED_TOGETHER):
            part = slice(begin, begin + MOVED_TOGETHER)
            rows = part if len(changed) == len(labels) else changed[part]  # a slice of the points is no copy
            move_rows(dense(self._points, rows), self.labels[rows], labels[rows], self._sums)
        self.labels, self.sizes = labels, np.bincount(labels, minlength=len(self._sums))
        return len(changed)

    def means(self) -> NDArray[np.float64]:
        """Mean of each cluster's rows, (K, D); 0 for a cluster without rows."""
        return np.asarray(self._sums / np.maximum(self.sizes, 1)[:, None])


def row_norms(points: Points) -> NDArray[np.float64]:
    """Squared norm of each row; refuses rows that are not finite."""
    norms = np.empty(points.shape[0])

    def fill(rows: slice, block: NDArray[np.float32]) -> None:
        norms[rows] = squared_norms(block)

    each_block(points, fill)
    bad = np.flatnonzero(~np.isfinite(norms))
    if len(bad):
        raise InputError(
            f"{len(bad)} of {len(norms)} rows to cluster are not finite, first row {bad[0]}: "
            "the encoder has diverged, or data are missing"
        )
    if len(norms) and norms.max() > LARGEST_NORM:
        raise InputError(
            f"row {norms.argmax()} to cluster has length {norms.max() ** 0.5:.3g}, too much for squared distances in "
            "single precision: the encoder has diverged, or scale the rows"
        )
    return norms


@njit(cache=True, nogil=True, fastmath=True)
def block_costs(block: Float, centroids: Float, norms: Float, out: Float) -> None:
    """``norms - 2 * block @ centroids.T`` into ``out``: squared distances less the rows' own squared norms."""
    n, d = block.shape
    whole = n - n % 4
    for row in range(0, whole, 4):  # four rows at a time share each load of a centroid
        for c in range(len(centroids)):
            s0, s1, s2, s3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            for i in range(d):
                factor = centroids[c, i]
                s0 += block[row, i] * factor
                s1 += block[row + 1, i] * factor
                s2 += block[row + 2, i] * factor
                s3 += block[row + 3, i] * factor
            out[row, c] = norms[c] - 2 * s0
            out[row + 1, c] = norms[c] - 2 * s1
            out[row + 2, c] = norms[c] - 2 * s2
            out[row + 3, c] = norms[c] - 2 * s3
    for row in range(whole, n):
        for c in range(len(centroids)):
            s0 = np.float32(0)
            for i in range(d):
                s0 += block[row, i] * centroids[c, i]
            out[row, c] = norms[c] - 2 * s0


@njit(cache=True, nogil=True, fastmath=True)
def move_rows(block: Float, old: NDArray[np.int64], new: NDArray[np.int64], sums: NDArray[np.float64]) -> None:
    """Take each row out of the sum of its old cluster (none for -1) and add it to that of its new one."""
    for row in range(len(block)):
        for i in range(block.shape[1]):
            sums[new[row], i] += block[row, i]
        if old[row] >= 0:
            for i in range(block.shape[1]):
                sums[old[row], i] -= block[row, i]


@njit(cache=True, nogil=True, fastmath=True)
def squared_norms(block: Float) -> NDArray[np.float64]:
    """Squared norm of each row, in double precision: the inertia is a small difference of their sum."""
    norms = np.empty(len(block))
    for row in range(len(block)):
        total = 0.0
        for i in range(block.shape[1]):
            total += np.float64(block[row, i]) * np.float64(block[row, i])
        norms[row] = total
    return norms
