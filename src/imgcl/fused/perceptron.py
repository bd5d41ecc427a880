"""Linear-PReLU-Linear in blocks of rows on the CPU.

The hidden rows are wider than both ends, and at full length they leave the cache between one operation and the next. A
block of them stays there: it is made, activated and used up at once. The backward keeps the products before activation
and makes the rest again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor

from imgcl.fused.bias_activation import activate
from imgcl.fused.norm_activation import CHUNK, FAST
from imgcl.sparse.threads import threaded, threads_for

BLOCK = 8 * CHUNK  # rows at a time


def perceptron(rows: Tensor, first: Tensor, bias: Tensor, slope: Tensor, last: Tensor, last_bias: Tensor) -> Tensor:
    """``prelu(rows @ first.T + bias) @ last.T + last_bias``.

    Args:
        rows: (n, width).
        first: (hidden, width).
        bias: (hidden,).
        slope: one number, that of the PReLU.
        last: (out, hidden).
        last_bias: (out,).

    Example:
        >>> one = torch.ones(1, 1)
        >>> perceptron(torch.tensor([[2.0], [-3.0]]), one, torch.ones(1), torch.tensor([0.5]), one, torch.zeros(1))
        tensor([[ 3.],
                [-1.]])
    """
    return _Perceptron.apply(rows, first, bias, slope, last, last_bias)  # type: ignore[no-any-return]


class _Perceptron(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, first: Tensor, bias: Tensor, slope: Tensor, last: Tensor, last_bias: Tensor
    ) -> Tensor:
        n = len(rows)
        products, out = rows.new_empty(n, len(first)), rows.new_empty(n, len(last))
        active = rows.new_empty(min(n, BLOCK), len(first))
        for piece in _pieces(n):
            block = products[piece]
            torch.mm(rows[piece], first.T, out=block)
            hidden = active[: len(block)]
            activate(block.numpy(), bias.numpy(), slope.item(), hidden.numpy(), threads_for(products.numel()))
            torch.addmm(last_bias, hidden, last.T, out=out[piece])
        ctx.save_for_backward(rows, products, first, bias, slope, last)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        rows, products, first, bias, slope, last = ctx.saved_tensors
        n, gradient = len(rows), gradient.contiguous()
        d_rows, d_first, d_last = torch.empty_like(rows), torch.zeros_like(first), torch.zeros_like(last)
        active, inner = products.new_empty(2, min(n, BLOCK), len(first))
        sums = np.zeros((2, len(first)))
        for piece in _pieces(n):
            block, g = products[piece], gradient[piece]
            hidden, d_hidden = active[: len(block)], inner[: len(block)]
            torch.mm(g, last, out=d_hidden)
            # Chunks are added up here, not in the kernel, whose parallel form would add in another order.
            sums += _backward(
                block.numpy(),
                bias.detach().numpy(),
                slope.item(),
                hidden.numpy(),
                d_hidden.numpy(),
                threads_for(products.numel()),
            ).sum(axis=0)
            d_last.addmm_(g.T, hidden)
            d_first.addmm_(d_hidden.T, rows[piece])
            torch.mm(d_hidden, first, out=d_rows[piece])
        d_bias, slopes = torch.from_numpy(sums).to(rows.dtype)
        return d_rows, d_first, d_bias, slopes.sum().reshape(slope.shape), d_last, gradient.sum(0)


def _pieces(n: int) -> list[slice]:
    return [slice(begin, min(n, begin + BLOCK)) for begin in range(0, n, BLOCK)]


@threaded(fastmath=FAST)
def _backward(
    rows: NDArray[Any], bias: NDArray[Any], slope: float, active: NDArray[Any], gradient: NDArray[Any], parts: int
) -> NDArray[Any]:
    """Make the activated rows again, turn their gradient into that of the rows, and sum those of bias and slope."""
    n, width = rows.shape
    below, one, zero = rows.dtype.type(slope), rows.dtype.type(1), rows.dtype.type(0)
    chunks = (n + CHUNK - 1) // CHUNK
    sums = np.zeros((chunks, 2, width), dtype=np.float64)
    for part in prange(parts):
        d_bias, d_slope = np.zeros(width, dtype=rows.dtype), np.zeros(width, dtype=rows.dtype)
        for chunk in range(chunks * part // parts, chunks * (part + 1) // parts):
            d_bias[:] = 0
            d_slope[:] = 0
            for row in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
                for k in range(width):
                    value = rows[row, k] + bias[k]
                    active[row, k] = value if value > 0 else below * value
                    g = gradient[row, k]
                    d_slope[k] += zero if value > 0 else g * value
                    g *= one if value > 0 else below
                    d_bias[k] += g
                    gradient[row, k] = g
            sums[chunk, 0] = d_bias
            sums[chunk, 1] = d_slope
    return sums
