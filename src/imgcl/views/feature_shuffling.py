"""Feature shuffling: the corruption of DGI, MVGRL and InfoGraph."""

from __future__ import annotations

import torch

from imgcl.graph.block import Block


class FeatureShuffling:
    """Permute the features over the nodes; the edges stay.

    Only the order is drawn. When the shuffled block is encoded in one call with the original, its first product is
    that of the original, read in this order.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.arange(3.0).reshape(3, 1)))
        >>> shuffled = FeatureShuffling()(block, torch.Generator().manual_seed(0))
        >>> sorted(shuffled.dense_features().flatten().tolist())
        [0.0, 1.0, 2.0]
    """

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        return block.shuffled(generator)
