"""What follows a layer's product: bias, norm, activation.

Batch norm followed by PReLU, the pair that GBT and BGRL use, is one fused operation on the CPU: its backward
recomputes what torch would store, and touches the rows twice instead of seven times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor, nn

from imgcl.encoders.base import Activation, Norm, make_activation, make_norm
from imgcl.sparse.threads import threaded, threads_for

CHUNK = 256  # rows summed in single precision before they join the double-precision total


class Finish(nn.Module):
    """``activation(norm(h + bias))``.

    Args:
        width: of the rows.
        norm: see :func:`imgcl.encoders.base.make_norm`.
        activation: see :func:`imgcl.encoders.base.make_activation`.
        momentum: of the batch norm.
    """

    def __init__(self, width: int, norm: Norm = "none", activation: Activation = "none", momentum: float = 0.1) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))
        self.norm = make_norm(norm, width, momentum)
        self.activation = make_activation(activation)

    def forward(self, hidden: Tensor) -> Tensor:
        """Finish the rows; ``hidden`` is used up."""
        fused = isinstance(self.norm, nn.BatchNorm1d) and isinstance(self.activation, nn.PReLU)
        if fused and self.training and hidden.device.type == "cpu" and len(hidden) > 1:
            return self._fused(hidden)
        return self.activation(self.norm(hidden + self.bias))  # type: ignore[no-any-return]

    def _fused(self, hidden: Tensor) -> Tensor:
        norm, activation = self.norm, self.activation
        assert isinstance(norm, nn.BatchNorm1d)
        assert isinstance(activation, nn.PReLU)
        out, mean, variance = _NormActivation.apply(hidden, norm.weight, norm.bias, activation.weight, norm.eps)
        with torch.no_grad():
            # The batch's own mean removes the bias, so it only shows in the running mean.
            unbiased = variance * (len(hidden) / (len(hidden) - 1))
            norm.running_mean.lerp_(mean + self.bias, norm.momentum)  # type: ignore[union-attr, arg-type]
            norm.running_var.lerp_(unbiased, norm.momentum)  # type: ignore[union-attr, arg-type]
            norm.num_batches_tracked.add_(1)  # type: ignore[union-attr]
        return out  # type: ignore[no-any-return]


class _NormActivation(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, gain: Tensor, shift: Tensor, slope: Tensor, eps: float) -> Any:
        hidden = hidden.contiguous()
        rows, parts = hidden.numpy(), threads_for(hidden.numel())
        mean, variance = _moments(rows, parts)
        inverse = 1 / np.sqrt(variance + rows.dtype.type(eps))
        out = torch.empty_like(hidden)
        _forward(rows, mean, inverse, gain.detach().numpy(), shift.detach().numpy(), slope.item(), out.numpy(), parts)
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
        d_gain, d_shift, d_slope = _backward_sums(rows, g, *constants, parts)
        out = torch.empty_like(hidden)
        _backward(rows, g, *constants, d_gain, d_shift, out.numpy(), parts)
        return out, torch.from_numpy(d_gain), torch.from_numpy(d_shift), slope.new_tensor([d_slope]), None


@threaded(fastmath=True)
def _moments(rows: NDArray[Any], parts: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and biased variance of the columns, in one pass around the first row (a pivot inside the data)."""
    n, width = rows.shape
    pivot = rows[0].copy()
    firsts = np.zeros((parts, width), dtype=np.float64)
    seconds = np.zeros((parts, width), dtype=np.float64)
    for part in prange(parts):
        first, second = np.zeros(width, dtype=rows.dtype), np.zeros(width, dtype=rows.dtype)
        begin, end = n * part // parts, n * (part + 1) // parts
        for row in range(begin, end):
            for k in range(width):
                shifted = rows[row, k] - pivot[k]
                first[k] += shifted
                second[k] += shifted * shifted
            if (row - begin) % CHUNK == CHUNK - 1 or row == end - 1:
                firsts[part] += first
                seconds[part] += second
                first[:] = 0
                second[:] = 0
    offset = firsts.sum(axis=0) / n
    variance = np.maximum(seconds.sum(axis=0) / n - offset * offset, 0)
    return (pivot + offset).astype(rows.dtype), variance.astype(rows.dtype)


@threaded(fastmath=True)
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
    n, width = rows.shape
    below = rows.dtype.type(slope)
    for part in prange(parts):
        for row in range(n * part // parts, n * (part + 1) // parts):
            for k in range(width):
                value = (rows[row, k] - mean[k]) * inverse[k] * gain[k] + shift[k]
                out[row, k] = value if value > 0 else below * value


@threaded(fastmath=True)
def _backward_sums(
    rows: NDArray[Any],
    gradient: NDArray[Any],
    mean: NDArray[Any],
    inverse: NDArray[Any],
    gain: NDArray[Any],
    shift: NDArray[Any],
    slope: float,
    parts: int,
) -> tuple[NDArray[Any], NDArray[Any], float]:
    n, width = rows.shape
    below, one, zero = rows.dtype.type(slope), rows.dtype.type(1), rows.dtype.type(0)
    sums = np.zeros((parts, 3, width), dtype=np.float64)
    for part in prange(parts):
        d_gain, d_shift = np.zeros(width, dtype=rows.dtype), np.zeros(width, dtype=rows.dtype)
        d_slope = np.zeros(width, dtype=rows.dtype)
        begin, end = n * part // parts, n * (part + 1) // parts
        for row in range(begin, end):
            for k in range(width):
                normal = (rows[row, k] - mean[k]) * inverse[k]
                value = normal * gain[k] + shift[k]
                g = gradient[row, k]
                d_slope[k] += zero if value > 0 else g * value
                g *= one if value > 0 else below
                d_gain[k] += g * normal
                d_shift[k] += g
            if (row - begin) % CHUNK == CHUNK - 1 or row == end - 1:
                sums[part, 0] += d_gain
                sums[part, 1] += d_shift
                sums[part, 2] += d_slope
                d_gain[:] = 0
                d_shift[:] = 0
                d_slope[:] = 0
    total = sums.sum(axis=0)
    return total[0].astype(rows.dtype), total[1].astype(rows.dtype), total[2].sum()


@threaded(fastmath=True)
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
