"""PageRank, the centrality of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl.graph import Graph

TOLERANCE = 1e-10
MAX_STEPS = 10_000  # 0.998 still converges; a damping nearer to 1 has no useful fixed point in float64


def pagerank(graph: Graph, *, damping: float = 0.85, tolerance: float = TOLERANCE, **_: object) -> NDArray[np.float64]:
    """PageRank: the fixed point of ``sigma = damping * A D^-1 sigma + 1``.

    Isolated nodes keep the score 1. The scale is free, because Eq. 5 takes min-max scores: divided by their sum, the
    scores are those of networkx, dangling nodes included.

    Args:
        graph: the graph.
        damping: how much of its score a node passes on, in [0, 1).
        tolerance: stop when a step changes all scores together by less than this share of their sum.

    Example:
        >>> from imgcl.graph import Graph
        >>> star = Graph.from_edges([[0, 0], [1, 2]], x=np.eye(3))
        >>> pagerank(star, damping=0.5).round(6).tolist()
        [2.666667, 1.666667, 1.666667]
    """
    return np.asarray(_power_iteration(graph.indptr, graph.indices, damping, tolerance, MAX_STEPS))


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
