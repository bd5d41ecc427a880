"""Columns of a feature matrix as an operand, in two kinds of storage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.devices import has_kernels
from imgcl._core.sparse.operator import values_of
from imgcl._core.sparse.tables import GROUP, codes_of, table_gradient, table_product
from imgcl._core.sparse.threads import threads_for

FEWEST_ROWS = 2048  # below, making the tables costs more than the look-ups save


class Columns(Protocol):
    """What the products of masked views need of a feature matrix X."""

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and columns."""

    @property
    def device(self) -> torch.device:
        """Where the products are."""

    @property
    def cheap_to_take(self) -> bool:
        """Whether some of the columns are taken at a small part of a product's cost."""

    def take(self, columns: Tensor) -> Columns:
        """Some of the columns."""

    def product(self, weight: Tensor, base: Tensor | None = None, sign: float = 1.0, over: bool = False) -> Tensor:
        """``base + sign * X weight``, written over the base if that may be."""

    def gradient(self, rows: Tensor) -> Tensor:
        """``X^T rows``."""


@dataclass(frozen=True, eq=False)
class DenseColumns:
    """Any numbers, as a tensor."""

    matrix: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def device(self) -> torch.device:
        return self.matrix.device

    @property
    def cheap_to_take(self) -> bool:
        return self.matrix.T.is_contiguous()  # stored by columns, they are copied as whole pieces

    def take(self, columns: Tensor) -> DenseColumns:
        if self.cheap_to_take:
            return DenseColumns(self.matrix.T.index_select(0, columns).T)
        return DenseColumns(self.matrix.index_select(1, columns))

    def product(self, weight: Tensor, base: Tensor | None = None, sign: float = 1.0, over: bool = False) -> Tensor:
        if base is None:
            return self.matrix @ weight if sign == 1 else sign * (self.matrix @ weight)
        return torch.addmm(base, self.matrix, weight, alpha=sign, out=base if over else None)

    def gradient(self, rows: Tensor) -> Tensor:
        return self.matrix.T @ rows


@dataclass(frozen=True, eq=False)
class BinaryColumns:
    """Zeros and ones times a factor for every node, on the CPU: multiplied by looking up eight columns at a time.

    Attributes:
        bits: every column as bits, that of node 0 first: (columns, bytes).
        n: number of nodes.
        factors: one per node, or ``None`` for ones.
    """

    bits: NDArray[np.uint8]
    n: int
    factors: Tensor | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, len(self.bits)

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    @property
    def cheap_to_take(self) -> bool:
        return True

    @cached_property
    def codes(self) -> NDArray[np.uint8]:
        """Which of its 256 values every eight columns have, for every node."""
        return codes_of(self.bits, self.n, threads_for(self.n * len(self.bits)))  # type: ignore[no-any-return]

    def take(self, columns: Tensor) -> BinaryColumns:
        return BinaryColumns(self.bits[columns.numpy()], self.n, self.factors)

    def product(self, weight: Tensor, base: Tensor | None = None, sign: float = 1.0, over: bool = False) -> Tensor:
        over = over and base is not None
        out = base if base is not None and over else weight.new_empty(self.n, weight.shape[1])
        values = weight.detach().contiguous().numpy()
        start = values[:0] if base is None or over else base.numpy()
        factors, sign = values_of(self.factors, out.dtype), values.dtype.type(sign)
        table_product(self.codes, values, factors, sign, start, over, out.numpy(), self._threads(weight))
        return out

    def gradient(self, rows: Tensor) -> Tensor:
        factors = values_of(self.factors, rows.dtype)
        by_chunk = table_gradient(
            self.codes, rows.detach().contiguous().numpy(), factors, len(self.bits), self._threads(rows)
        )
        return torch.from_numpy(by_chunk).sum(0)

    def row_norms(self) -> Tensor:
        """Euclidean length of every row."""
        ones = torch.ones(len(self.bits), 1, dtype=torch.float32)
        lengths = BinaryColumns(self.bits, self.n).product(ones).squeeze(1).sqrt()
        return lengths if self.factors is None else lengths * self.factors.abs()

    def to_dense(self) -> Tensor:
        ones = torch.from_numpy(np.unpackbits(self.bits, axis=1, count=self.n, bitorder="little")).T
        return ones.float() if self.factors is None else ones * self.factors.unsqueeze(1)

    def _threads(self, rows: Tensor) -> int:
        return threads_for(self.n * rows.shape[1] * len(self.bits) // GROUP)


def binary_columns(x: Tensor) -> BinaryColumns | None:
    """The same numbers as zeros and ones times a factor for every node; ``None`` if they are others, or rows are few.

    Example:
        >>> x = torch.eye(3).repeat(1000, 5)
        >>> binary_columns(x).shape, binary_columns(x / 5).factors[:2]
        ((3000, 15), tensor([0.2000, 0.2000]))
        >>> binary_columns(x + 1) is None
        True
    """
    if not has_kernels(x.device) or len(x) < FEWEST_ROWS or not x.shape[1] or not all(map(_is_binary, (x[:64], x))):
        return None
    factors = x.amax(dim=1)
    bits = np.packbits((x.T != 0).numpy(), axis=1, bitorder="little")
    return BinaryColumns(bits, len(x), None if bool(((factors == 1) | (factors == 0)).all()) else factors)


def _is_binary(x: Tensor) -> bool:
    """Whether the entries of every row are zero or the row's largest."""
    return bool(((x == 0) | (x == x.amax(dim=1, keepdim=True))).all())
