"""BGRL (Thakoor et al.): bootstrapped representations, without negatives."""

from __future__ import annotations

import math

import torch
from pydantic import Field
from torch import Tensor, nn

from imgcl._core.devices import has_kernels
from imgcl._core.fused import PReLU, prediction_cosine
from imgcl.encoders.base import Linear
from imgcl.encoders.layered import encode_beside
from imgcl.graph.block import Block
from imgcl.losses import bootstrap_cosine
from imgcl.methods.two_views import TwoViews, TwoViewSettings


class BGRLSettings(TwoViewSettings):
    """BGRL's settings."""

    predictor: int = Field(512, ge=1, description="hidden width of the predictor Linear-PReLU-Linear")
    momentum: float = Field(0.99, ge=0, le=1, description="of the target network at the first step; it rises to 1")


class BGRL(TwoViews[BGRLSettings]):
    """An online network predicts the rows that a slowly moving target network gives to the other view."""

    name = "bgrl"
    Settings = BGRLSettings

    def __init__(self, n_features: int, settings: BGRLSettings) -> None:
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features)
        # The target starts from weights of its own, not from a copy.
        self.target = settings.build_encoder(n_features, fresh=True).requires_grad_(False)
        width = self.encoder.out_features
        self.predictor = Predictor(width, settings.predictor)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        online, (z1, z2) = encode_beside(self.encoder, self.target, self.draw(block, generator), rows)
        h1, h2 = online
        return self.predictor.loss(h1, z2) + self.predictor.loss(h2, z1)

    def after_step(self, progress: float) -> None:
        """Move the target towards the online network, once per step and by one factor for all its tensors."""
        share = (1 - self.settings.momentum) * (1 + math.cos(math.pi * progress)) / 2
        with torch.no_grad():
            for target, online in zip(self.target.parameters(), self.encoder.parameters(), strict=True):
                target.lerp_(online, share)


class Predictor(nn.Module):
    """Linear-PReLU-Linear, and how far its predictions are from their targets.

    Args:
        width: of the rows.
        hidden: of the rows in between.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.first = Linear(width, hidden)
        self.activation = PReLU(dtype=torch.float32)
        self.last = Linear(hidden, width)

    def forward(self, rows: Tensor) -> Tensor:
        """Predict from the rows."""
        return self.last(self.activation(self.first(rows)))  # type: ignore[no-any-return]

    def loss(self, rows: Tensor, target: Tensor) -> Tensor:
        """Mean of ``1 - cos`` of the predictions and the target's rows."""
        if not has_kernels(rows.device) or not len(rows):
            return bootstrap_cosine(self(rows), target)
        first, last = self.first, self.last
        return prediction_cosine(rows, target, first.weight, first.bias, self.activation.weight, last.weight, last.bias)
