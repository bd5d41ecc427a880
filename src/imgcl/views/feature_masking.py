"""Feature masking: whole columns are set to zero, for all nodes at once."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from imgcl.graph.block import Block
from imgcl.views.base import check_probability, draw_kept


class FeatureMasking:
    """Zero each feature column with probability p.

    Args:
        p: probability that a column is zeroed.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0], [1]], x=np.ones((2, 3))))
        >>> FeatureMasking(1.0)(block, torch.Generator()).dense_features().sum().item()
        0.0
    """

    def __init__(self, p: float) -> None:
        self.p = check_probability(p)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        if self.p == 0:
            return block
        return mask_columns(block, draw_kept(block.features.shape[1], self.p, generator))


def mask_columns(block: Block, kept: Tensor) -> Block:
    """The block with the other columns zeroed, on top of what is masked already."""
    mask = kept.float().to(block.device)
    return replace(block, column_mask=mask if block.column_mask is None else mask * block.column_mask)
