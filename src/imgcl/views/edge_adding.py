"""Edge adding and edge perturbation: random undirected edges that were not there."""

from __future__ import annotations

import torch
from torch import Tensor

from imgcl._core.sparse import CSR
from imgcl.graph.block import Block
from imgcl.views.base import check_probability, draw_seed


class EdgeAdding:
    """Add new undirected edges between nodes drawn at random: no loop, no duplicate, both directions.

    On a weighted adjacency a new edge gets the mean weight.

    Args:
        p: how many edges to add, as a share of the edges there are (as many as there is room for).

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> EdgeAdding(0.5)(block, torch.Generator()).adjacency.to_scipy().toarray().tolist()
        [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    def __init__(self, p: float) -> None:
        self.p = check_probability(p)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        block.need_both_ways("edge-add")
        adjacency = block.adjacency
        return block.with_adjacency(add_edges(adjacency, round(self.p * adjacency.n_entries / 2), generator))


class EdgePerturbation:
    """Remove each undirected edge with probability p and add as many random ones, as GraphCL does.

    Args:
        p: probability that an edge is removed.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> EdgePerturbation(1.0)(block, torch.Generator()).adjacency.n_entries
        4
    """

    def __init__(self, p: float) -> None:
        self.p = check_probability(p)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        block.need_both_ways("edge-perturb")
        before = block.adjacency
        fewer = before.drop_edges(self.p, draw_seed(generator))
        return block.with_adjacency(add_edges(fewer, (before.n_entries - fewer.n_entries) // 2, generator))


def add_edges(adjacency: CSR, count: int, generator: torch.Generator) -> CSR:
    """The symmetric matrix with ``count`` more undirected edges, or as many as it has room for."""
    n = adjacency.n_rows
    pairs = n * (n - 1) // 2
    # A diffusion matrix may have a diagonal; it takes no room among the pairs.
    key = adjacency.row_index * n + adjacency.indices
    taken = key[adjacency.row_index < adjacency.indices]
    count = min(count, pairs - len(taken))
    if count <= 0:
        return adjacency
    free = pairs - len(taken)
    new = _all_free(n, taken) if 2 * count > free else _draw_free(n, taken, count, free / pairs, generator)
    new = new[torch.randperm(len(new), generator=generator)[:count].to(new.device)]
    low, high = new // n, new % n
    return _merge(adjacency, key, torch.cat([new, high * n + low]).sort().values)


def _all_free(n: int, taken: Tensor) -> Tensor:
    """Every pair without an edge; used only when a third of all pairs are edges or just were, so O(edges)."""
    low, high = torch.triu_indices(n, n, offset=1, device=taken.device)
    key: Tensor = low * n + high
    return key[~torch.isin(key, taken)]


def _draw_free(n: int, taken: Tensor, count: int, share: float, generator: torch.Generator) -> Tensor:
    """At least ``count`` distinct pairs without an edge, by rejection."""
    found = taken.new_empty(0)
    while len(found) < count:
        size = int((count - len(found)) / share * 1.1) + 16
        ends = torch.randint(n, (2, size), generator=generator).to(taken.device)
        key = ends.min(dim=0).values * n + ends.max(dim=0).values
        key = key[(ends[0] != ends[1]) & ~_contains(taken, key)]
        found = torch.unique(torch.cat([found, key]))
    return found


def _contains(ordered: Tensor, values: Tensor) -> Tensor:
    if len(ordered) == 0:
        return torch.zeros_like(values, dtype=torch.bool)
    return ordered[torch.searchsorted(ordered, values).clamp(max=len(ordered) - 1)] == values


def _merge(adjacency: CSR, old: Tensor, new: Tensor) -> CSR:
    """Two sorted lists of entries as one matrix, without sorting the long one again."""
    n = adjacency.n_rows
    at = torch.searchsorted(old, new) + torch.arange(len(new), device=new.device)
    is_old = torch.ones(len(old) + len(new), dtype=torch.bool, device=new.device)
    is_old[at] = False
    indices = adjacency.indices.new_empty(len(is_old))
    indices[is_old] = adjacency.indices
    indices[at] = (new % n).to(indices.dtype)
    added = torch.bincount(new // n, minlength=n)
    indptr = adjacency.indptr + torch.cat([added.new_zeros(1), torch.cumsum(added, 0)])
    if adjacency.weights is None:
        return CSR(indptr, indices, None, adjacency.n_columns)
    usual = float(adjacency.weights.mean()) if len(old) else 1.0
    weights = adjacency.weights.new_full((len(is_old),), usual)
    weights[is_old] = adjacency.weights
    return CSR(indptr, indices, weights, adjacency.n_columns)
