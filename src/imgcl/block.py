"""A piece of a graph on a device: what views change, encoders read and a training step is a function of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from imgcl.graph import Graph
from imgcl.sparse import CSR, Features, Operator, features_of


@dataclass(frozen=True, eq=False)
class Block:
    """Structure and features of some nodes.

    Attributes:
        adjacency: symmetric CSR without self-loops.
        features: one row per node.
        column_mask: factor of every feature column, or ``None``. It is folded into the first weight matrix, so a masked
            view never copies the features.
    """

    adjacency: CSR
    features: Features
    column_mask: Tensor | None = None

    @classmethod
    def from_graph(cls, graph: Graph, *, normalise: str = "none", device: Any = "cpu") -> Block:
        """The whole graph as one block."""
        adjacency = CSR.from_numpy(graph.indptr, graph.indices, None, graph.n_nodes, device)
        return cls(adjacency, features_of(graph.x, normalise, device))

    @property
    def n_nodes(self) -> int:
        return self.adjacency.n_rows

    @property
    def device(self) -> torch.device:
        return self.adjacency.device

    def with_adjacency(self, adjacency: CSR) -> Block:
        """The same features on another structure."""
        return replace(self, adjacency=adjacency)

    @cached_property
    def normalised(self) -> Operator:
        """``D^-1/2 (A + I) D^-1/2`` with D the degrees of A + I: the propagation of a GCN."""
        scale = (self.adjacency.row_sums + 1).rsqrt()
        return Operator(self.adjacency, self.adjacency, scale, scale, 1.0)

    @cached_property
    def mean(self) -> Operator:
        """``D^-1 A``: the mean over neighbours (zero for an isolated node)."""
        degree = self.adjacency.row_sums
        return Operator(self.adjacency, self.adjacency, torch.where(degree > 0, 1 / degree, 0.0), None)

    @cached_property
    def total(self) -> Operator:
        """``A``: the sum over neighbours."""
        return Operator(self.adjacency, self.adjacency)

    def project(self, weight: Tensor) -> Tensor:
        """``X @ weight`` with the view's column mask."""
        return project([self], weight)[0]


def project(blocks: list[Block] | tuple[Block, ...], weight: Tensor) -> list[Tensor]:
    """``X @ weight`` for every block; blocks that share their features share one product."""
    results: list[Tensor] = [weight] * len(blocks)
    shared: dict[int, list[int]] = {}
    for position, block in enumerate(blocks):
        shared.setdefault(id(block.features), []).append(position)
    for positions in shared.values():
        masked = [
            weight if (mask := blocks[position].column_mask) is None else weight * mask.to(weight.dtype).unsqueeze(1)
            for position in positions
        ]
        for position, result in zip(positions, blocks[positions[0]].features.products(masked), strict=True):
            results[position] = result
    return results
