"""How central a node is: Eq. 5 draws central nodes of a pseudo-class more often.

A centrality is one function ``(graph, *, damping, seed) -> scores`` (take ``**_`` for what it does not need) and its
name in :data:`CENTRALITIES`. Only the order and the relative distance of the scores matter.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl.balance.centrality.betweenness import betweenness
from imgcl.balance.centrality.local import core, degree, none
from imgcl.balance.centrality.pagerank import pagerank
from imgcl.balance.centrality.spectral import eigenvector, katz
from imgcl.graph import Graph

__all__ = [
    "CENTRALITIES",
    "Centrality",
    "betweenness",
    "centrality",
    "core",
    "degree",
    "eigenvector",
    "katz",
    "none",
    "pagerank",
]


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
            raise InputError(f"unknown centrality {name!r}: choose one of {', '.join(sorted(CENTRALITIES))}")
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
