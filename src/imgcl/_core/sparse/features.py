"""Node features as an operand: dense, binary or sparse, multiplied by weights with a backward for the weights alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from imgcl._core.sparse.columns import BinaryColumns, DenseColumns, binary_columns
from imgcl._core.sparse.csr import CSR, wrap_array
from imgcl._core.sparse.masked import MaskedProducts, masked_weight
from imgcl._core.sparse.operator import Operator

GraphFeatures = np.ndarray | sp.csr_array  # as a Graph keeps them
MANY = 4  # one row in so many
Products = Callable[[Tensor], list[Tensor]]  # of a weight W, one for every mask; W alone receives a gradient


@dataclass(frozen=True, eq=False)
class DenseFeatures:
    """Features as a dense matrix."""

    matrix: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    def products(self, masks: Sequence[Tensor | None]) -> Products:
        """``X diag(mask) W`` for every mask: as one product and small corrections."""
        return MaskedProducts(DenseColumns(self.matrix), masks)

    def to_dense(self) -> Tensor:
        return self.matrix

    def take_rows(self, rows: Tensor) -> DenseFeatures:
        """The features of these nodes."""
        return DenseFeatures(self.matrix.index_select(0, rows))

    @cached_property
    def row_norms(self) -> Tensor:
        """Euclidean length of every node's features."""
        return torch.linalg.vector_norm(self.matrix, dim=1)  # type: ignore[no-any-return]

    def for_many_products(self) -> DenseFeatures | BinaryFeatures:
        """The same features in the storage that is multiplied fastest; worth its cost where they are used again.

        Zeros and ones become bits; other numbers are stored column after column, so that the columns that a mask drops
        are read without gaps.
        """
        columns = binary_columns(self.matrix)
        return DenseFeatures(self.matrix.T.contiguous().T) if columns is None else BinaryFeatures(columns)


@dataclass(frozen=True, eq=False)
class BinaryFeatures:
    """Features that are zeros and ones times a factor for every node, as bits."""

    columns: BinaryColumns

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns.shape

    def products(self, masks: Sequence[Tensor | None]) -> Products:
        """``X diag(mask) W`` for every mask: by looking up eight columns at a time."""
        return MaskedProducts(self.columns, masks)

    def to_dense(self) -> Tensor:
        return self._dense

    @cached_property
    def row_norms(self) -> Tensor:
        """Euclidean length of every node's features."""
        return self.columns.row_norms()

    @cached_property
    def _dense(self) -> Tensor:
        """Made once, for views and modules that know no bits and ask in every epoch."""
        return self.columns.to_dense()


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """Features as CSR, with the transpose kept for the backward of the weights."""

    operator: Operator

    @property
    def shape(self) -> tuple[int, int]:
        return self.operator.matrix.n_rows, self.operator.matrix.n_columns

    def products(self, masks: Sequence[Tensor | None]) -> Products:
        """``X diag(mask) W`` for every mask; only entries that are not zero count."""
        return lambda weight: [self.operator @ masked_weight(weight, mask) for mask in masks]

    def take_rows(self, rows: Tensor) -> SparseFeatures:
        """The features of these (distinct) nodes."""
        return SparseFeatures(self.operator.select(rows))

    @cached_property
    def row_norms(self) -> Tensor:
        """Euclidean length of every node's features."""
        matrix = self.operator.matrix
        return matrix.row_sums.sqrt() if matrix.weights is None else _squared(matrix).row_sums.sqrt()

    def to_dense(self) -> Tensor:
        return torch.from_numpy(self.operator.matrix.to_scipy().toarray()).to(self.operator.matrix.device)


Features = DenseFeatures | BinaryFeatures | SparseFeatures


def row_products(features: Features, rows: Tensor, weight: Tensor) -> Tensor:
    """``X[rows] weight`` for distinct rows; where many are asked for, all are multiplied, which is cheaper.

    Example:
        >>> row_products(DenseFeatures(torch.eye(3)), torch.tensor([2]), torch.tensor([[1.0], [2.0], [3.0]]))
        tensor([[3.]])
    """
    if isinstance(features, BinaryFeatures) or MANY * len(rows) > features.shape[0]:
        return features.products([None])(weight)[0].index_select(0, rows)
    return features.take_rows(rows).products([None])(weight)[0]


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """Mean and standard deviation of every feature; 1 for a feature that does not vary.

    They belong to the graph that an encoder is trained on. Features of any other graph are standardised by the same
    ones: with its own, equal nodes of two graphs would get different embeddings.
    """

    mean: Tensor
    deviation: Tensor

    @classmethod
    def of(cls, x: GraphFeatures) -> ColumnStatistics:
        """The statistics of a matrix that fits into memory."""
        dense = _dense(x)
        return cls(dense.mean(dim=0), _safe(dense.std(dim=0)))

    def standardise(self, x: Tensor) -> Tensor:
        """Every column minus its mean, over its standard deviation."""
        return (x - self.mean.to(x.device)) / self.deviation.to(x.device)


def features_of(
    x: GraphFeatures, normalise: str = "none", device: Any = "cpu", statistics: ColumnStatistics | None = None
) -> DenseFeatures | SparseFeatures:
    """The features of a graph as an operand.

    Args:
        x: dense array or scipy CSR.
        normalise: ``none``; ``row`` (each row sums to one, as torch_geometric's NormalizeFeatures); ``column``
            (each column standardised; makes sparse features dense).
        device: where to put them.
        statistics: what columns are standardised by; by default those of ``x``.
    """
    if normalise == "column":
        return DenseFeatures((statistics or ColumnStatistics.of(x)).standardise(_dense(x).to(device)))
    if isinstance(x, np.ndarray):
        dense = _dense(x).to(device)
        return DenseFeatures(dense / _safe(dense.sum(dim=1, keepdim=True)) if normalise == "row" else dense)
    matrix = CSR.from_scipy(x, device)
    if normalise == "row":
        sums = matrix.row_sums.clamp(min=1.0) if matrix.weights is None else _safe(matrix.row_sums)
        matrix = CSR(matrix.indptr, matrix.indices, matrix.values / sums[matrix.row_index], matrix.n_columns)
    return SparseFeatures(Operator(matrix, matrix.transpose()))


def _squared(matrix: CSR) -> CSR:
    weights = None if matrix.weights is None else matrix.weights.square()
    return CSR(matrix.indptr, matrix.indices, weights, matrix.n_columns)


def _dense(x: GraphFeatures) -> Tensor:
    return wrap_array(x if isinstance(x, np.ndarray) else x.toarray(), np.float32)


def _safe(scale: Tensor) -> Tensor:
    return torch.where(scale.abs() > 0, scale, torch.ones_like(scale))
