"""The graph convolutional network (Kipf and Welling) on the fast kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from torch import Tensor

from imgcl._core.sparse.masked import masked_weight
from imgcl.encoders.base import glorot
from imgcl.encoders.layered import Convolution, LayeredEncoder, LayerSettings, fans, multiply, select
from imgcl.graph.block import Block


class GCN(LayeredEncoder):
    """Layers ``S (H W) + b`` with ``S = D^-1/2 (A + I) D^-1/2``; on a diffused block S is the diffusion matrix.

    Args:
        in_features: width of the features.
        widths: output width of every layer.
        **settings: see :class:`imgcl.encoders.layered.LayeredEncoder`.

    Example:
        >>> import numpy as np
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> [tuple(z.shape) for z in GCN(3, [8, 4], norm="batch")([block])]
        [(3, 4)]
    """

    def __init__(self, in_features: int, widths: Sequence[int], **settings: Unpack[LayerSettings]) -> None:
        super().__init__([GCNLayer(a, b) for a, b in fans(in_features, widths)], **settings)


class GCNLayer(Convolution):
    """``S (H W)``."""

    any_order = True

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.out_features = out_features
        self.weight = glorot(in_features, out_features)

    @property
    def input_weight(self) -> Tensor:
        return self.weight

    def propagate(self, block: Block, projected: Tensor, rows: Tensor | None) -> Tensor:
        return select(block.normalised, rows) @ projected

    def forward(self, block: Block, hidden: Tensor, rows: Tensor | None, column_mask: Tensor | None = None) -> Tensor:
        return multiply(select(block.normalised, rows), hidden, masked_weight(self.weight, column_mask))
