"""Edge removing: each undirected edge is dropped with probability p."""

from __future__ import annotations

import torch

from imgcl.graph.block import Block
from imgcl.views.base import check_probability, draw_seed


class EdgeRemoving:
    """Drop undirected edges independently; the normalisation follows the edges that stay.

    Args:
        p: probability that an edge is dropped.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> EdgeRemoving(1.0)(block, torch.Generator()).adjacency.n_entries
        0
    """

    def __init__(self, p: float) -> None:
        self.p = check_probability(p)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        if self.p == 0:
            return block
        return block.with_adjacency(block.adjacency.drop_edges(self.p, draw_seed(generator)))
