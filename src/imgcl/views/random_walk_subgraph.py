"""Random-walk subgraph: what short walks from a few nodes visit."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR
from imgcl.graph.block import Block
from imgcl.views.base import check_probability
from imgcl.views.node_dropping import keep_nodes

Chosen = Callable[[Tensor, Tensor], Tensor]  # the entry each walker takes, from where it stands and a number in [0, 1)


class RandomWalkSubgraph:
    """Keep the subgraph induced by the nodes that random walks visit; the others are dropped as by node dropping.

    Args:
        starts: share of the nodes that a walk starts from (at least one), drawn without repetition.
        length: steps of each walk, which chooses edges by their weights; a walk at an isolated node stays there.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 2], [1, 3]], x=np.eye(4)))
        >>> view = RandomWalkSubgraph(starts=0.25, length=3)(block, torch.Generator().manual_seed(0))
        >>> view.adjacency.n_entries  # one of the two edges
        2
    """

    def __init__(self, starts: float = 0.1, length: int = 10) -> None:
        if length < 0:
            raise InputError(f"length = {length}: a walk takes 0 steps or more")
        self.starts = check_probability(starts, "starts")
        self.length = length

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        n = block.n_nodes
        walkers = torch.randperm(n, generator=generator)[: max(1, round(self.starts * n))]
        moves = torch.rand((self.length, len(walkers)), generator=generator, dtype=torch.float64)
        return keep_nodes(block, _visited(block.adjacency, walkers.to(block.device), moves.to(block.device)))


def _visited(adjacency: CSR, walkers: Tensor, moves: Tensor) -> Tensor:
    visited = torch.zeros(adjacency.n_rows, dtype=torch.bool, device=adjacency.device)
    visited[walkers] = True
    if adjacency.n_entries == 0:
        return visited
    degree = torch.diff(adjacency.indptr)
    last = adjacency.n_entries - 1
    chosen = _uniform(adjacency) if adjacency.weights is None else _by_weight(adjacency, adjacency.weights)
    for move in moves:
        entry = chosen(walkers, move)
        # An isolated node's entry is the next node's, or past the end: it is read and not used.
        walkers = torch.where(degree[walkers] > 0, adjacency.indices[entry.clamp(max=last)].long(), walkers)
        visited[walkers] = True
    return visited


def _uniform(adjacency: CSR) -> Chosen:
    degree = torch.diff(adjacency.indptr)
    return lambda walkers, move: adjacency.indptr[walkers] + (move * degree[walkers]).long()


def _by_weight(adjacency: CSR, weights: Tensor) -> Chosen:
    """The entry whose share of its row's running sum a number falls into."""
    sums = torch.cat([weights.new_zeros(1, dtype=torch.float64), torch.cumsum(weights.double(), 0)])
    before, after = sums[adjacency.indptr[:-1]], sums[adjacency.indptr[1:]]

    def choose(walkers: Tensor, move: Tensor) -> Tensor:
        goal = before[walkers] + move * (after - before)[walkers]
        entry = torch.searchsorted(sums, goal, right=True) - 1
        return torch.minimum(entry, adjacency.indptr[1:][walkers] - 1).clamp(min=0)

    return choose
