"""Linear-PReLU-Linear in blocks of rows on the CPU.

The hidden rows are wider than both ends, and at full length they leave the cache between one operation and the next. A
block of them stays there: it is made, activated and used up at once. The backward keeps the products before activation
and makes the rest again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from imgcl.fused.bias_activation import activate, activation_gradient
from imgcl.fused.norm_activation import CHUNK
from imgcl.sparse.threads import threads_for

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
            activate(block.numpy(), bias.detach().numpy(), slope.item(), hidden.numpy(), threads_for(products.numel()))
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
        constants = bias.detach().numpy(), slope.item()
        sums, parts = np.zeros((2, len(first))), threads_for(products.numel())
        for piece in _pieces(n):
            block, g = products[piece], gradient[piece]
            hidden, d_hidden = active[: len(block)], inner[: len(block)]
            torch.mm(g, last, out=d_hidden)
            activate(block.numpy(), *constants, hidden.numpy(), parts)
            # Chunks are added up here, not in the kernel, whose parallel form would add in another order.
            both = d_hidden.numpy()
            sums += activation_gradient(block.numpy(), both, *constants, both, parts).sum(axis=0)
            d_last.addmm_(g.T, hidden)
            d_first.addmm_(d_hidden.T, rows[piece])
            torch.mm(d_hidden, first, out=d_rows[piece])
        d_bias, slopes = torch.from_numpy(sums).to(rows.dtype)
        return d_rows, d_first, d_bias, slopes.sum().reshape(slope.shape), d_last, gradient.sum(0)


def _pieces(n: int) -> list[slice]:
    return [slice(begin, min(n, begin + BLOCK)) for begin in range(0, n, BLOCK)]
