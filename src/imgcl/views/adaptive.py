"""Adaptive views of GCA (Zhu et al., 2021): unimportant edges and features are dropped more often.

An importance w becomes a probability through ``s = log w`` and ``min((s_max - s) / (s_max - mean s) * p, cutoff)``,
whose mean is p before the cut. For an edge w is the mean centrality of its ends, for a feature the sum of |x| times the
centrality of the node it occurs at.
"""

from __future__ import annotations

import torch
from torch import Tensor

from imgcl._core.sparse import CSR, Features, SparseFeatures
from imgcl.graph.block import Block
from imgcl.views.base import check_probability, draw_seed
from imgcl.views.centrality import centrality_scores, check_scores
from imgcl.views.feature_masking import mask_columns

FLOOR = 1e-8  # added to scores that can be 0 (eigenvector centrality of a small component), as GCA's code does


class _Adaptive:
    """The settings both views share.

    Args:
        p: mean probability of being dropped.
        scores: centrality of the nodes: ``degree``, ``pagerank`` or ``eigenvector``.
        cutoff: the largest probability (p_tau in GCA).
    """

    def __init__(self, p: float, scores: str = "degree", cutoff: float = 0.7) -> None:
        self.p = check_probability(p)
        self.scores = check_scores(scores)
        self.cutoff = check_probability(cutoff, "cutoff")


class AdaptiveEdgeRemoving(_Adaptive):
    """Drop undirected edges, those between peripheral nodes more often.

    The factors of an adjacency are computed once.

    Args:
        p: mean probability that an edge is dropped (before the cut).
        scores: centrality of the nodes: ``degree``, ``pagerank`` or ``eigenvector``.
        cutoff: no edge is dropped with a larger probability.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 0, 0, 1], [1, 2, 3, 2]], x=np.eye(4)))
        >>> AdaptiveEdgeRemoving(0.3)(block, torch.Generator()).n_nodes
        4
    """

    def probabilities(self, block: Block) -> Tensor:
        """The probability of every CSR entry; both directions of an edge have the same."""
        block.need_both_ways("an adaptive view")
        factors = block.adjacency.derive(("edge factors", self.scores), lambda a: _edge_factors(a, self.scores))
        return (factors * self.p).clamp(max=self.cutoff)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        if self.p == 0:
            return block
        return block.with_adjacency(block.adjacency.drop_edges(self.probabilities(block), draw_seed(generator)))


class AdaptiveFeatureMasking(_Adaptive):
    """Zero feature columns, those of peripheral nodes more often.

    The factors are computed once for an adjacency and its features. GCA takes the centralities of the original graph:
    in a ``Compose`` this view comes before those that change edges or rows.

    Args:
        p: mean probability that a column is zeroed (before the cut).
        scores: centrality of the nodes: ``degree``, ``pagerank`` or ``eigenvector``.
        cutoff: no column is zeroed with a larger probability.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> graph = Graph.from_edges([[0, 0], [1, 2]], x=[[1, 0], [0, 1], [0, 0]])
        >>> view = AdaptiveFeatureMasking(0.3, cutoff=0.5)
        >>> [round(p, 3) for p in view.probabilities(Block.from_graph(graph)).tolist()]
        [0.0, 0.5]
    """

    def probabilities(self, block: Block) -> Tensor:
        """The probability of every column."""
        block.need_both_ways("an adaptive view")
        # Kept with the adjacency together with the features it was made from.
        features, factors = block.adjacency.derive(("feature factors", self.scores), lambda _: self._factors(block))
        if features is not block.features:
            _, factors = self._factors(block)
        return (factors * self.p).clamp(max=self.cutoff)

    def _factors(self, block: Block) -> tuple[Features, Tensor]:
        scores = centrality_scores(block.adjacency, self.scores)
        return block.features, _feature_factors(block.features, scores)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        if self.p == 0:
            return block
        draws = torch.rand(block.features.shape[1], generator=generator, dtype=torch.float32)
        return mask_columns(block, draws >= self.probabilities(block).cpu())


def _edge_factors(adjacency: CSR, scores: str) -> Tensor:
    phi = centrality_scores(adjacency, scores)
    return _factors((phi[adjacency.row_index] + phi[adjacency.indices.long()]) / 2 + _floor(scores))


def _feature_factors(features: Features, phi: Tensor) -> Tensor:
    if not isinstance(features, SparseFeatures):
        dense = features.to_dense()
        return _factors((phi.to(dense.dtype) @ dense.abs()).double())
    transposed = features.operator.transposed
    terms = transposed.values.abs().double() * phi[transposed.indices.long()]
    importance = torch.zeros(transposed.n_rows, dtype=torch.float64, device=phi.device)
    return _factors(importance.index_add_(0, transposed.row_index, terms))


def _floor(scores: str) -> float:
    return FLOOR if scores == "eigenvector" else 0.0


def _factors(importance: Tensor) -> Tensor:
    """``(s_max - s) / (s_max - mean s)``; 1 everywhere when all are equally important."""
    used = importance > 0
    if not bool(used.any()):
        return torch.ones_like(importance, dtype=torch.float32)
    s = importance.log()
    top, mean = s[used].max(), s[used].mean()
    if float(top - mean) < 1e-12:
        return torch.ones_like(importance, dtype=torch.float32)
    # A column that is never used has s = -inf, an infinite factor, and is masked at the cutoff.
    return ((top - s) / (top - mean)).float()
