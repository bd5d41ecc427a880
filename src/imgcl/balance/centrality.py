"""How central a node is: Eq. 5 draws central nodes of a pseudo-class more often.

PageRank, degree, eigenvector and Katz centrality use edge weights; core number and betweenness do not.

A centrality is one function ``(graph, *, damping, seed) -> scores`` (take ``**_`` for what it does not need) and its
name in :data:`CENTRALITIES`. Only the order and the relative distance of the scores matter.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core import seeding
from imgcl._core.compiled import njit
from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.graph import Graph
from imgcl.graph import centrality as shared

SOURCES = 128  # of the sampled betweenness


def none(graph: Graph, **_: object) -> NDArray[np.float64]:
    """Every node scores 1: the ablation "ImGCL without centrality".

    Example:
        >>> from imgcl.graph import Graph
        >>> none(Graph.from_edges([[0], [1]], x=np.eye(2))).tolist()
        [1.0, 1.0]
    """
    return np.ones(graph.n_nodes)


def degree(graph: Graph, **_: object) -> NDArray[np.float64]:
    """Number of neighbours; the sum of the weights of their edges, where edges have weights.

    Example:
        >>> from imgcl.graph import Graph
        >>> degree(Graph.from_edges([[0, 0], [1, 2]], x=np.eye(3))).tolist()
        [2.0, 1.0, 1.0]
    """
    return graph.weighted_degree


def pagerank(graph: Graph, *, damping: float = 0.85, **_: object) -> NDArray[np.float64]:
    """PageRank: the fixed point of ``sigma = damping * A D^-1 sigma + 1``.

    Isolated nodes keep the score 1. The scale is free, because Eq. 5 takes min-max scores: divided by their sum, the
    scores are those of networkx, dangling nodes included.

    Args:
        graph: the graph.
        damping: how much of its score a node passes on, in [0, 1).

    Example:
        >>> from imgcl.graph import Graph
        >>> star = Graph.from_edges([[0, 0], [1, 2]], x=np.eye(3))
        >>> pagerank(star, damping=0.5).round(6).tolist()
        [2.666667, 1.666667, 1.666667]
    """
    return shared.pagerank(graph.indptr, graph.indices, damping, graph.edge_weight)


def eigenvector(graph: Graph, **_: object) -> NDArray[np.float64]:
    """Leading eigenvector of the adjacency, non-negative, of length one; zero outside the component that leads.

    Example:
        >>> from imgcl.graph import Graph
        >>> path = Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3))
        >>> eigenvector(path).round(4).tolist()
        [0.5, 0.7071, 0.5]
    """
    return shared.leading_eigenvector(graph.adjacency)[1]


def katz(graph: Graph, *, damping: float = 0.85, **_: object) -> NDArray[np.float64]:
    """Katz centrality: the fixed point of ``sigma = (damping / lambda) * A sigma + 1``, lambda the leading eigenvalue.

    Args:
        graph: the graph.
        damping: attenuation as a fraction of the largest one that converges, in [0, 1).

    Example:
        >>> from imgcl.graph import Graph
        >>> pair = Graph.from_edges([[0], [1]], x=np.eye(2))
        >>> katz(pair, damping=0.5).round(6).tolist()
        [2.0, 2.0]
    """
    value = shared.leading_eigenvector(graph.adjacency)[0]
    sigma = np.ones(graph.n_nodes)
    if value <= 0:
        return sigma
    step = graph.adjacency.astype(np.float64) * (damping / value)
    for _step in range(shared.MAX_STEPS):
        before, sigma = sigma, step @ sigma + 1.0
        if np.abs(sigma - before).sum() <= shared.TOLERANCE * sigma.sum():
            break
    return np.asarray(sigma)


def core(graph: Graph, **_: object) -> NDArray[np.float64]:
    """Core number: the largest k such that the node remains when nodes of degree below k are removed again and again.

    Edge weights do not matter: degrees are numbers of neighbours.

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


def betweenness(graph: Graph, *, seed: int = 0, sources: int = SOURCES, **_: object) -> NDArray[np.float64]:
    """Share of shortest paths that pass a node, estimated from paths that begin at random nodes.

    Brandes' accumulation from each source, O(sources * edges); with at least as many sources as nodes it is exact. The
    scale is that of all sources, each unordered pair counted once. Edge weights do not matter: a path is as long as its
    number of edges.

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


class Centrality(Protocol):
    """Scores of all nodes, one finite number each."""

    def __call__(self, graph: Graph, *, damping: float, seed: int) -> NDArray[np.float64]: ...


CENTRALITIES: dict[str, Centrality] = {
    "pagerank": pagerank,
    "degree": degree,
    "eigenvector": eigenvector,
    "katz": katz,
    "core": core,
    "betweenness": betweenness,
    "none": none,
}


def centrality(
    graph: Graph, name: str | ArrayLike = "pagerank", *, damping: float = 0.85, seed: int = 0
) -> NDArray[np.float64]:
    """The scores called ``name``, or the user's own scores, checked.

    Args:
        graph: the graph.
        name: a name of :data:`CENTRALITIES`, or an array with one score per node.
        damping: how much of its score a node passes on (PageRank, Katz).
        seed: seed of the sampled centralities (betweenness).

    Example:
        >>> from imgcl.graph import Graph
        >>> path = Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3))
        >>> centrality(path, "degree").tolist(), centrality(path, [3, 1, 2]).tolist()
        ([1.0, 2.0, 1.0], [3.0, 1.0, 2.0])
    """
    if isinstance(name, str):
        if name not in CENTRALITIES:
            raise InputError(f"unknown centrality {name!r}{did_you_mean(name, sorted(CENTRALITIES))}")
        what, scores = f"centrality {name!r}", CENTRALITIES[name](graph, damping=damping, seed=seed)
    else:
        what, scores = "the given centrality", np.array(name)
        if scores.dtype.kind not in "fiub":
            raise InputError(f"{what} has dtype {scores.dtype}: give one number per node")
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (graph.n_nodes,):
        raise InputError(f"{what} has shape {scores.shape}, expected ({graph.n_nodes},): one score per node")
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise InputError(f"{what} is {scores[bad[0]]} at node {bad[0]}: scores must be finite")
    return scores
