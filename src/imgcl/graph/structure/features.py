"""Structural features: a walk embedding of every node, and the logarithm of its degree.

Chosen on validation nodes of Photo, Cora, PubMed and tolokers with their features removed
(``scripts/choose_structure.py``): embeddings of sampled walks carry more than eigenvectors of the same width, which
small components use up, and 128 coordinates no more than 64.

Coordinates of a walk embedding mean nothing in another graph, not even in the same graph with another seed. The names
of such features begin with ``structure/``, which stores and run directories keep: an encoder that was trained on them
refuses every other graph.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from imgcl._core.capacity import check_memory
from imgcl._core.errors import GraphError, InputError
from imgcl.graph.checks import STRUCTURE
from imgcl.graph.graph import Graph
from imgcl.graph.structure.skipgram import skip_gram
from imgcl.graph.structure.walks import random_walks

Floats = NDArray[np.float32]

DIM = 64
WALKS, LENGTH, WINDOW, NEGATIVES = 10, 40, 10, 1
SHARES = 4  # fixed, so that features do not depend on the number of threads


def structural_features(graph: Graph, dim: int = DIM, seed: int = 0) -> Floats:
    """Features from the edges: skip-gram on random walks, and the logarithm of the degree, of comparable size.

    Time and memory grow linearly with the nodes: about half a millisecond and 4 kB for each. The result depends on the
    seed and not on the number of threads.

    Args:
        graph: the graph; its features are not used.
        dim: width of the walk embedding.
        seed: of walks and training.

    Returns:
        (N, dim + 1); the last column is the standardised log(1 + degree), of weighted degrees where edges have weights.

    Raises:
        GraphError: when the graph has no edges.
        InputError: when it does not fit into memory.

    Example:
        >>> ring = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], n_nodes=4)
        >>> structural_features(ring, dim=8).shape
        (4, 9)
    """
    if not graph.n_edges:
        raise GraphError(f"graph {graph.name!r} has neither features nor edges: there is nothing to learn from")
    if dim < 1:
        raise InputError(f"dim is {dim}: it must be 1 or more")
    check_memory_of_structure(graph.n_nodes, dim)
    walks = random_walks(graph, WALKS, LENGTH, seed=seed)
    z = skip_gram(walks, graph.n_nodes, dim, WINDOW, NEGATIVES, seed=seed, shares=SHARES)
    z /= np.sqrt(np.mean(np.square(z), dtype=np.float64)).astype(np.float32)
    return np.concatenate([z, _log_degree(graph)], axis=1)


def with_structure(graph: Graph, dim: int = DIM, seed: int = 0) -> Graph:
    """The graph with structural features in place of its own, if it has some.

    Args:
        graph: the graph.
        dim: as in :func:`structural_features`.
        seed: likewise.

    Example:
        >>> ring = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], n_nodes=4)
        >>> with_structure(ring, dim=2).feature_names
        ('structure/walk-0', 'structure/walk-1', 'structure/log-degree')
    """
    return replace(graph, x=structural_features(graph, dim, seed), feature_names=structural_names(dim))


def structural_names(dim: int = DIM) -> tuple[str, ...]:
    """Names of the features, by which they are recognised."""
    return (*(f"{STRUCTURE}walk-{i}" for i in range(dim)), f"{STRUCTURE}log-degree")


def _log_degree(graph: Graph) -> Floats:
    values = np.log1p(graph.weighted_degree)
    spread = values.std() or 1.0
    return np.asarray(((values - values.mean()) / spread)[:, None], dtype=np.float32)


def check_memory_of_structure(
    n_nodes: int,
    dim: int = DIM,
    *,
    available: int | None = None,
    remedy: str = "give the nodes features of their own",
) -> None:
    """Refuse structural features of more nodes than there is memory for.

    Args:
        n_nodes: number of nodes.
        dim: width of the walk embedding.
        available: bytes; by default those of the machine.
        remedy: what to do then.
    """
    needed = 4 * n_nodes * (WALKS * LENGTH + 2 * dim * (SHARES + 1))  # walks, and matrices with a copy for every share
    check_memory(f"making structural features for {n_nodes:,} nodes", needed, remedy, available)
