"""PageRank and the leading eigenvector of an adjacency, for balanced selection and adaptive views."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from imgcl._core.compiled import njit

TOLERANCE = 1e-10  # stop when a step changes all scores together by less than this share of their sum
MAX_STEPS = 10_000  # 0.998 still converges; a damping nearer to 1 has no useful fixed point in float64
DENSE_BELOW = 64  # Lanczos needs a few more nodes than the vectors it keeps


def pagerank(
    indptr: NDArray[Any], indices: NDArray[Any], damping: float = 0.85, weights: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """The fixed point of ``sigma = damping * A D^-1 sigma + 1``; an isolated node keeps the score 1.

    Args:
        indptr: where the neighbours of every node begin.
        indices: the neighbours of all nodes.
        damping: how much of its score a node passes on, in [0, 1).
        weights: of all entries, the same in both directions of an edge; by default all weigh 1.

    Example:
        >>> pagerank(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0]), damping=0.5).round(6).tolist()
        [2.666667, 1.666667, 1.666667]
    """
    if weights is not None:
        return np.asarray(_weighted_iteration(indptr, indices, weights, damping, TOLERANCE, MAX_STEPS))
    return np.asarray(_power_iteration(indptr, indices, damping, TOLERANCE, MAX_STEPS))


@njit(cache=True, nogil=True, fastmath=True)
def _power_iteration(
    indptr: NDArray[Any], indices: NDArray[Any], damping: float, tolerance: float, max_steps: int
) -> NDArray[np.float64]:
    """Power iteration in place: a node's new score is passed on at once, which takes about half the steps."""
    n = len(indptr) - 1
    sigma, passed_on = np.ones(n), np.empty(n)
    for node in range(n):
        passed_on[node] = damping / max(1, indptr[node + 1] - indptr[node])
    for _ in range(max_steps):
        change, total = 0.0, 0.0
        for node in range(n):
            score = 1.0
            for edge in range(indptr[node], indptr[node + 1]):
                score += passed_on[indices[edge]]
            change += abs(score - sigma[node])
            total += score
            sigma[node] = score
            passed_on[node] = damping * score / max(1, indptr[node + 1] - indptr[node])
        if change <= tolerance * total:
            break
    return sigma


@njit(cache=True, nogil=True, fastmath=True)
def _weighted_iteration(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    damping: float,
    tolerance: float,
    max_steps: int,
) -> NDArray[np.float64]:
    """The same, where a node shares its score among its neighbours by weight."""
    n = len(indptr) - 1
    sigma, strength = np.ones(n), np.zeros(n)
    for node in range(n):
        for edge in range(indptr[node], indptr[node + 1]):
            strength[node] += weights[edge]
        if strength[node] == 0:
            strength[node] = 1.0
    passed_on = damping / strength
    for _ in range(max_steps):
        change, total = 0.0, 0.0
        for node in range(n):
            score = 1.0
            for edge in range(indptr[node], indptr[node + 1]):
                score += weights[edge] * passed_on[indices[edge]]
            change += abs(score - sigma[node])
            total += score
            sigma[node] = score
            passed_on[node] = damping * score / strength[node]
        if change <= tolerance * total:
            break
    return sigma


def leading_eigenvector(adjacency: sp.csr_array) -> tuple[float, NDArray[np.float64]]:
    """Largest eigenvalue of a symmetric adjacency and its eigenvector: non-negative, of length one.

    Lanczos from a fixed start, so the same every time. Without edges the eigenvector is constant.

    Example:
        >>> value, vector = leading_eigenvector(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
        >>> round(value, 6), vector.round(4).tolist()
        (1.0, [0.7071, 0.7071])
    """
    n, matrix = adjacency.shape[0], adjacency.astype(np.float64)
    if matrix.nnz == 0:
        return 0.0, np.ones(n) / np.sqrt(n)
    if n < DENSE_BELOW:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        start = np.diff(adjacency.indptr) + 1.0
        values, vectors = eigsh(matrix, k=1, which="LA", v0=start, tol=TOLERANCE)
    leading = vectors[:, -1]
    return float(values[-1]), np.maximum(leading * np.sign(leading.sum()), 0.0)
