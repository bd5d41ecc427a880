"""Settings and small networks that several methods share."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from imgcl.encoders import Encoder, make_encoder
from imgcl.encoders.base import Activation, Norm, glorot
from imgcl.methods.base import MethodSettings


class EncoderSettings(MethodSettings):
    """The encoder of a method."""

    encoder: Literal["gcn", "sage", "gin", "gat"] = Field("gcn", description="kind of graph neural network")
    dim: int = Field(256, ge=1, description="width d of the embedding; hidden layers have 2 d")
    layers: int = Field(2, ge=1, description="number of message-passing layers")
    activation: Activation = Field("prelu", description="after every layer")
    norm: Norm = Field("batch", description="before every activation")
    dropout: float = Field(0.0, ge=0, lt=1, description="of hidden rows, in training")
    residual: bool = Field(
        False,
        description="add a layer's input to its output, through a learnt matrix where widths differ; needs 2 layers",
    )

    def build_encoder(self, n_features: int, *, finish: bool = True, momentum: float = 0.1) -> Encoder:
        """The encoder; ``finish``: norm and activation follow the last layer too."""
        return make_encoder(
            self.encoder,
            n_features,
            [2 * self.dim] * (self.layers - 1) + [self.dim],
            activation=self.activation,
            norm=self.norm,
            finish=finish,
            momentum=momentum,
            dropout=self.dropout,
            residual=self.residual,
        )


class Bilinear(nn.Module):
    """DGI's discriminator: the score of a node row h with a summary s is ``h W s + b``.

    Args:
        width: of both.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = glorot(width, width)
        self.bias = nn.Parameter(torch.zeros((), dtype=torch.float32))

    def forward(self, rows: Tensor, summary: Tensor) -> Tensor:
        # W s first: one vector instead of a matrix per score.
        return rows @ (self.weight @ summary) + self.bias


def summarise(rows: Tensor) -> Tensor:
    """DGI's readout: the sigmoid of the mean over the given rows."""
    return torch.sigmoid(rows.mean(dim=0))
