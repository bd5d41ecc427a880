"""How well a labelling agrees with the edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from imgcl.graph import Graph


def modularity(graph: Graph, labels: NDArray[np.int64], n_clusters: int) -> float:
    """Share of edges inside clusters, less its expectation for random edges of the same degrees.

    Example:
        >>> two_pairs = Graph.from_edges([[0, 2], [1, 3]], x=np.eye(4))
        >>> modularity(two_pairs, np.array([0, 0, 1, 1]), 2)
        0.5
    """
    shares = edge_shares(graph, labels, n_clusters)
    return float(np.trace(shares) - (shares.sum(axis=1) ** 2).sum())


def edge_shares(graph: Graph, labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.float64]:
    """Share of all edge ends between each two clusters, (K, K)."""
    n = graph.n_nodes
    member = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
    ends = (member.T @ (graph.adjacency @ member)).toarray()
    return np.asarray(ends / max(1.0, ends.sum()))
