"""VICReg (Bardes, Ponce and LeCun) on the two-view frame of graph methods."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor

from imgcl.graph.block import Block
from imgcl.losses import vicreg
from imgcl.methods.two_views import TwoViews, TwoViewSettings


class VICRegSettings(TwoViewSettings):
    """VICReg's settings; the weights are those of its paper."""

    invariance: float = Field(25.0, ge=0, description="weight of the distance between the views")
    variance: float = Field(25.0, ge=0, description="weight of the hinge on the standard deviations")
    covariance: float = Field(1.0, ge=0, description="weight of the covariances")


class VICReg(TwoViews[VICRegSettings]):
    """Two views, one encoder that ends in a plain layer, the VICReg loss on the selected rows."""

    name = "vicreg"
    Settings = VICRegSettings

    def __init__(self, n_features: int, settings: VICRegSettings) -> None:
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features, finish=False)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        u, v = self.encoder(self.draw(block, generator), rows)
        return vicreg(u, v, self.settings.invariance, self.settings.variance, self.settings.covariance)
