"""GraphSAGE with the mean aggregator (Hamilton et al.) on the fast kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import torch
from torch import Tensor

from imgcl._core.sparse.masked import masked_weight
from imgcl.encoders.base import glorot
from imgcl.encoders.layered import Convolution, LayeredEncoder, LayerSettings, at_rows, fans, multiply, select
from imgcl.graph.block import Block


class GraphSAGE(LayeredEncoder):
    """Layers ``mean over neighbours (H) W + H V + b``; an isolated node has mean 0.

    Args:
        in_features: width of the features.
        widths: output width of every layer.
        **settings: see :class:`imgcl.encoders.layered.LayeredEncoder`.

    Example:
        >>> import numpy as np
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> [tuple(z.shape) for z in GraphSAGE(3, [8, 4])([block])]
        [(3, 4)]
    """

    def __init__(self, in_features: int, widths: Sequence[int], **settings: Unpack[LayerSettings]) -> None:
        super().__init__([SAGELayer(a, b) for a, b in fans(in_features, widths)], **settings)


class SAGELayer(Convolution):
    """``M (H W) + H V``."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.out_features = out_features
        self.neighbour_weight = glorot(in_features, out_features)
        self.own_weight = glorot(in_features, out_features)

    @property
    def input_weight(self) -> Tensor:
        return torch.cat([self.neighbour_weight, self.own_weight], dim=1)

    def propagate(self, block: Block, projected: Tensor, rows: Tensor | None) -> Tensor:
        neighbours, own = projected[:, : self.out_features], projected[:, self.out_features :]
        return select(block.mean, rows) @ neighbours + at_rows(own, rows)

    def forward(self, block: Block, hidden: Tensor, rows: Tensor | None, column_mask: Tensor | None = None) -> Tensor:
        neighbours, own = masked_weight(self.neighbour_weight, column_mask), masked_weight(self.own_weight, column_mask)
        return multiply(select(block.mean, rows), hidden, neighbours) + at_rows(hidden, rows) @ own
