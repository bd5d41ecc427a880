"""Baselines that give an embedding: to be evaluated by the same probe as the contrastive methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.seeding import generator
from imgcl._core.torch_settings import usual_torch
from imgcl.evaluation.labels import normalise_rows
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.graph.reduction import WIDTH, Reduction
from imgcl.graph.structure.skipgram import skip_gram
from imgcl.graph.structure.walks import random_walks

Floats = NDArray[np.float32]

OVERSAMPLING = 16  # extra directions of the randomised PCA
POWER_ITERATIONS = 4


def raw_features(graph: Graph, seed: int = 0) -> Floats:
    """The features themselves: what is there before any use of the graph.

    Example:
        >>> graph = Graph.from_edges([[0], [1]], x=np.array([[1.0, 2.0], [0.0, 1.0]]))
        >>> raw_features(graph).tolist()
        [[1.0, 2.0], [0.0, 1.0]]
    """
    x = graph.x if isinstance(graph.x, np.ndarray) else graph.x.toarray()
    return np.asarray(x, dtype=np.float32)


@usual_torch()
def propagated_features(graph: Graph, dim: int = 128, steps: int = 2, seed: int = 0) -> Floats:
    """S^k X, reduced to ``dim`` principal components: smoothing over the graph, and no training at all.

    S = D^-1/2 (A + I) D^-1/2 is what a GCN propagates with. The honest yardstick for what contrastive learning adds.

    Args:
        graph: the graph.
        dim: components kept (fewer when the graph has fewer nodes or features).
        steps: k.
        seed: of the randomised decomposition.
    """
    if steps < 0 or dim < 1:
        raise InputError(f"steps is {steps} and dim is {dim}: steps must be 0 or more, dim 1 or more")
    propagate = Block.from_graph(graph).normalised
    x = torch.from_numpy(raw_features(graph).copy())
    for _ in range(steps):
        x = propagate @ x
    return principal_components(x.numpy(), dim, seed)


def own_features(graph: Graph, width: int = WIDTH, seed: int = 0) -> Floats:
    """Own features in at most ``width`` columns: the block ``own`` of a run, see :class:`imgcl.graph.Reduction`.

    Args:
        graph: the graph.
        width: columns kept; features with no more are standardised, others reduced to singular vectors.
        seed: of the randomised decomposition.

    Example:
        >>> own_features(Graph.from_edges([[0, 1], [1, 2]], x=[[4.0], [5.0], [6.0]])).tolist()
        [[-1.0], [0.0], [1.0]]
    """
    return Reduction.fit(graph, width=width, random_state=seed).apply(graph)


def neighbour_features(graph: Graph, width: int = WIDTH, hops: int = 2, seed: int = 0) -> Floats:
    """S^hops X in at most ``width`` columns: the block ``neighbours`` of a run, as wide as :func:`own_features`.

    ``propagated_features`` has centred components, which the paper's tables were made with; these are not centred.

    Args:
        graph: the graph.
        width: columns kept.
        hops: how often the features are propagated.
        seed: of the randomised decomposition.

    Example:
        >>> graph = Graph.from_edges([[0], [1]], x=[[1.0], [3.0]])
        >>> bool(np.allclose(neighbour_features(graph), 0, atol=1e-6))  # both nodes have the mean of both
        True
    """
    return Reduction.fit(graph, width=width, hops=hops, random_state=seed).apply(graph)


def deepwalk(
    graph: Graph,
    dim: int = 128,
    seed: int = 0,
    *,
    walks_per_node: int = 10,
    length: int = 80,
    window: int = 5,
    negatives: int = 5,
    epochs: int = 1,
) -> Floats:
    """DeepWalk (Perozzi et al. 2014): skip-gram on uniform random walks; the common setting.

    Args:
        graph: the graph; features are not used.
        dim: width of the embedding.
        seed: of walks and training.
        walks_per_node: walks that start at each node.
        length: nodes in a walk.
        window: see :func:`imgcl.graph.structure.skipgram.skip_gram`.
        negatives: likewise.
        epochs: likewise.
    """
    walks = random_walks(graph, walks_per_node, length, seed=seed)
    return skip_gram(walks, graph.n_nodes, dim, window, negatives, epochs, seed)


def node2vec(
    graph: Graph,
    dim: int = 128,
    seed: int = 0,
    *,
    p: float = 1.0,
    q: float = 1.0,
    walks_per_node: int = 10,
    length: int = 20,
    window: int = 10,
    negatives: int = 1,
    epochs: int = 5,
) -> Floats:
    """node2vec (Grover and Leskovec 2016): skip-gram on walks with return parameter p and in-out parameter q.

    The defaults are those of torch_geometric's example (walks of 20 nodes, context 10, one negative, p = q = 1); five
    passes over the walks, and word2vec's learning rate and shrinking window, are ours.

    Args:
        graph: the graph; features are not used.
        dim: width of the embedding.
        seed: of walks and training.
        p: see :func:`imgcl.graph.structure.walks.random_walks`.
        q: likewise.
        walks_per_node: walks that start at each node.
        length: nodes in a walk.
        window: see :func:`imgcl.graph.structure.skipgram.skip_gram`.
        negatives: likewise.
        epochs: likewise.
    """
    walks = random_walks(graph, walks_per_node, length, p, q, seed)
    return skip_gram(walks, graph.n_nodes, dim, window, negatives, epochs, seed)


def deepwalk_features(graph: Graph, dim: int = 128, seed: int = 0, **options: Any) -> Floats:
    """DeepWalk next to the raw features, each with rows of length 1 so that neither drowns the other.

    Args:
        graph: the graph.
        dim: width of the DeepWalk part.
        seed: of walks and training.
        **options: of :func:`deepwalk`.
    """
    return np.concatenate(
        [normalise_rows(deepwalk(graph, dim, seed, **options)), normalise_rows(raw_features(graph))], axis=1
    )


def principal_components(x: Floats, dim: int, seed: int = 0) -> Floats:
    """The first principal components of the rows, by randomised subspace iteration (Halko et al. 2011).

    Example:
        >>> line = np.arange(5, dtype=np.float32)[:, None] * np.array([[3.0, 4.0]], dtype=np.float32)
        >>> np.abs(principal_components(line, 1)).round(3).ravel().tolist()
        [10.0, 5.0, 0.0, 5.0, 10.0]
    """
    centred = x - x.mean(axis=0, dtype=np.float64).astype(np.float32)
    rank = min(dim, *x.shape)
    width = min(rank + OVERSAMPLING, *x.shape)
    basis = generator(seed, "principal components").standard_normal((x.shape[1], width), dtype=np.float32)
    for _ in range(POWER_ITERATIONS):
        basis = np.linalg.qr(centred.T @ np.linalg.qr(centred @ basis)[0])[0]
    left, values, _ = np.linalg.svd(centred @ basis, full_matrices=False)
    components = left[:, :rank] * values[:rank]
    # a component's sign is arbitrary: fix it, so that equal inputs give equal outputs on every machine
    signs = np.sign(components[np.abs(components).argmax(axis=0), np.arange(rank)])
    return np.asarray(components * np.where(signs == 0, 1, signs), dtype=np.float32)
