"""Attention over the entries of a sparse matrix, with its own backward: O(entries), and no entry's share is stored.

The forward keeps the largest score and the sum of every row and head. The backward recomputes shares from them, once
over the rows for the target scores and once over the columns for the values and the source scores, so that every sum
has one owner and does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.compiled import njit
from imgcl._core.devices import has_kernels
from imgcl._core.sparse import Operator
from imgcl._core.sparse.kernels import balanced_bounds
from imgcl._core.sparse.operator import own_column, own_row, values_of
from imgcl._core.sparse.threads import threaded, threads_for


def attend(operator: Operator, values: Tensor, sources: Tensor, targets: Tensor, slope: float) -> Tensor:
    """Every output row as a weighted mean of the values of its neighbours.

    Entry (i, j) of head h has the share ``w_ij exp(leaky(sources[j, h] + targets[i, h]))`` over the sum of the row.

    Args:
        operator: its matrix, weights, loop (any other than 0: a node attends to itself) and rows are used.
        values: (N, heads * width).
        sources: score of every node as a neighbour, (N, heads).
        targets: score of every output row, (rows, heads).
        slope: of the leaky ReLU below 0.
    """
    if has_kernels(values.device):
        return _Attention.apply(values.contiguous(), sources, targets, operator, slope)  # type: ignore[no-any-return]
    return attend_torch(operator, values, sources, targets, slope)


def attend_torch(operator: Operator, values: Tensor, sources: Tensor, targets: Tensor, slope: float) -> Tensor:
    """The same in torch's own operations, for devices the kernels do not know."""
    matrix, heads = operator.matrix, sources.shape[1]
    row, column = matrix.row_index, matrix.indices.long()
    weights = torch.ones_like(row, dtype=values.dtype) if matrix.weights is None else matrix.weights.to(values.dtype)
    if operator.loop:
        own = own_column(operator)
        row, column = torch.cat([row, torch.arange(len(own), device=own.device)]), torch.cat([column, own])
        weights = torch.cat([weights, weights.new_ones(len(own))])
    scores = torch.nn.functional.leaky_relu(sources[column] + targets[row], slope)
    lowest = torch.full_like(targets, torch.finfo(scores.dtype).min)
    largest = lowest.scatter_reduce(0, row.unsqueeze(1).expand_as(scores), scores.detach(), "amax")
    shares = weights.unsqueeze(1) * torch.exp(scores - largest[row])
    sums = torch.zeros_like(targets).index_add(0, row, shares)
    shares = shares / sums[row]
    messages = shares.unsqueeze(2) * values[column].reshape(len(column), heads, -1)
    return values.new_zeros(len(targets), values.shape[1]).index_add(0, row, messages.flatten(1))


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, sources: Tensor, targets: Tensor, operator: Operator, slope: float) -> Tensor:
        out = values.new_empty(len(targets), values.shape[1])
        largest, sums = torch.empty_like(targets), torch.empty_like(targets)
        arrays = _arrays(values, sources, targets)
        _forward(
            *_structure(operator, values.dtype), *arrays, *_arrays(out, largest, sums), slope, _threads(operator, out)
        )
        ctx.save_for_backward(values, sources, targets, out, largest, sums)
        ctx.operator, ctx.slope = operator, slope
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        values, sources, targets, out, largest, sums = ctx.saved_tensors
        gradient, operator = gradient.contiguous(), ctx.operator
        heads, parts = sources.shape[1], _threads(operator, out)
        # sum_j share_ij (g_i . v_j) is g_i . out_i: the softmax's own correction needs no pass over the entries.
        mean = (gradient * out).reshape(len(out), heads, -1).sum(dim=2)
        d_values, d_sources, d_targets = torch.empty_like(values), torch.empty_like(sources), torch.empty_like(targets)
        saved = _arrays(values, sources, targets, gradient, mean, largest, sums)
        _backward_rows(*_structure(operator, values.dtype), *saved, d_targets.numpy(), ctx.slope, parts)
        transposed = _structure(operator, values.dtype, transposed=True)
        _backward_columns(*transposed, *saved, d_values.numpy(), d_sources.numpy(), ctx.slope, parts)
        return d_values, d_sources, d_targets, None, None


def _structure(operator: Operator, dtype: torch.dtype, transposed: bool = False) -> tuple[np.ndarray, ...]:
    matrix = operator.transposed if transposed else operator.matrix
    own = (own_row if transposed else own_column)(operator)
    return matrix.indptr.numpy(), matrix.indices.numpy(), values_of(matrix.weights, dtype), own.numpy()


def _arrays(*tensors: Tensor) -> tuple[np.ndarray, ...]:
    return tuple(tensor.detach().contiguous().numpy() for tensor in tensors)


def _threads(operator: Operator, out: Tensor) -> int:
    return threads_for((operator.matrix.n_entries + len(out)) * out.shape[1])


@njit(cache=True, nogil=True, inline="always")
def _entry(
    entry: int, begin: int, row: int, indices: NDArray[Any], weights: NDArray[Any], own: NDArray[Any], one: Any
) -> tuple[Any, Any]:
    """Column and weight of an entry; the one before the first is the row's own node (-1: there is none)."""
    if entry < begin:
        return (own[row] if len(own) > 0 else -1), one
    return np.int64(indices[entry]), (weights[entry] if len(weights) > 0 else one)


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _add(out: NDArray[Any], factor: Any, other: NDArray[Any]) -> None:
    for k in range(len(out)):
        out[k] += factor * other[k]


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _dot(a: NDArray[Any], b: NDArray[Any]) -> Any:
    total = a.dtype.type(0)
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@threaded(fastmath=True)
def _forward(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    own: NDArray[Any],
    values: NDArray[Any],
    sources: NDArray[Any],
    targets: NDArray[Any],
    out: NDArray[Any],
    largest: NDArray[Any],
    sums: NDArray[Any],
    slope: float,
    parts: int,
) -> None:
    heads, kind = sources.shape[1], out.dtype.type
    width, one, below = out.shape[1] // heads, out.dtype.type(1), out.dtype.type(slope)
    bounds = balanced_bounds(indptr, parts)
    for part in prange(parts):
        for row in range(bounds[part], bounds[part + 1]):
            begin, end = indptr[row], indptr[row + 1]
            for h in range(heads):
                largest[row, h], sums[row, h] = kind(-1e30), 0
            out[row, :] = 0
            for entry in range(begin - 1, end):
                column, _ = _entry(entry, begin, row, indices, weights, own, one)
                if column >= 0:
                    for h in range(heads):
                        raw = sources[column, h] + targets[row, h]
                        largest[row, h] = max(largest[row, h], raw if raw > 0 else below * raw)
            for entry in range(begin - 1, end):
                column, weight = _entry(entry, begin, row, indices, weights, own, one)
                if column >= 0:
                    for h in range(heads):
                        raw = sources[column, h] + targets[row, h]
                        share = weight * np.exp((raw if raw > 0 else below * raw) - largest[row, h])
                        sums[row, h] += share
                        begin_h, end_h = h * width, (h + 1) * width
                        _add(out[row, begin_h:end_h], share, values[column, begin_h:end_h])
            for h in range(heads):
                if sums[row, h] > 0:
                    out[row, h * width : (h + 1) * width] /= sums[row, h]


@threaded(fastmath=True)
def _backward_rows(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    own: NDArray[Any],
    values: NDArray[Any],
    sources: NDArray[Any],
    targets: NDArray[Any],
    gradient: NDArray[Any],
    mean: NDArray[Any],
    largest: NDArray[Any],
    sums: NDArray[Any],
    d_targets: NDArray[Any],
    slope: float,
    parts: int,
) -> None:
    heads = sources.shape[1]
    width, one, below = values.shape[1] // heads, values.dtype.type(1), values.dtype.type(slope)
    bounds = balanced_bounds(indptr, parts)
    for part in prange(parts):
        for row in range(bounds[part], bounds[part + 1]):
            begin, end = indptr[row], indptr[row + 1]
            d_targets[row, :] = 0
            for entry in range(begin - 1, end):
                column, weight = _entry(entry, begin, row, indices, weights, own, one)
                if column >= 0:
                    for h in range(heads):
                        begin_h, end_h = h * width, (h + 1) * width
                        dot = _dot(gradient[row, begin_h:end_h], values[column, begin_h:end_h])
                        raw = sources[column, h] + targets[row, h]
                        share = weight * np.exp((raw if raw > 0 else below * raw) - largest[row, h]) / sums[row, h]
                        d_targets[row, h] += share * (dot - mean[row, h]) * (one if raw > 0 else below)


@threaded(fastmath=True)
def _backward_columns(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    own: NDArray[Any],
    values: NDArray[Any],
    sources: NDArray[Any],
    targets: NDArray[Any],
    gradient: NDArray[Any],
    mean: NDArray[Any],
    largest: NDArray[Any],
    sums: NDArray[Any],
    d_values: NDArray[Any],
    d_sources: NDArray[Any],
    slope: float,
    parts: int,
) -> None:
    heads = sources.shape[1]
    width, one, below = values.shape[1] // heads, values.dtype.type(1), values.dtype.type(slope)
    bounds = balanced_bounds(indptr, parts)
    for part in prange(parts):
        for column in range(bounds[part], bounds[part + 1]):
            begin, end = indptr[column], indptr[column + 1]
            d_values[column, :] = 0
            d_sources[column, :] = 0
            for entry in range(begin - 1, end):
                row, weight = _entry(entry, begin, column, indices, weights, own, one)
                if row >= 0:
                    for h in range(heads):
                        raw = sources[column, h] + targets[row, h]
                        share = weight * np.exp((raw if raw > 0 else below * raw) - largest[row, h]) / sums[row, h]
                        begin_h, end_h = h * width, (h + 1) * width
                        dot = _dot(gradient[row, begin_h:end_h], values[column, begin_h:end_h])
                        _add(d_values[column, begin_h:end_h], share, gradient[row, begin_h:end_h])
                        d_sources[column, h] += share * (dot - mean[row, h]) * (one if raw > 0 else below)
