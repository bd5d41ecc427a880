"""Some output rows of a larger block: a layer's share of a sampled neighbourhood, or a range of rows of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from imgcl._core.sparse import CSR, Operator
from imgcl.graph.block import Block


@dataclass(frozen=True, eq=False, kw_only=True)
class Piece(Block):
    """A block whose operators have fewer output rows than input rows.

    Attributes:
        rows: the input row that is each output row's own node.
        degree: degree of every input row in the graph that the piece stands for.
        own_degree: that of every output row.
        weighted: whether edges have weights of their own.
        differentiable: whether a backward pass may follow, which needs the transposed matrices.
    """

    rows: Tensor
    degree: Tensor
    own_degree: Tensor
    weighted: bool = False
    differentiable: bool = True

    @cached_property
    def normalised(self) -> Operator:
        """As of a whole block, with the degrees of the graph that the piece stands for."""
        if self.diffused:
            return self._operator(self.adjacency)
        return self._operator(self.adjacency, (self.own_degree + 1).rsqrt(), (self.degree + 1).rsqrt(), 1.0)

    @cached_property
    def mean(self) -> Operator:
        """The (weighted) mean over the neighbours that are there."""
        listed = self.adjacency
        if not self.weighted:  # a list's entries all weigh the same
            listed = CSR(listed.indptr, listed.indices, None, listed.n_columns)
        count = listed.row_sums
        return self._operator(listed, torch.where(count > 0, 1 / count, 0.0))

    @cached_property
    def total(self) -> Operator:
        """The sum over neighbours (estimated, where they are a sample)."""
        return self._operator(self.adjacency)

    def _operator(
        self, matrix: CSR, left: Tensor | None = None, right: Tensor | None = None, loop: float = 0.0
    ) -> Operator:
        return Operator(matrix, matrix.transpose() if self.differentiable else matrix, left, right, loop, self.rows)
