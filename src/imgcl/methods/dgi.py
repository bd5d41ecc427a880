"""DGI (Velickovic et al.): tell the nodes of a graph from those of its corruption, given a summary of the graph."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor

from imgcl.encoders.base import Norm
from imgcl.graph.block import Block
from imgcl.losses import bce_discrimination
from imgcl.methods.base import Method
from imgcl.methods.parts import Bilinear, EncoderSettings, summarise
from imgcl.views import FeatureShuffling


class DGISettings(EncoderSettings):
    """DGI's settings; the defaults are those of its own repository."""

    dim: int = Field(512, ge=1, description="width d of the embedding; hidden layers have 2 d")
    layers: int = Field(1, ge=1, description="number of message-passing layers")
    norm: Norm = Field("none", description="before every activation")


class DGI(Method[DGISettings]):
    """One encoder for the graph and for the graph with shuffled features, a bilinear discriminator, BCE."""

    name = "dgi"
    Settings = DGISettings

    def __init__(self, n_features: int, settings: DGISettings) -> None:
        super().__init__(n_features, settings)
        self.corruption = FeatureShuffling()
        self.encoder = settings.build_encoder(n_features)
        self.discriminator = Bilinear(self.encoder.out_features)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        # One call: the first product of the corrupted graph is that of the graph, read in another order.
        positive, negative = self.encoder([block, self.corruption(block, generator)], rows)
        summary = summarise(positive)
        return bce_discrimination(self.discriminator(positive, summary), self.discriminator(negative, summary))
