"""Batch norm over the rows of all ranks, each node counted once."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from imgcl.training.distributed.collectives import sum_over


class SharedBatchNorm(nn.Module):
    """The batch norm that one process with all rows would compute.

    Neighbourhoods of different workers overlap. A node that several of them have enters the moments with a weight of
    one over their number, so that all copies together count as one row.

    Args:
        norm: the batch norm to take the place of; its parameters and buffers are shared, and so are their names.
        weights: gives the weight of every row of the layer that this norm follows.
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(self, norm: nn.BatchNorm1d, weights: Callable[[], Tensor]) -> None:
        super().__init__()
        assert norm.momentum is not None
        self.weight, self.bias = norm.weight, norm.bias
        self.register_buffer("running_mean", norm.running_mean)
        self.register_buffer("running_var", norm.running_var)
        self.register_buffer("num_batches_tracked", norm.num_batches_tracked)
        self.eps, self.momentum, self._weights = norm.eps, norm.momentum, weights

    def forward(self, hidden: Tensor) -> Tensor:
        """Normalise the rows."""
        if not self.training:
            return nn.functional.batch_norm(
                hidden, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps
            )
        weights = self._weights().to(hidden.dtype).unsqueeze(1)
        count = sum_over(weights.sum().reshape(1))
        mean = sum_over((weights * hidden).sum(dim=0)) / count
        centred = hidden - mean
        variance = sum_over((weights * centred.square()).sum(dim=0)) / count
        with torch.no_grad():
            unbiased = variance * (count / (count - 1).clamp(min=1))
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(unbiased, self.momentum)
            self.num_batches_tracked.add_(1)
        return centred * (variance + self.eps).rsqrt() * self.weight + self.bias
