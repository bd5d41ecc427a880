"""Betweenness by sampling: on how many shortest paths a node lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core import seeding
from imgcl._core.compiled import njit
from imgcl.graph import Graph

SOURCES = 128


def betweenness(graph: Graph, *, seed: int = 0, sources: int = SOURCES, **_: object) -> NDArray[np.float64]:
    """Share of shortest paths that pass a node, estimated from paths that begin at random nodes.

    Brandes' accumulation from each source, O(sources * edges); with at least as many sources as nodes it is exact. The
    scale is that of all sources, each unordered pair counted once.

    Args:
        graph: the graph.
        seed: seed of the choice of sources.
        sources: how many sources to take.

    Example:
        >>> from imgcl.graph import Graph
        >>> path = Graph.from_edges([[0, 1, 2], [1, 2, 3]], x=np.eye(4))
        >>> betweenness(path).tolist()
        [0.0, 2.0, 2.0, 0.0]
    """
    n = graph.n_nodes
    chosen = seeding.generator(seed, "betweenness").permutation(n)[:sources]
    total = _accumulate(graph.indptr, graph.indices, chosen)
    return np.asarray(total * (n / (2.0 * len(chosen))))


@njit(cache=True, nogil=True)
def _accumulate(indptr: NDArray[Any], indices: NDArray[Any], sources: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum over sources of each node's dependency (Brandes, 2001)."""
    n = len(indptr) - 1
    total, dependency, paths = np.zeros(n), np.empty(n), np.empty(n)
    depth, order = np.empty(n, np.int64), np.empty(n, np.int64)
    for source in sources:
        depth[:] = -1
        paths[:] = 0.0
        dependency[:] = 0.0
        depth[source], paths[source] = 0, 1.0
        order[0] = source
        found, at = 1, 0
        while at < found:  # breadth first: count shortest paths
            node = order[at]
            at += 1
            for edge in range(indptr[node], indptr[node + 1]):
                other = indices[edge]
                if depth[other] < 0:
                    depth[other] = depth[node] + 1
                    order[found] = other
                    found += 1
                if depth[other] == depth[node] + 1:
                    paths[other] += paths[node]
        for at in range(found - 1, 0, -1):  # farthest first: hand dependencies back
            node = order[at]
            share = (1.0 + dependency[node]) / paths[node]
            for edge in range(indptr[node], indptr[node + 1]):
                other = indices[edge]
                if depth[other] == depth[node] - 1:
                    dependency[other] += paths[other] * share
            total[node] += dependency[node]
    return total
