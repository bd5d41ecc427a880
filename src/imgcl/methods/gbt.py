"""GBT: Graph Barlow Twins (Bielak, Kajdanowicz and Chawla)."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor

from imgcl.graph.block import Block
from imgcl.losses import barlow_twins
from imgcl.methods.two_views import TwoViews, ViewSettings, make_view
from imgcl.views import View


class GBTSettings(ViewSettings):
    """GBT's settings; the defaults are those of its Amazon-Computers configuration."""

    dim: int = Field(128, ge=1, description="width d of the embedding; hidden layers have 2 d")
    edge_drop: float = Field(0.4, ge=0, lt=1, description="probability of dropping an edge, both views")
    feature_mask: float = Field(0.1, ge=0, lt=1, description="probability of masking a feature column, both views")
    momentum: float = Field(0.01, gt=0, le=1, description="momentum of the batch norm")
    eps: float = Field(1e-15, ge=0, description="added to the variances of the loss")

    def own_views(self) -> tuple[View, View]:
        view = make_view(self.edge_drop, self.feature_mask)
        return view, view


class GBT(TwoViews[GBTSettings]):
    """Two views by edge removing and feature masking, one encoder, the Barlow Twins loss on the selected rows."""

    name = "gbt"
    Settings = GBTSettings

    def __init__(self, n_features: int, settings: GBTSettings) -> None:
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features, finish=False, momentum=settings.momentum)

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        u, v = self.encoder(self.draw(block, generator), rows)
        return barlow_twins(u, v, eps=self.settings.eps)
