"""What an encoder is, and the parts all encoders share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from imgcl._core.errors import InputError
from imgcl._core.fused.bias_activation import PReLU
from imgcl.graph.block import Block

Norm = Literal["none", "batch", "layer"]
Activation = Literal["none", "relu", "prelu", "elu", "rrelu", "selu"]


class Encoder(nn.Module):
    """Turns blocks into node embeddings.

    Several blocks are encoded in one call so that views of the same features share one product. ``rows`` asks for
    some output rows only; message passing still runs over the whole block.
    """

    out_features: int

    def forward(self, blocks: Sequence[Block], rows: Tensor | None = None) -> list[Tensor]:
        raise NotImplementedError


def make_norm(norm: Norm, width: int, momentum: float = 0.1) -> nn.Module:
    """The named normalisation of a layer's output."""
    choices: dict[str, Callable[[], nn.Module]] = {
        "none": nn.Identity,
        "batch": lambda: nn.BatchNorm1d(width, momentum=momentum),
        "layer": lambda: nn.LayerNorm(width),
    }
    if norm not in choices:
        raise InputError(f"norm = {norm!r}: choose one of {', '.join(choices)}")
    return choices[norm]()


def make_activation(activation: Activation) -> nn.Module:
    """The named activation; ``rrelu`` has a fixed slope, as in GCA's code (its random form is off in evaluation)."""
    choices: dict[str, Callable[[], nn.Module]] = {
        "none": nn.Identity,
        "relu": nn.ReLU,
        "prelu": PReLU,
        "elu": nn.ELU,
        "selu": nn.SELU,
        "rrelu": lambda: nn.LeakyReLU((1 / 8 + 1 / 3) / 2),
    }
    if activation not in choices:
        raise InputError(f"activation = {activation!r}: choose one of {', '.join(choices)}")
    return choices[activation]()


def glorot(fan_in: int, fan_out: int) -> nn.Parameter:
    """A weight matrix (fan_in, fan_out) with Glorot-uniform entries."""
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(fan_in, fan_out)))
