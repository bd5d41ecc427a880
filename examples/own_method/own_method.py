"""A contrastive method and an encoder for imgcl: alignment and uniformity (Wang and Isola, 2020) on a wider GCN."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import normalize

from imgcl.encoders import GCN, Encoder
from imgcl.graph import Block
from imgcl.methods import TwoViews, TwoViewSettings


class AlignUniformSettings(TwoViewSettings):
    """Those of two views and an encoder, and two of our own; ``--set uniformity=0.5`` changes one."""

    uniformity: float = Field(1.0, ge=0, description="weight of the uniformity")
    sharpness: float = Field(2.0, gt=0, description="t of the Gaussian potential exp(-t d^2)")


class AlignUniform(TwoViews[AlignUniformSettings]):
    """Two views of a node lie close together, and all nodes spread over the sphere."""

    Settings = AlignUniformSettings

    def __init__(self, n_features: int, settings: AlignUniformSettings) -> None:
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        """The loss of one step; ``rows`` are the nodes that ImGCL selected, ``None`` stands for all."""
        u, v = (normalize(z, dim=1) for z in self.encoder(self.draw(block, generator), rows))
        alignment = (u - v).square().sum(dim=1).mean()
        return alignment + self.settings.uniformity / 2 * (self.spread(u) + self.spread(v))

    def spread(self, z: Tensor) -> Tensor:
        """Logarithm of the mean potential of all pairs."""
        return torch.pdist(z).square().mul(-self.settings.sharpness).exp().mean().log()


def wide(in_features: int, out_features: int) -> Encoder:
    """A GCN whose hidden layer is twice as wide as its output. Any torch or torch_geometric module would do."""
    return GCN(in_features, [2 * out_features, out_features])
