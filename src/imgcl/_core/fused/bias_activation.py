"""Bias and a piecewise linear activation as one operation on the CPU.

torch's own PReLU writes a gradient of its slope for every entry before it adds them up; this adds them on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor, nn

from imgcl._core.compiled import njit
from imgcl._core.devices import has_kernels
from imgcl._core.fused.norm_activation import CHUNK
from imgcl._core.sparse.threads import FAST, threaded, threads_for


def bias_activation(hidden: Tensor, bias: Tensor, slope: Tensor) -> Tensor:
    """``v = hidden + bias``, then ``slope * v`` where v is not above 0.

    Args:
        hidden: (rows, width), on the CPU.
        bias: one per column.
        slope: one number: that of a PReLU; 0 makes a ReLU, 1 no activation at all.

    Example:
        >>> bias_activation(torch.tensor([[1.0, -3.0]]), torch.tensor([0.0, 1.0]), torch.tensor([0.5])).tolist()
        [[1.0, -1.0]]
    """
    return _BiasActivation.apply(hidden, bias, slope)  # type: ignore[no-any-return]


class PReLU(nn.PReLU):
    """torch's PReLU with one slope, fused on the CPU."""

    def forward(self, input: Tensor) -> Tensor:
        """Activate the rows."""
        if not has_kernels(input.device) or input.dim() != 2 or self.num_parameters != 1:
            return super().forward(input)
        return bias_activation(input, input.new_zeros(input.shape[1]), self.weight.to(input.dtype))


class _BiasActivation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, bias: Tensor, slope: Tensor) -> Tensor:
        hidden = hidden.contiguous()
        out = torch.empty_like(hidden)
        parts = threads_for(hidden.numel())
        activate(hidden.detach().numpy(), bias.detach().numpy(), slope.item(), out.numpy(), parts)
        ctx.save_for_backward(hidden, bias, slope)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        hidden, bias, slope = ctx.saved_tensors
        parts = threads_for(hidden.numel())
        # Chunks are added up here, not in the kernel, whose parallel form would add in another order.
        if slope.item() == 1 and not ctx.needs_input_grad[2]:  # a bias alone
            total = _column_sums(gradient.contiguous().numpy(), parts).sum(axis=0)
            return gradient, torch.from_numpy(total).to(hidden.dtype), None
        rows, out = hidden.numpy(), torch.empty_like(hidden)
        sums = activation_gradient(
            rows, gradient.contiguous().numpy(), bias.detach().numpy(), slope.item(), out.numpy(), parts
        )
        d_bias, slopes = torch.from_numpy(sums.sum(axis=0)).to(hidden.dtype)
        return out, d_bias, slopes.sum().reshape(slope.shape)


@threaded(fastmath=FAST)
def activate(rows: NDArray[Any], bias: NDArray[Any], slope: float, out: NDArray[Any], parts: int) -> None:
    """Bias and activation of the rows, into ``out``."""
    n, width = rows.shape
    below = rows.dtype.type(slope)
    for part in prange(parts):
        for row in range(n * part // parts, n * (part + 1) // parts):
            for k in range(width):
                value = rows[row, k] + bias[k]
                out[row, k] = value if value > 0 else below * value


@threaded(fastmath=FAST)
def _column_sums(rows: NDArray[Any], parts: int) -> NDArray[Any]:
    """Sums of every chunk's columns."""
    n, width = rows.shape
    chunks = (n + CHUNK - 1) // CHUNK
    sums = np.zeros((chunks, width), dtype=np.float64)
    for part in prange(parts):
        total = np.zeros(width, dtype=rows.dtype)
        for chunk in range(chunks * part // parts, chunks * (part + 1) // parts):
            total[:] = 0
            for row in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
                for k in range(width):
                    total[k] += rows[row, k]
            sums[chunk] = total
    return sums


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def _row_gradient(
    row: NDArray[Any],
    gradient: NDArray[Any],
    bias: NDArray[Any],
    below: Any,
    out: NDArray[Any],
    d_bias: NDArray[Any],
    d_slope: NDArray[Any],
) -> None:
    one, zero = row.dtype.type(1), row.dtype.type(0)
    for k in range(len(row)):
        value = row[k] + bias[k]
        g = gradient[k]
        d_slope[k] += zero if value > 0 else g * value
        g *= one if value > 0 else below
        d_bias[k] += g
        out[k] = g


@threaded(fastmath=FAST)
def activation_gradient(
    rows: NDArray[Any], gradient: NDArray[Any], bias: NDArray[Any], slope: float, out: NDArray[Any], parts: int
) -> NDArray[Any]:
    """Gradient of the rows into ``out``, or in place if that has no rows; sums of those of bias and slope by chunks."""
    n, width = rows.shape
    below, in_place = rows.dtype.type(slope), len(out) == 0
    chunks = (n + CHUNK - 1) // CHUNK
    sums = np.zeros((chunks, 2, width), dtype=np.float64)
    for part in prange(parts):
        d_bias, d_slope = np.zeros(width, dtype=rows.dtype), np.zeros(width, dtype=rows.dtype)
        for chunk in range(chunks * part // parts, chunks * (part + 1) // parts):
            d_bias[:] = 0
            d_slope[:] = 0
            for row in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
                # Two calls: known to differ only at run time, one array under two names would not be vectorised.
                if in_place:
                    _row_gradient(rows[row], gradient[row], bias, below, gradient[row], d_bias, d_slope)
                else:
                    _row_gradient(rows[row], gradient[row], bias, below, out[row], d_bias, d_slope)
            sums[chunk, 0] = d_bias
            sums[chunk, 1] = d_slope
    return sums
