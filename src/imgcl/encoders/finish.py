"""What follows a layer's product: bias, norm, activation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from imgcl._core.devices import has_kernels
from imgcl._core.fused.bias_activation import bias_activation
from imgcl._core.fused.norm_activation import norm_activation
from imgcl.encoders.base import Activation, Norm, make_activation, make_norm


class Finish(nn.Module):
    """``activation(norm(h + bias))``, or ``norm(activation(h + bias))``.

    A piecewise linear activation, alone (DGI) or after a batch norm (GBT, BGRL), is one fused operation on the CPU.

    Args:
        width: of the rows.
        norm: see :func:`imgcl.encoders.base.make_norm`.
        activation: see :func:`imgcl.encoders.base.make_activation`.
        momentum: of the batch norm.
        norm_first: the norm comes before the activation.
    """

    def __init__(
        self,
        width: int,
        norm: Norm = "none",
        activation: Activation = "none",
        momentum: float = 0.1,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width, dtype=torch.float32))
        self.norm = make_norm(norm, width, momentum)
        self.activation = make_activation(activation)
        self.norm_first = norm_first

    def forward(self, hidden: Tensor) -> Tensor:
        """Finish the rows; without gradient (the target of BGRL) they may be overwritten."""
        slope = _slope(self.activation) if has_kernels(hidden.device) else None
        if slope is not None and isinstance(self.norm, nn.Identity):
            return bias_activation(hidden, self.bias, slope.to(hidden.dtype))
        if slope is not None and isinstance(self.norm, nn.BatchNorm1d) and self._batch_moments(hidden):
            return self._fused(hidden, self.norm, slope.to(hidden.dtype))
        hidden = hidden + self.bias
        if self.norm_first:
            return self.activation(self.norm(hidden))  # type: ignore[no-any-return]
        return self.norm(self.activation(hidden))  # type: ignore[no-any-return]

    def _batch_moments(self, hidden: Tensor) -> bool:
        """Whether a batch norm comes first and uses the moments of these rows."""
        return self.norm_first and self.training and len(hidden) > 1

    def _fused(self, hidden: Tensor, norm: nn.BatchNorm1d, slope: Tensor) -> Tensor:
        in_place = not torch.is_grad_enabled()
        out, mean, variance = norm_activation(hidden, norm.weight, norm.bias, slope, norm.eps, in_place)
        with torch.no_grad():
            # The batch's own mean removes the bias, so it only shows in the running mean.
            unbiased = variance * (len(hidden) / (len(hidden) - 1))
            norm.running_mean.lerp_(mean + self.bias, norm.momentum)  # type: ignore[union-attr, arg-type]
            norm.running_var.lerp_(unbiased, norm.momentum)  # type: ignore[union-attr, arg-type]
            norm.num_batches_tracked.add_(1)  # type: ignore[union-attr]
        return out


def _slope(activation: nn.Module) -> Tensor | None:
    """Slope of the activation below 0, if it is linear there."""
    if isinstance(activation, nn.PReLU):
        return activation.weight
    if isinstance(activation, nn.LeakyReLU):
        return torch.tensor([activation.negative_slope], dtype=torch.float32)
    return {nn.ReLU: torch.zeros(1, dtype=torch.float32), nn.Identity: torch.ones(1, dtype=torch.float32)}.get(
        type(activation)
    )
