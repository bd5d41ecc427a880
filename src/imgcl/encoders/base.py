"""What an encoder is, and the parts all encoders share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from imgcl._core.draws import source
from imgcl._core.errors import InputError
from imgcl._core.fused.bias_activation import PReLU
from imgcl._core.words import did_you_mean
from imgcl.graph.block import Block

Norm = Literal["none", "batch", "layer"]
Activation = Literal["none", "relu", "prelu", "elu", "rrelu", "selu"]


class Encoder(nn.Module):
    """Turns blocks into node embeddings.

    Several blocks are encoded in one call so that views of the same features share one product. ``rows`` asks for
    some output rows only; message passing still runs over the whole block. An encoder of your own may be a plain torch
    module instead, see :class:`imgcl.encoders.ModuleEncoder`; derive from this class to read blocks yourself.

    Attributes:
        out_features: width of the output.

    Example:
        >>> import numpy as np
        >>> from imgcl import Graph
        >>> class Mean(Encoder):
        ...     def __init__(self, n_features, out_features):
        ...         super().__init__()
        ...         self.linear, self.out_features = Linear(n_features, out_features), out_features
        ...
        ...     def forward(self, blocks, rows=None):
        ...         each = [block.mean @ self.linear(block.dense_features()) for block in blocks]
        ...         return each if rows is None else [z[rows] for z in each]
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> [tuple(z.shape) for z in Mean(3, 4)([block, block], torch.tensor([0, 2]))]
        [(2, 4), (2, 4)]
    """

    out_features: int

    def forward(self, blocks: Sequence[Block], rows: Tensor | None = None) -> list[Tensor]:
        raise NotImplementedError


def make_norm(norm: Norm, width: int, momentum: float = 0.1) -> nn.Module:
    """The named normalisation of a layer's output."""
    choices: dict[str, Callable[[], nn.Module]] = {
        "none": nn.Identity,
        "batch": lambda: nn.BatchNorm1d(width, momentum=momentum, dtype=torch.float32),
        "layer": lambda: nn.LayerNorm(width, dtype=torch.float32),
    }
    if norm not in choices:
        raise InputError(f"norm = {norm!r}{did_you_mean(norm, choices)}")
    return choices[norm]()


def make_activation(activation: Activation) -> nn.Module:
    """The named activation; ``rrelu`` has a fixed slope, as in GCA's code (its random form is off in evaluation)."""
    choices: dict[str, Callable[[], nn.Module]] = {
        "none": nn.Identity,
        "relu": nn.ReLU,
        "prelu": lambda: PReLU(dtype=torch.float32),
        "elu": nn.ELU,
        "selu": nn.SELU,
        "rrelu": lambda: nn.LeakyReLU((1 / 8 + 1 / 3) / 2),
    }
    if activation not in choices:
        raise InputError(f"activation = {activation!r}{did_you_mean(activation, choices)}")
    return choices[activation]()


def glorot(fan_in: int, fan_out: int) -> nn.Parameter:
    """A weight matrix (fan_in, fan_out) with Glorot-uniform entries."""
    empty = torch.empty(fan_in, fan_out, dtype=torch.float32)
    return nn.Parameter(nn.init.xavier_uniform_(empty, generator=source()))


class Linear(nn.Linear):
    """torch's linear layer in single precision, with weights from :func:`imgcl._core.draws.source`.

    Args:
        fan_in: width of the input.
        fan_out: width of the output.
    """

    def __init__(self, fan_in: int, fan_out: int) -> None:
        super().__init__(fan_in, fan_out, dtype=torch.float32)

    def reset_parameters(self) -> None:
        """Draw the weights as torch does, in the same order."""
        bound = 1 / math.sqrt(self.in_features)
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5), generator=source())
        nn.init.uniform_(self.bias, -bound, bound, generator=source())


class Dropout(nn.Module):
    """torch's dropout with a mask from :func:`imgcl._core.draws.source`; on any device it is drawn on the CPU.

    Args:
        p: probability of an entry to be zeroed, in training.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, rows: Tensor) -> Tensor:
        """Zero entries of the rows and scale up the rest."""
        if not self.training or self.p == 0:
            return rows
        kept = torch.empty(rows.shape, dtype=rows.dtype).bernoulli_(1 - self.p, generator=source())
        return rows * kept.div_(1 - self.p).to(rows.device)
