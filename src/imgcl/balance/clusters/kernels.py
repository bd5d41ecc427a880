"""Inner loops of k-means on one dense float32 block.

A BLAS does these products no faster, because K is small, and its threads wait for each other by spinning, which on a
busy machine costs many times the work. These loops release the interpreter lock, so blocks can run side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit

Float = NDArray[np.float32]


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
