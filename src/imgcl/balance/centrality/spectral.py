"""Centralities by the spectrum of the adjacency: eigenvector and Katz."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from imgcl.graph import Graph

DENSE_BELOW = 64  # Lanczos needs a few more nodes than the vectors it keeps
TOLERANCE = 1e-10
MAX_STEPS = 10_000


def eigenvector(graph: Graph, **_: object) -> NDArray[np.float64]:
    """Leading eigenvector of the adjacency, non-negative, of length one; zero outside the component that leads.

    Example:
        >>> from imgcl.graph import Graph
        >>> path = Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3))
        >>> eigenvector(path).round(4).tolist()
        [0.5, 0.7071, 0.5]
    """
    return _leading(graph)[1]


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
    value = _leading(graph)[0]
    sigma = np.ones(graph.n_nodes)
    if value <= 0:
        return sigma
    step = _adjacency(graph) * (damping / value)
    for _step in range(MAX_STEPS):
        before, sigma = sigma, step @ sigma + 1.0
        if np.abs(sigma - before).sum() <= TOLERANCE * sigma.sum():
            break
    return np.asarray(sigma)


def _leading(graph: Graph) -> tuple[float, NDArray[np.float64]]:
    """Largest eigenvalue of the adjacency and its eigenvector (Lanczos from a fixed start, so the same every time)."""
    n = graph.n_nodes
    if graph.n_edges == 0:
        return 0.0, np.ones(n) / np.sqrt(n)
    if n < DENSE_BELOW:
        values, vectors = np.linalg.eigh(_adjacency(graph).toarray())
    else:
        values, vectors = eigsh(_adjacency(graph), k=1, which="LA", v0=graph.degree + 1.0, tol=TOLERANCE)
    leading = vectors[:, -1]
    return float(values[-1]), np.maximum(leading * np.sign(leading.sum()), 0.0)


def _adjacency(graph: Graph) -> sp.csr_array:
    return graph.adjacency.astype(np.float64)
