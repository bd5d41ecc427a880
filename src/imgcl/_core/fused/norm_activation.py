"""Batch norm and a piecewise linear activation as one operation on the CPU.

Its backward recomputes what torch would store, and touches the rows twice instead of seven times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.compiled import njit
from imgcl._core.sparse.threads import FAST, threaded, threads_for

CHUNK = 256  # rows summed in single precision before they join the total; the same for any number of threads


def norm_activation(
    hidden: Tensor, gain: Tensor, shift: Tensor, slope: Tensor, eps: float, in_place: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch norm of the columns, then ``slope * v`` where v is not above 0.

    Args:
        hidden: (rows, width), at least two rows.
        gain: of the norm, one per column.
        shift: of the norm, one per column.
        slope: one number: that of a PReLU; 0 makes a ReLU, 1 no activation at all.
        eps: added to the variances.
        in_place: the rows may be written over ``hidden``; they have no gradient then.

    Returns:
        The rows, and mean and biased variance of the columns of ``hidden``.

    Example:
        >>> hidden = torch.tensor([[1.0], [3.0]])
        >>> rows, mean, variance = norm_activation(hidden, torch.ones(1), torch.zeros(1), torch.tensor([0.5]), 0.0)
        >>> rows.flatten().tolist(), mean.item(), variance.item()
        ([-0.5, 1.0], 2.0, 1.0)
    """
    if in_place:
        hidden = hidden.detach().contiguous()
        mean, variance, _ = _normalise(hidden, gain, shift, slope, eps, hidden[:0])
        return hidden, torch.from_numpy(mean), torch.from_numpy(variance)
    return _NormActivation.apply(hidden, gain, shift, slope, eps)  # type: ignore[no-any-return]


class _NormActivation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, gain: Tensor, shift: Tensor, slope: Tensor, eps: float) -> Any:
        hidden = hidden.contiguous()
        out = torch.empty_like(hidden)
        mean, variance, inverse = _normalise(hidden, gain, shift, slope, eps, out)
        ctx.save_for_backward(hidden, gain, shift, slope)
        ctx.mean, ctx.inverse = mean, inverse
        moments = torch.from_numpy(mean), torch.from_numpy(variance)
        ctx.mark_non_differentiable(*moments)
        return out, *moments

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> Any:
        hidden, gain, shift, slope = ctx.saved_tensors
        rows, g, parts = hidden.numpy(), gradient.contiguous().numpy(), threads_for(hidden.numel())
        constants = (ctx.mean, ctx.inverse, gain.detach().numpy(), shift.detach().numpy(), slope.item())
        # Chunks are added up here, not in the kernel, whose parallel form would add in another order.
        d_gain, d_shift, slopes = _backward_sums(rows, g, *constants, parts).sum(axis=0).astype(rows.dtype)
        out = torch.empty_like(hidden)
        _backward(rows, g, *constants, d_gain, d_shift, out.numpy(), parts)
        return out, torch.from_numpy(d_gain), torch.from_numpy(d_shift), slope.new_tensor([slopes.sum()]), None


def _normalise(
    hidden: Tensor, gain: Tensor, shift: Tensor, slope: Tensor, eps: float, out: Tensor
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Write the rows into ``out``, or over ``hidden`` if that has none; mean, variance and 1 / deviation."""
    rows, parts = hidden.numpy(), threads_for(hidden.numel())
    mean, variance = _moments(rows, *_chunk_sums(rows, parts))
    inverse = 1 / np.sqrt(variance + rows.dtype.type(eps))
    _forward(rows, mean, inverse, gain.detach().numpy(), shift.detach().numpy(), slope.item(), out.numpy(), parts)
    return mean, variance, inverse


def _moments(rows: NDArray[Any], firsts: NDArray[Any], seconds: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and biased variance of the columns from the sums of all chunks."""
    offset = firsts.sum(axis=0) / len(rows)
    variance = np.maximum(seconds.sum(axis=0) / len(rows) - offset * offset, 0)
    return (rows[0] + offset).astype(rows.dtype), variance.astype(rows.dtype)


@threaded(fastmath=FAST)
def _chunk_sums(rows: NDArray[Any], parts: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sums and sums of squares of every chunk's columns around the first row (a pivot inside the data)."""
    n, width = rows.shape
    chunks = (n + CHUNK - 1) // CHUNK
    pivot = rows[0]
    firsts = np.zeros((chunks, width), dtype=np.float64)
    seconds = np.zeros((chunks, width), dtype=np.float64)
    for part in prange(parts):
        first, second = np.zeros(width, dtype=rows.dtype), np.zeros(width, dtype=rows.dtype)
        for chunk in range(chunks * part // parts, chunks * (part + 1) // parts):
            first[:] = 0
            second[:] = 0
            for row in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
                for k in range(width):
                    shifted = rows[row, k] - pivot[k]
                    first[k] += shifted
                    second[k] += shifted * shifted
            firsts[chunk] = first
            seconds[chunk] = second
    return firsts, seconds


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def _row_forward(
    row: NDArray[Any],
    mean: NDArray[Any],
    inverse: NDArray[Any],
    gain: NDArray[Any],
    shift: NDArray[Any],
    below: Any,
    out: NDArray[Any],
) -> None:
    for k in range(len(row)):
        value = (row[k] - mean[k]) * inverse[k] * gain[k] + shift[k]
        out[k] = value if value > 0 else below * value


@threaded(fastmath=FAST)
def _forward(
    rows: NDArray[Any],
    mean: NDArray[Any],
    inverse: NDArray[Any],
    gain: NDArray[Any],
    shift: NDArray[Any],
    slope: float,
    out: NDArray[Any],
    parts: int,
) -> None:
    n = len(rows)
    below, in_place = rows.dtype.type(slope), len(out) == 0
    for part in prange(parts):
        for row in range(n * part // parts, n * (part + 1) // parts):
            # Two calls: known to differ only at run time, one array under two names would not be vectorised.
            if in_place:
                _row_forward(rows[row], mean, inverse, gain, shift, below, rows[row])
            else:
                _row_forward(rows[row], mean, inverse, gain, shift, below, out[row])


@threaded(fastmath=FAST)
def _backward_sums(
    rows: NDArray[Any],
    gradient: NDArray[Any],
    mean: NDArray[Any],
    inverse: NDArray[Any],
    gain: NDArray[Any],
    shift: NDArray[Any],
    slope: float,
    parts: int,
) -> NDArray[Any]:
    n, width = rows.shape
    below, one, zero = rows.dtype.type(slope), rows.dtype.type(1), rows.dtype.type(0)
    chunks = (n + CHUNK - 1) // CHUNK
    sums = np.zeros((chunks, 3, width), dtype=np.float64)
    for part in prange(parts):
        d_gain, d_shift = np.zeros(width, dtype=rows.dtype), np.zeros(width, dtype=rows.dtype)
        d_slope = np.zeros(width, dtype=rows.dtype)
        for chunk in range(chunks * part // parts, chunks * (part + 1) // parts):
            d_gain[:] = 0
            d_shift[:] = 0
            d_slope[:] = 0
            for row in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
                for k in range(width):
                    normal = (rows[row, k] - mean[k]) * inverse[k]
                    value = normal * gain[k] + shift[k]
                    g = gradient[row, k]
                    d_slope[k] += zero if value > 0 else g * value
                    g *= one if value > 0 else below
                    d_gain[k] += g * normal
                    d_shift[k] += g
            sums[chunk, 0] = d_gain
            sums[chunk, 1] = d_shift
            sums[chunk, 2] = d_slope
    return sums


@threaded(fastmath=FAST)
def _backward(
    rows: NDArray[Any],
    gradient: NDArray[Any],
    mean: NDArray[Any],
    inverse: NDArray[Any],
    gain: NDArray[Any],
    shift: NDArray[Any],
    slope: float,
    d_gain: NDArray[Any],
    d_shift: NDArray[Any],
    out: NDArray[Any],
    parts: int,
) -> None:
    n, width = rows.shape
    below, one = rows.dtype.type(slope), rows.dtype.type(1)
    share = rows.dtype.type(1 / n)
    for part in prange(parts):
        for row in range(n * part // parts, n * (part + 1) // parts):
            for k in range(width):
                normal = (rows[row, k] - mean[k]) * inverse[k]
                g = gradient[row, k] * (one if normal * gain[k] + shift[k] > 0 else below)
                out[row, k] = gain[k] * inverse[k] * (g - share * (d_shift[k] + normal * d_gain[k]))
