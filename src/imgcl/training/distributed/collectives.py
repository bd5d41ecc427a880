"""Exchange between workers that gradients pass through.

Every worker computes the same loss from the rows of all, so the gradient of a gathered matrix is the same everywhere
and a worker keeps the part of its own rows. A sum over workers enters the rows of all, so its gradient is summed.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from imgcl.training.distributed.workers import Workers


def gather_rows(rows: Tensor, workers: Workers) -> Tensor:
    """The rows of all workers, in the order of their ranks; numbers of rows may differ."""
    return _GatherRows.apply(rows, workers)  # type: ignore[no-any-return]


def sum_over(values: Tensor) -> Tensor:
    """The sum over all workers."""
    return _SumOver.apply(values)  # type: ignore[no-any-return]


def gather_numbers(numbers: Tensor, workers: Workers) -> list[Tensor]:
    """The row vectors (or matrices) of all workers, without gradient."""
    lengths = [torch.zeros(1, dtype=torch.long) for _ in range(workers.size)]
    dist.all_gather(lengths, torch.tensor([len(numbers)]))
    longest = max(int(length) for length in lengths)
    padded = numbers.new_zeros((longest, *numbers.shape[1:]))
    padded[: len(numbers)] = numbers
    parts = [torch.empty_like(padded) for _ in range(workers.size)]
    dist.all_gather(parts, padded)
    return [part[: int(length)] for part, length in zip(parts, lengths, strict=True)]


class _GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, workers: Workers) -> Tensor:
        parts = gather_numbers(rows.detach().contiguous(), workers)
        ctx.begin = sum(len(part) for part in parts[: workers.rank])
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
