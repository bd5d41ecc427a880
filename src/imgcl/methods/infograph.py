"""InfoGraph (Sun et al.) on one graph: local features of all layers against the summed global feature."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from imgcl._core.draws import source
from imgcl.encoders import make_encoder
from imgcl.encoders.base import Activation, Linear
from imgcl.graph.block import Block
from imgcl.losses import jsd_discrimination
from imgcl.methods.base import Method
from imgcl.methods.parts import EncoderName, EncoderSettings
from imgcl.views import FeatureShuffling


class InfoGraphSettings(EncoderSettings):
    """InfoGraph's settings."""

    encoder: EncoderName = Field("gin", description="kind of graph neural network, or package.module:factory")
    dim: int = Field(128, ge=1, description="width of every layer; the embedding has layers times this")
    activation: Activation = Field("relu", description="after every layer, followed by the norm")


class InfoGraph(Method[InfoGraphSettings]):
    """A GIN whose layers are read side by side, two feed-forward nets, the Jensen-Shannon estimate.

    InfoGraph takes the nodes of other graphs as negatives. On a single graph they come from the same graph with
    shuffled features (our choice: the paper does not say).
    """

    name = "infograph"
    Settings = InfoGraphSettings

    def __init__(self, n_features: int, settings: InfoGraphSettings) -> None:
        super().__init__(n_features, settings)
        self.corruption = FeatureShuffling()
        self.encoder = make_encoder(
            settings.encoder,
            n_features,
            [settings.dim] * settings.layers,
            activation=settings.activation,
            norm=settings.norm,
            norm_first=False,
            dropout=settings.dropout,
            residual=settings.residual,
            jumping="cat",
        )
        self.local_net = FeedForward(self.encoder.out_features)
        self.global_net = FeedForward(self.encoder.out_features)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        positive, negative = self.encoder([block, self.corruption(block, generator)], rows)
        # The sum over the rows in units of their number (ours): it would otherwise push every score out of range.
        whole = self.global_net(positive.sum(dim=0) / len(positive))
        local = self.local_net(torch.cat([positive, negative])) @ whole
        return jsd_discrimination(local[: len(positive)], local[len(positive) :])


class FeedForward(nn.Module):
    """Three layers with ReLU beside a linear shortcut.

    Args:
        width: of input and output.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        layers = [module for _ in range(3) for module in (_linear(width), nn.ReLU())]
        self.layers = nn.Sequential(*layers)
        self.shortcut = _linear(width)

    def forward(self, rows: Tensor) -> Tensor:
        return self.layers(rows) + self.shortcut(rows)  # type: ignore[no-any-return]


def _linear(width: int) -> nn.Linear:
    linear = Linear(width, width)
    nn.init.xavier_uniform_(linear.weight, generator=source())
    nn.init.zeros_(linear.bias)
    return linear
