"""CCA-SSG (Zhang et al.): views agree, dimensions are uncorrelated."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor

from imgcl.graph.block import Block
from imgcl.losses import cca_ssg
from imgcl.methods.two_views import TwoViews, TwoViewSettings


class CCASSGSettings(TwoViewSettings):
    """CCA-SSG's settings."""

    decorrelation: float = Field(1e-3, ge=0, description="lambda, weight of the decorrelation of each view")


class CCASSG(TwoViews[CCASSGSettings]):
    """Two views, one encoder that ends in a plain layer, the CCA loss on the selected rows."""

    name = "cca-ssg"
    Settings = CCASSGSettings

    def __init__(self, n_features: int, settings: CCASSGSettings) -> None:
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features, finish=False)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        u, v = self.encoder(self.draw(block, generator), rows)
        return cca_ssg(u, v, self.settings.decorrelation)
