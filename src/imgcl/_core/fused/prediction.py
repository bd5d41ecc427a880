"""BGRL's predictor and its loss as one operation on the CPU.

The hidden rows are wider than both ends, and at full length they leave the cache between one operation and the next.
The loss is a mean over rows, so the gradient of a row needs no other row: a block of rows is predicted, compared and
differentiated at once, and nothing of the predictor's width is ever kept. The backward only hands out what is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from imgcl._core.fused.bias_activation import activate, activation_gradient
from imgcl._core.fused.cosine import cosine_gradients, cosines
from imgcl._core.fused.norm_activation import CHUNK
from imgcl._core.sparse.threads import threads_for

BLOCK = 4 * CHUNK  # rows at a time


def prediction_cosine(
    rows: Tensor, target: Tensor, first: Tensor, bias: Tensor, slope: Tensor, last: Tensor, last_bias: Tensor
) -> Tensor:
    """Mean of ``1 - cos(q_i, target_i)`` where ``q = prelu(rows @ first.T + bias) @ last.T + last_bias``.

    Args:
        rows: (n, width), at least one.
        target: what to predict, (n, out); it receives no gradient.
        first: (hidden, width).
        bias: (hidden,).
        slope: one number, that of the PReLU.
        last: (out, hidden).
        last_bias: (out,).

    Example:
        >>> one, rows, target = torch.ones(1, 1), torch.tensor([[2.0], [-3.0]]), torch.tensor([[5.0], [5.0]])
        >>> float(prediction_cosine(rows, target, one, torch.ones(1), torch.tensor([0.5]), one, torch.zeros(1)))
        1.0
    """
    return _PredictionCosine.apply(  # type: ignore[no-any-return]
        rows, target.detach(), first, bias, slope, last, last_bias
    )


class _PredictionCosine(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        target: Tensor,
        first: Tensor,
        bias: Tensor,
        slope: Tensor,
        last: Tensor,
        last_bias: Tensor,
    ) -> Tensor:
        n, hidden, out = len(rows), len(first), len(last)
        rows, target = rows.contiguous(), target.contiguous()
        block = min(n, BLOCK)
        products, active, inner = rows.new_empty(3, block, hidden)
        predicted, outer = rows.new_empty(2, block, out)
        found, lengths = rows.new_empty(n), rows.new_empty(block, 2)
        d_rows, d_first, d_last = torch.empty_like(rows), torch.zeros_like(first), torch.zeros_like(last)
        d_last_bias = torch.zeros_like(last_bias)
        constants, sums = (bias.numpy(), slope.item()), np.zeros((2, hidden))
        wide, narrow = threads_for(n * hidden), threads_for(n * out)
        nowhere = products[:0].numpy()
        wanted = any(ctx.needs_input_grad)
        for begin in range(0, n, block):
            piece = slice(begin, min(n, begin + block))
            size = piece.stop - begin
            product, h, q = products[:size], active[:size], predicted[:size]
            torch.mm(rows[piece], first.T, out=product)
            activate(product.numpy(), *constants, h.numpy(), wide)
            torch.addmm(last_bias, h, last.T, out=q)
            compared = q.numpy(), target[piece].numpy(), found[piece].numpy(), lengths[:size].numpy()
            cosines(*compared, narrow)
            if not wanted:
                continue
            dq, dh = outer[:size], inner[:size]
            cosine_gradients(*compared, dq.numpy(), -1 / n, narrow)
            torch.mm(dq, last, out=dh)
            # Chunks are added up here, not in the kernel, whose parallel form would add in another order.
            sums += activation_gradient(product.numpy(), dh.numpy(), *constants, nowhere, wide).sum(axis=0)
            d_last.addmm_(dq.T, h)
            d_last_bias += dq.sum(0)
            d_first.addmm_(dh.T, rows[piece])
            torch.mm(dh, first, out=d_rows[piece])
        d_bias, slopes = torch.from_numpy(sums).to(rows.dtype)
        d_slope = slopes.sum().reshape(slope.shape)
        ctx.save_for_backward(d_rows, d_first, d_bias, d_slope, d_last, d_last_bias)
        return 1 - found.mean()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        d_rows, *others = (each if gradient.item() == 1 else each * gradient for each in ctx.saved_tensors)
        return d_rows, None, *others
