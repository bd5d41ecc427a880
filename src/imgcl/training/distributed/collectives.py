"""Exchange between ranks that gradients pass through.

Every rank computes the same loss from the rows of all, so the gradient of a gathered matrix is the same everywhere
and a rank keeps the part of its own rows. A sum over ranks enters the rows of all, so its gradient is summed.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from imgcl.training.distributed.group import ProcessGroup


def gather_rows(rows: Tensor, group: ProcessGroup) -> Tensor:
    """The rows of all ranks, in their order; numbers of rows may differ."""
    return _GatherRows.apply(rows, group)  # type: ignore[no-any-return]


def sum_over(values: Tensor) -> Tensor:
    """The sum over all ranks."""
    return _SumOver.apply(values)  # type: ignore[no-any-return]


def gather_numbers(numbers: Tensor, group: ProcessGroup) -> list[Tensor]:
    """The row vectors (or matrices) of all ranks, without gradient."""
    lengths = [torch.zeros(1, dtype=torch.long) for _ in range(group.world_size)]
    dist.all_gather(lengths, torch.tensor([len(numbers)]))
    longest = max(int(length) for length in lengths)
    padded = numbers.new_zeros((longest, *numbers.shape[1:]))
    padded[: len(numbers)] = numbers
    parts = [torch.empty_like(padded) for _ in range(group.world_size)]
    dist.all_gather(parts, padded)
    return [part[: int(length)] for part, length in zip(parts, lengths, strict=True)]


class _GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, group: ProcessGroup) -> Tensor:
        parts = gather_numbers(rows.detach().contiguous(), group)
        ctx.begin = sum(len(part) for part in parts[: group.rank])
        ctx.length = len(rows)
        return torch.cat(parts)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient[ctx.begin : ctx.begin + ctx.length].contiguous(), None


class _SumOver(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        total = values.detach().clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        total = gradient.clone()
        dist.all_reduce(total)
        return total
