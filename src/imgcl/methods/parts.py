"""Settings and small networks that several methods share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import torch
from pydantic import Field, PlainValidator
from torch import Tensor, nn

from imgcl.encoders import ENCODERS, Encoder, encoder_name, make_encoder
from imgcl.encoders.base import Activation, Norm, glorot
from imgcl.methods.base import MethodSettings

EncoderName = Annotated[str, PlainValidator(encoder_name)]
OF_OURS = ("layers", "activation", "norm", "dropout", "residual", "momentum")  # settings of our encoders


class EncoderSettings(MethodSettings):
    """The encoder of a method: ``gcn``, ``sage``, ``gin`` or ``gat``, a module of yours, or a factory of one.

    A module or a factory makes all layers itself: of the other settings it reads ``dim``, if it is a factory.
    """

    encoder: EncoderName = Field("gcn", description="kind of graph neural network, or package.module:factory")
    dim: int = Field(256, ge=1, description="width d of the embedding; hidden layers have 2 d")
    layers: int = Field(2, ge=1, description="number of message-passing layers")
    activation: Activation = Field("prelu", description="after every layer")
    norm: Norm = Field("batch", description="before every activation")
    dropout: float = Field(0.0, ge=0, lt=1, description="of hidden rows, in training")
    residual: bool = Field(
        False,
        description="add a layer's input to its output, through a learnt matrix where widths differ; needs 2 layers",
    )

    def not_read(self) -> Mapping[str, str]:
        if self.encoder in ENCODERS:
            return super().not_read()
        unread = (*OF_OURS, "dim") if "@" in self.encoder else OF_OURS
        return {**super().not_read(), **dict.fromkeys(unread, "the encoder is yours, and decides that itself")}

    def build_encoder(
        self, n_features: int, *, finish: bool = True, momentum: float = 0.1, fresh: bool = False
    ) -> Encoder:
        """The encoder.

        Args:
            n_features: number of features of the graph.
            finish: norm and activation follow the last layer too.
            momentum: of the batch norm.
            fresh: a second encoder, with weights of its own even if ``encoder`` is a module that has some.
        """
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
            fresh=fresh,
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
