"""Node dropping: some nodes lose their edges and their features."""

from __future__ import annotations

import torch
from torch import Tensor

from imgcl.graph.block import Block
from imgcl.views.base import check_probability, draw_kept


class NodeDropping:
    """Drop each node with probability p; its row stays, so that the rows of two views are the same nodes.

    Args:
        p: probability that a node is dropped.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> dropped = NodeDropping(1.0)(block, torch.Generator())
        >>> dropped.n_nodes, dropped.adjacency.n_entries
        (3, 0)
    """

    def __init__(self, p: float) -> None:
        self.p = check_probability(p)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        if self.p == 0:
            return block
        return keep_nodes(block, draw_kept(block.n_nodes, self.p, generator).to(block.device))


def keep_nodes(block: Block, kept: Tensor) -> Block:
    """The block without the edges and features of the nodes where ``kept`` is false."""
    adjacency = block.adjacency
    entries = kept[adjacency.row_index] & kept[adjacency.indices.long()]
    return block.with_adjacency(adjacency.keep_entries(entries)).with_row_mask(kept.float())
