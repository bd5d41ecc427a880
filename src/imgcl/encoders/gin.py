"""The graph isomorphism network (Xu et al.) on the fast kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import torch
from torch import Tensor, nn

from imgcl._core.sparse.masked import masked_weight
from imgcl.encoders.base import glorot
from imgcl.encoders.layered import Convolution, LayeredEncoder, LayerSettings, at_rows, fans, multiply, select
from imgcl.graph.block import Block


class GIN(LayeredEncoder):
    """Layers ``MLP((1 + eps) H + sum over neighbours (H))`` with the MLP Linear-ReLU-Linear.

    InfoGraph's encoder is ``GIN(f, widths, activation="relu", norm="batch", norm_first=False, jumping="cat")``.

    Args:
        in_features: width of the features.
        widths: output width of every layer; the MLP's hidden layer has the same.
        eps: weight of a node's own row, less 1.
        learn_eps: whether eps is a parameter of every layer.
        **settings: see :class:`imgcl.encoders.layered.LayeredEncoder`.

    Example:
        >>> import numpy as np
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> [tuple(z.shape) for z in GIN(3, [8, 4], jumping="cat")([block])]
        [(3, 12)]
    """

    def __init__(
        self,
        in_features: int,
        widths: Sequence[int],
        *,
        eps: float = 0.0,
        learn_eps: bool = False,
        **settings: Unpack[LayerSettings],
    ) -> None:
        super().__init__([GINLayer(a, b, eps, learn_eps) for a, b in fans(in_features, widths)], **settings)


class GINLayer(Convolution):
    """``relu((A + (1 + eps) I) (H W) + b) V``; the bias after V belongs to what follows the layer."""

    def __init__(self, in_features: int, out_features: int, eps: float, learn_eps: bool) -> None:
        super().__init__()
        self.out_features = out_features
        self.eps = nn.Parameter(torch.tensor(float(eps), dtype=torch.float32)) if learn_eps else float(eps)
        self.weight = glorot(in_features, out_features)
        self.bias = nn.Parameter(torch.zeros(out_features, dtype=torch.float32))
        self.out_weight = glorot(out_features, out_features)

    @property
    def input_weight(self) -> Tensor:
        return self.weight

    def propagate(self, block: Block, projected: Tensor, rows: Tensor | None) -> Tensor:
        if isinstance(self.eps, float):
            return self._mlp(select(replace(block.total, loop=1 + self.eps), rows) @ projected)
        return self._mlp(select(block.total, rows) @ projected + (1 + self.eps) * at_rows(projected, rows))

    def forward(self, block: Block, hidden: Tensor, rows: Tensor | None, column_mask: Tensor | None = None) -> Tensor:
        if isinstance(self.eps, float):
            operator = select(replace(block.total, loop=1 + self.eps), rows)
            return self._mlp(multiply(operator, hidden, masked_weight(self.weight, column_mask)))
        return super().forward(block, hidden, rows, column_mask)

    def _mlp(self, summed: Tensor) -> Tensor:
        return torch.relu(summed + self.bias) @ self.out_weight
