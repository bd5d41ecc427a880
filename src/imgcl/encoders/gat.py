"""The graph attention network (Velickovic et al.) on its own kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from torch import Tensor

from imgcl._core.errors import InputError
from imgcl.encoders.attention import attend
from imgcl.encoders.base import glorot
from imgcl.encoders.layered import Convolution, LayeredEncoder, LayerSettings, at_rows, fans, select
from imgcl.graph.block import Block


class GAT(LayeredEncoder):
    """Layers of multi-head attention over a node's neighbours and itself, heads side by side.

    On a weighted adjacency an edge's share is also proportional to its weight; a diffused block brings its own
    diagonal.

    Args:
        in_features: width of the features.
        widths: output width of every layer, all heads together.
        heads: number of heads; divides every width.
        slope: of the leaky ReLU of the attention scores.
        **settings: see :class:`imgcl.encoders.layered.LayeredEncoder`.

    Example:
        >>> import numpy as np
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> [tuple(z.shape) for z in GAT(3, [8, 4], heads=2)([block])]
        [(3, 4)]
    """

    def __init__(
        self,
        in_features: int,
        widths: Sequence[int],
        *,
        heads: int = 4,
        slope: float = 0.2,
        **settings: Unpack[LayerSettings],
    ) -> None:
        uneven = [width for width in widths if heads < 1 or width % heads]
        if uneven:
            raise InputError(f"heads = {heads} does not divide the width {uneven[0]}: every head has the same width")
        super().__init__([GATLayer(a, b, heads, slope) for a, b in fans(in_features, widths)], **settings)


class GATLayer(Convolution):
    """``softmax over neighbours j (leaky(s . h_j + t . h_i)) (H W)`` per head."""

    reads_neighbours_only = False  # the scores of all sources are computed at once

    def __init__(self, in_features: int, out_features: int, heads: int, slope: float) -> None:
        super().__init__()
        self.out_features, self.heads, self.slope = out_features, heads, slope
        self.weight = glorot(in_features, out_features)
        self.source = glorot(heads, out_features // heads)
        self.target = glorot(heads, out_features // heads)

    @property
    def input_weight(self) -> Tensor:
        return self.weight

    def propagate(self, block: Block, projected: Tensor, rows: Tensor | None) -> Tensor:
        operator = select(replace(block.total, loop=0.0 if block.diffused else 1.0), rows)
        sources = self._scores(projected, self.source)
        targets = self._scores(at_rows(projected, rows), self.target)
        return attend(operator, projected, sources, targets, self.slope)

    def _scores(self, projected: Tensor, vectors: Tensor) -> Tensor:
        return (projected.reshape(len(projected), self.heads, -1) * vectors).sum(dim=2)
