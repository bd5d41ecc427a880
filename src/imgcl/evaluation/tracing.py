"""From the columns of a block back to the features they are made of: what each feature adds to a linear score.

A block has rows ``z / |z|``, or ``c z`` where it was scaled as a whole. Narrow features are standardised, a column
each, so a column's share is a feature's. Wide ones are projected, ``z = x V``: as ``x V w = x (V w)``, feature j adds
``x_j (V w)_j / |z|``, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.torch_settings import usual_torch
from imgcl.evaluation.blocks import scaled_rows
from imgcl.graph import Graph, Reduction
from imgcl.graph.reduction import propagated

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]
NUMBERS_AT_ONCE = 1 << 24  # of dense features
NODES_AT_ONCE = 16  # whose neighbourhoods are held, a number for every node of the graph each


@dataclass(frozen=True, eq=False)
class FeatureSource:
    """The features that a block of an embedding is made of.

    Attributes:
        reduction: what made the block.
        names: of the features; by default they are counted.
        graph: the graph whose nodes are the block's rows; only wide features need it.
    """

    reduction: Reduction
    names: Sequence[str] | None = None
    graph: Graph | None = None

    def __post_init__(self) -> None:
        if self.reduction.components is not None and self.graph is None:
            raise InputError("`graph` is missing: features that were projected are found through their graph alone")

    def name(self, feature: int) -> str:
        """What a feature is called."""
        return f"feature {feature}" if self.names is None else str(self.names[feature])

    @usual_torch()
    def contributions(
        self, block: NDArray[np.float32], nodes: Nodes, weights: Floats, scale: float | None = None
    ) -> Floats:
        """What every feature adds to the linear score of some nodes, beyond its mean over all nodes.

        Args:
            block: (N, width), as :attr:`reduction` made it.
            nodes: whose score it is.
            weights: (width,) coefficients of the score for scaled rows.
            scale: of the block; by default its rows have length 1.

        Returns:
            (nodes, features); a node's sum is ``weights @ (row - mean row)``.

        Example:
            >>> graph = Graph.from_edges([[0], [1]], x=[[1.0, 2.0], [3.0, 1.0]])
            >>> reduction = Reduction.fit(graph)
            >>> source = FeatureSource(reduction)
            >>> source.contributions(reduction.apply(graph), np.array([0]), np.array([2.0, 0.0])).round(3).tolist()
            [[-1.414, 0.0]]
        """
        if self.graph is None or self.reduction.components is None:
            rows = scaled_rows(block, scale)
            return np.asarray((rows[nodes] - rows.mean(axis=0, dtype=np.float64)) * weights)
        inverse = _inverse_lengths(block) if scale is None else np.full(len(block), scale)
        parts = [nodes[start : start + NODES_AT_ONCE] for start in range(0, len(nodes), NODES_AT_ONCE)]
        each = [_features_of(self.graph, part, self.reduction.hops) * inverse[part, None] for part in parts]
        per_feature = self.reduction.components.astype(np.float64) @ weights
        mean = _weighted_mean(self.graph, inverse, self.reduction.hops)
        return np.asarray((np.concatenate(each) - mean) * per_feature)


def _inverse_lengths(block: NDArray[np.float32]) -> Floats:
    """1 / |z| of every row; 0 for a row of zeros, which stays one."""
    length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
    return np.asarray((length > 0) / np.where(length > 0, length, 1))


def _features_of(graph: Graph, nodes: Nodes, hops: int) -> Floats:
    """Rows of ``S^hops X`` for some nodes."""
    chosen = np.zeros((graph.n_nodes, len(nodes)), dtype=np.float32)
    chosen[nodes, np.arange(len(nodes))] = 1
    return _feature_sums(graph, propagated(graph, chosen, hops, None, transposed=True))


def _weighted_mean(graph: Graph, weights: Floats, hops: int) -> Floats:
    """The mean over nodes of their rows of ``S^hops X``, each times its weight."""
    scale = weights.max(initial=0) or 1.0  # weights are as large as features are small
    relative = (weights / scale).astype(np.float32)[:, None]
    spread = propagated(graph, relative, hops, None, transposed=True)
    return np.asarray(_feature_sums(graph, spread)[0] * scale / graph.n_nodes)


def _feature_sums(graph: Graph, weights: NDArray[np.float32]) -> Floats:
    """``weights^T X`` by blocks of rows; rows without a weight are not read."""
    used = np.flatnonzero(weights.any(axis=1))
    out = np.zeros((weights.shape[1], graph.n_features))
    step = max(1, NUMBERS_AT_ONCE // graph.n_features)
    for start in range(0, len(used), step):
        rows = used[start : start + step]
        out += (graph.x[rows].T @ weights[rows].astype(np.float64)).T
    return out
