"""A CSR matrix as three torch tensors, on any device."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from imgcl._core.devices import has_kernels
from imgcl._core.quiet import without_warning
from imgcl._core.sparse import kernels
from imgcl._core.sparse.threads import threads_for

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class CSR:
    """Row pointers (int64), column indices (int32 where they fit), and weights (``None``: all ones)."""

    indptr: Tensor
    indices: Tensor
    weights: Tensor | None
    n_columns: int

    @classmethod
    def from_numpy(
        cls, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None, n_columns: int, device: Any = "cpu"
    ) -> CSR:
        """Wrap arrays (without a copy where dtypes allow) and move them to the device."""
        width = np.int32 if n_columns < 2**31 else np.int64
        pointer = wrap_array(indptr, np.int64).to(device)
        columns = wrap_array(indices, width).to(device)
        values = None if weights is None else wrap_array(weights, weights.dtype).to(device)
        return cls(pointer, columns, values, n_columns)

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, device: Any = "cpu") -> CSR:
        """Wrap a scipy matrix; a matrix of ones loses its values."""
        weights = None if np.all(matrix.data == 1) else matrix.data.astype(np.float32, copy=False)
        return cls.from_numpy(matrix.indptr, matrix.indices, weights, matrix.shape[1], device)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        return len(self.indices)

    @property
    def device(self) -> torch.device:
        return self.indices.device

    @property
    def values(self) -> Tensor:
        """The weight of every entry."""
        if self.weights is not None:
            return self.weights
        return torch.ones(self.n_entries, dtype=torch.float32, device=self.device)

    @cached_property
    def row_sums(self) -> Tensor:
        """Sum of every row (the degree when there are no weights), float32."""
        if self.weights is None:
            return torch.diff(self.indptr).to(torch.float32)
        sums = torch.zeros(self.n_rows, dtype=torch.float64, device=self.device)
        return sums.index_add_(0, self.row_index, self.weights.double()).float()

    @cached_property
    def row_index(self) -> Tensor:
        """The row of every entry (int64); only the paths that need an edge list pay for it."""
        return torch.repeat_interleave(torch.arange(self.n_rows, device=self.device), torch.diff(self.indptr))

    @cached_property
    def _derived(self) -> dict[Hashable, Any]:
        return {}

    def derive(self, key: Hashable, compute: Callable[[CSR], T]) -> T:
        """``compute(self)``, computed once and kept as long as the matrix (a diffusion, the weights of its edges)."""
        if key not in self._derived:
            self._derived[key] = compute(self)
        return self._derived[key]  # type: ignore[no-any-return]

    def to_scipy(self) -> sp.csr_array:
        """The same matrix for scipy (on the CPU)."""
        weights = np.ones(self.n_entries, np.float32) if self.weights is None else self.weights.cpu().numpy()
        arrays = (weights, self.indices.cpu().numpy(), self.indptr.cpu().numpy())
        return sp.csr_array(arrays, shape=(self.n_rows, self.n_columns))

    def transpose(self) -> CSR:
        """The transposed matrix, built once by counting."""
        flipped = self.to_scipy().T.tocsr()
        weights = None if self.weights is None else flipped.data
        return CSR.from_numpy(flipped.indptr, flipped.indices, weights, self.n_rows, self.device)

    def take_rows(self, rows: Tensor) -> CSR:
        """The matrix of these rows."""
        if has_kernels(self.device):
            arrays = kernels.take_rows(*_numpy(self), rows.numpy(), threads_for(self.n_entries))
            return self._wrap(arrays, self.n_columns)
        return self._take_rows_torch(rows)

    def _take_rows_torch(self, rows: Tensor) -> CSR:
        lengths = torch.diff(self.indptr)[rows]
        indptr = torch.cat([lengths.new_zeros(1), torch.cumsum(lengths, 0)])
        offset = torch.arange(int(indptr[-1]), device=self.device) - torch.repeat_interleave(indptr[:-1], lengths)
        entries = torch.repeat_interleave(self.indptr[:-1][rows], lengths) + offset
        weights = None if self.weights is None else self.weights[entries]
        return CSR(indptr, self.indices[entries], weights, self.n_columns)

    def take_columns(self, position: Tensor, n_columns: int) -> CSR:
        """The matrix of the columns with ``position >= 0``, each moved to its position."""
        if has_kernels(self.device):
            arrays = kernels.take_columns(*_numpy(self), position.numpy(), threads_for(self.n_entries))
            return self._wrap(arrays, n_columns)
        return self._take_columns_torch(position, n_columns)

    def _take_columns_torch(self, position: Tensor, n_columns: int) -> CSR:
        column = position[self.indices.long()]
        return self.keep_entries(column >= 0, column.to(self.indices.dtype), n_columns)

    def keep_entries(self, keep: Tensor, indices: Tensor | None = None, n_columns: int | None = None) -> CSR:
        """The matrix of the entries where ``keep`` is true (with other column numbers if given)."""
        before = torch.cat([self.indptr.new_zeros(1), torch.cumsum(keep, 0)])
        indptr = before[self.indptr]
        columns = (self.indices if indices is None else indices)[keep]
        weights = None if self.weights is None else self.weights[keep]
        return CSR(indptr, columns, weights, self.n_columns if n_columns is None else n_columns)

    def drop_edges(self, probability: float | Tensor, seed: int) -> CSR:
        """Remove each undirected edge of a symmetric matrix with the given probability (one, or one per entry).

        Both directions of an edge share one random number, a hash of (edge, seed): the result stays symmetric and
        does not depend on order, threads or device.
        """
        if has_kernels(self.device):
            given = torch.as_tensor(probability, dtype=torch.float32).reshape(-1).numpy()
            arrays = kernels.keep_edges(*_numpy(self), given, np.uint64(seed), threads_for(self.n_entries))
            return self._wrap(arrays, self.n_columns)
        return self._drop_edges_torch(probability, seed)

    def _drop_edges_torch(self, probability: float | Tensor, seed: int) -> CSR:
        low = torch.minimum(self.row_index, self.indices.long())
        high = torch.maximum(self.row_index, self.indices.long())
        given = torch.as_tensor(probability, dtype=torch.float32, device=self.device)
        return self.keep_entries(edge_uniform(low, high, seed) >= given)

    def _wrap(self, arrays: tuple[np.ndarray, np.ndarray, np.ndarray], n_columns: int) -> CSR:
        indptr, indices, weights = arrays
        values = None if self.weights is None else torch.from_numpy(weights)
        return CSR(torch.from_numpy(indptr), torch.from_numpy(indices), values, n_columns)


def edge_uniform(low: Tensor, high: Tensor, seed: int) -> Tensor:
    """The kernels' ``edge_uniform`` in torch integer arithmetic, for other devices."""
    first = mix(low + _signed(seed * 0x9E3779B97F4A7C15))
    hashed = mix(first + high * _signed(0x9E3779B97F4A7C15))
    return _shift(hashed, 11).to(torch.float64) / 2**53


def mix(value: Tensor) -> Tensor:
    value = (value ^ _shift(value, 30)) * _signed(0xBF58476D1CE4E5B9)
    value = (value ^ _shift(value, 27)) * _signed(0x94D049BB133111EB)
    return value ^ _shift(value, 31)


def _shift(value: Tensor, bits: int) -> Tensor:
    """Logical right shift of int64 (torch's own is arithmetic)."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def _numpy(matrix: CSR) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    weights = np.empty(0, np.float32) if matrix.weights is None else matrix.weights.numpy()
    return matrix.indptr.numpy(), matrix.indices.numpy(), weights


def wrap_array(array: np.ndarray, dtype: Any) -> Tensor:
    """A tensor over the array's memory; copies only to change the dtype."""
    # A graph's arrays are read-only and torch has no such tensors; nothing in the package writes to them.
    with without_warning("The given NumPy array is not writable"):
        return torch.from_numpy(np.ascontiguousarray(array, dtype=dtype))
