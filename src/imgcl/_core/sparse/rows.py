"""Rows of a matrix in another order, with a backward that gathers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def permute_rows(rows: Tensor, order: Tensor) -> Tensor:
    """``rows[order]`` for a permutation: its backward reads in the inverse order instead of scattering.

    Example:
        >>> permute_rows(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([2, 0, 1])).flatten().tolist()
        [3.0, 1.0, 2.0]
    """
    return _Permute.apply(rows, order)  # type: ignore[no-any-return]


class _Permute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return rows.index_select(0, order)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (order,) = ctx.saved_tensors
        inverse = torch.empty_like(order)
        inverse[order] = torch.arange(len(order), device=order.device)
        return gradient.index_select(0, inverse), None
