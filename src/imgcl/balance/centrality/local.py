"""Centralities that need one look at the graph: degree, core number, and none at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl.graph import Graph


def none(graph: Graph, **_: object) -> NDArray[np.float64]:
    """Every node scores 1: the ablation "ImGCL without centrality".

    Example:
        >>> from imgcl.graph import Graph
        >>> none(Graph.from_edges([[0], [1]], x=np.eye(2))).tolist()
        [1.0, 1.0]
    """
    return np.ones(graph.n_nodes)


def degree(graph: Graph, **_: object) -> NDArray[np.float64]:
    """Number of neighbours.

    Example:
        >>> from imgcl.graph import Graph
        >>> degree(Graph.from_edges([[0, 0], [1, 2]], x=np.eye(3))).tolist()
        [2.0, 1.0, 1.0]
    """
    return graph.degree.astype(np.float64)


def core(graph: Graph, **_: object) -> NDArray[np.float64]:
    """Core number: the largest k such that the node survives when nodes of degree below k are peeled off.

    Example:
        >>> from imgcl.graph import Graph
        >>> triangle_with_tail = Graph.from_edges([[0, 1, 2, 2], [1, 2, 0, 3]], x=np.eye(4))
        >>> core(triangle_with_tail).tolist()
        [2.0, 2.0, 2.0, 1.0]
    """
    return np.asarray(_core_numbers(graph.indptr, graph.indices, graph.degree.copy()), dtype=np.float64)


@njit(cache=True, nogil=True)
def _core_numbers(indptr: NDArray[Any], indices: NDArray[Any], left: NDArray[np.int64]) -> NDArray[np.int64]:
    """Peel in order of remaining degree with a bucket queue, O(edges) (Batagelj and Zaversnik, 2003)."""
    n = len(left)
    bucket = np.zeros(left.max() + 2, dtype=np.int64)  # bucket[d]: where the nodes of remaining degree d begin
    for d in left:
        bucket[d + 1] += 1
    bucket = np.cumsum(bucket)
    queue, position, filled = np.empty(n, np.int64), np.empty(n, np.int64), bucket.copy()
    for node in range(n):
        position[node] = filled[left[node]]
        queue[position[node]] = node
        filled[left[node]] += 1
    for step in range(n):
        node = queue[step]
        for edge in range(indptr[node], indptr[node + 1]):
            other = indices[edge]
            if left[other] > left[node]:
                # swap `other` with the first node of its bucket, then move the bucket's border past it
                first = bucket[left[other]]
                swapped = queue[first]
                queue[position[other]], queue[first] = swapped, other
                position[swapped], position[other] = position[other], first
                bucket[left[other]] = first + 1
                left[other] -= 1
    return left
