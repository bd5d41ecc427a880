"""A piece of a graph on a device: what views change, encoders read and a training step is a function of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR, ColumnStatistics, DenseFeatures, Features, Operator, features_of
from imgcl._core.sparse.csr import edge_uniform
from imgcl._core.sparse.features import Products
from imgcl._core.sparse.order import permute_rows
from imgcl.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Block:
    """Structure and features of some nodes.

    The features of a view are ``diag(row_mask) X[row_order] diag(column_mask)``. Nothing of that is ever formed: the
    column mask is folded into the first weight matrix, order and row mask act on the product, and all views share X.

    Attributes:
        adjacency: CSR without self-loops, unless ``diffused``; symmetric, unless ``directed``.
        features: X, one row per node.
        column_mask: factor of every feature column, or ``None``.
        row_order: which row of X every node has, or ``None``: its own.
        row_mask: factor of every node's features, or ``None``.
        directed: row i of the adjacency lists the nodes that node i sees, which need not see it.
        diffused: the adjacency is a diffusion matrix, diagonal and weights included: it is propagated as it is.

    Example:
        >>> import numpy as np
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> block.n_nodes, block.features.shape, block.adjacency.n_entries  # every edge in both directions
        (3, (3, 3), 4)
        >>> block.mean @ block.dense_features()  # the mean over neighbours
        tensor([[0.0000, 1.0000, 0.0000],
                [0.5000, 0.0000, 0.5000],
                [0.0000, 1.0000, 0.0000]])
    """

    adjacency: CSR
    features: Features
    column_mask: Tensor | None = None
    row_order: Tensor | None = None
    row_mask: Tensor | None = None
    diffused: bool = False
    directed: bool = False

    @classmethod
    def from_graph(
        cls,
        graph: Graph,
        *,
        normalise: str = "none",
        device: Any = "cpu",
        statistics: ColumnStatistics | None = None,
    ) -> Block:
        """The whole graph as one block; see :func:`imgcl._core.sparse.features_of` for the arguments."""
        lists, directed = graph.messages, graph.received is not None
        adjacency = CSR.from_numpy(lists.indptr, lists.indices, lists.edge_weight, graph.n_nodes, device)
        features = features_of(graph.x, normalise, device, statistics)
        operand = features.for_many_products() if isinstance(features, DenseFeatures) else features
        return cls(adjacency, operand, directed=directed)

    @property
    def n_nodes(self) -> int:
        return self.adjacency.n_rows

    @property
    def device(self) -> torch.device:
        return self.adjacency.device

    @property
    def project_first(self) -> bool:
        """Whether the first layer multiplies features before it propagates them, so that views share the product."""
        return True

    def with_adjacency(self, adjacency: CSR) -> Block:
        """The same features on another structure."""
        return replace(self, adjacency=adjacency)

    def with_row_mask(self, mask: Tensor) -> Block:
        """The features of every node multiplied by its factor, on top of what other views did."""
        return replace(self, row_mask=mask if self.row_mask is None else mask * self.row_mask)

    def with_row_order(self, order: Tensor) -> Block:
        """Node i gets the features that node ``order[i]`` has now."""
        return replace(
            self,
            row_order=order if self.row_order is None else self.row_order[order],
            row_mask=None if self.row_mask is None else self.row_mask[order],
        )

    def steps(self, layers: int, rows: Tensor | None) -> list[tuple[Block, Tensor | None]]:
        """For every layer of an encoder: what it passes messages over, and its output rows.

        Only the last layer is restricted to the wanted rows: the layers below it feed their neighbours too.
        """
        return [*[(self, None)] * (layers - 1), (self, rows)]

    def shuffled(self, generator: torch.Generator) -> Block:
        """The features permuted over the nodes; only the order is drawn, nothing is copied."""
        return self.with_row_order(torch.randperm(self.n_nodes, generator=generator).to(self.device))

    def node_uniform(self, seed: int) -> Tensor:
        """A number in [0, 1) for every node, a hash of (node, seed): a node has the same one in every piece."""
        nodes = self.node_numbers
        return edge_uniform(nodes, nodes, seed)

    @property
    def node_numbers(self) -> Tensor:
        """The number of every row's node in the graph."""
        return torch.arange(self.n_nodes, device=self.device)

    def diffused_by(self, matrix: Callable[[CSR], CSR]) -> Block:
        """The diffusion that ``matrix`` computes from the adjacency, instead of it."""
        self.need_both_ways("a diffusion")
        return replace(self, adjacency=matrix(self.adjacency), diffused=True)

    @cached_property
    def normalised(self) -> Operator:
        """``D^-1/2 (A + I) D^-1/2`` with D the (weighted) degrees of A + I, as in a GCN; a diffusion as it is."""
        if self.diffused:
            return Operator(self.adjacency, self._transposed)
        return Operator.normalised(self.adjacency, self._transposed)

    @cached_property
    def mean(self) -> Operator:
        """``D^-1 A``: the (weighted) mean over neighbours (zero for an isolated node)."""
        degree = self.adjacency.row_sums
        return Operator(self.adjacency, self._transposed, torch.where(degree > 0, 1 / degree, 0.0), None)

    @cached_property
    def total(self) -> Operator:
        """``A``: the sum over neighbours."""
        return Operator(self.adjacency, self._transposed)

    @cached_property
    def _transposed(self) -> CSR:
        return self.adjacency.transpose() if self.directed else self.adjacency

    def need_both_ways(self, what: str) -> None:
        """Refuse a view that is made for symmetric adjacencies.

        Raises:
            InputError: where edges have one direction.
        """
        if self.directed:
            raise InputError(f"{what} needs edges that link both their ends: use `directed_as='both'` or another view")

    def project(self, weight: Tensor) -> Tensor:
        """``X @ weight`` for the features of this view."""
        return projection([self])(weight)[0]

    def dense_features(self, *, masked: bool = True) -> Tensor:
        """The features of this view as a dense matrix, for modules that know no other; the column mask on request."""
        x = self.features.to_dense()
        if self.row_order is not None:
            x = x[self.row_order]
        if masked and self.column_mask is not None:
            x = x * self.column_mask
        return x if self.row_mask is None else x * self.row_mask.unsqueeze(1)


def projection(blocks: Sequence[Block]) -> Callable[[Tensor], list[Tensor]]:
    """A function that gives ``X @ weight`` for every block.

    Blocks that share their features share one product; blocks with the same column mask as well (a graph and its
    corruption) share the result itself.
    """
    found: dict[int, tuple[list[int], Products]] = {}
    for features in {id(block.features): block.features for block in blocks}.values():
        masks = {id(block.column_mask): block.column_mask for block in blocks if block.features is features}
        found[id(features)] = list(masks), features.products(list(masks.values()))

    def project(weight: Tensor) -> list[Tensor]:
        products = {
            (features, mask): product
            for features, (masks, multiply) in found.items()
            for mask, product in zip(masks, multiply(weight), strict=True)
        }
        return [_at_rows(block, products[id(block.features), id(block.column_mask)]) for block in blocks]

    return project


def _at_rows(block: Block, product: Tensor) -> Tensor:
    if block.row_order is not None:
        product = permute_rows(product, block.row_order)
    return product if block.row_mask is None else product * block.row_mask.to(product.dtype).unsqueeze(1)
