"""GRACE (Zhu et al.): node-level InfoNCE; with ``drop`` other than uniform its successor GCA."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from imgcl.encoders.base import Activation, Linear, Norm
from imgcl.graph.block import Block
from imgcl.losses import info_nce
from imgcl.losses.info_nce import SMALLEST_TAU
from imgcl.methods.two_views import Drop, TwoViews, TwoViewSettings
from imgcl.views import View


class GRACESettings(TwoViewSettings):
    """GRACE's settings; its encoder has no norm."""

    activation: Activation = Field("relu", description="after every layer")
    norm: Norm = Field("none", description="before every activation")
    projection: int = Field(256, ge=1, description="hidden width of the projector Linear-ELU-Linear")
    tau: float = Field(0.4, ge=SMALLEST_TAU, description="temperature of the cosine")
    sample: float = Field(
        1.0, gt=0, le=1, description="share of the nodes contrasted in a step when no rows are selected; 1: all (ours)"
    )
    drop: Drop = Field("uniform", description="how edges and features are dropped; by a centrality as in GCA")

    def own_views(self) -> tuple[View, View]:
        return self.dropping(self.drop)


class GRACE(TwoViews[GRACESettings]):
    """Two views, one encoder, a projector, InfoNCE with all selected rows of both views as negatives."""

    name = "grace"
    Settings = GRACESettings

    def __init__(self, n_features: int, settings: GRACESettings) -> None:
        super().__init__(n_features, settings)
        self.encoder = settings.build_encoder(n_features)
        width = self.encoder.out_features
        self.projector = nn.Sequential(Linear(width, settings.projection), nn.ELU(), Linear(settings.projection, width))

    def loss(self, block: Block, rows: Tensor | None, generator: torch.Generator) -> Tensor:
        if rows is None and self.settings.sample < 1:
            rows = _random_rows(block.n_nodes, self.settings.sample, generator).to(block.device)
        both = self.projector(torch.cat(self.encoder(self.draw(block, generator), rows)))
        u, v = both.chunk(2)
        return info_nce(u, v, self.settings.tau)


def _random_rows(n_nodes: int, share: float, generator: torch.Generator) -> Tensor:
    """Other rows in every step: the loss costs share^2 of its time and still meets every node."""
    return torch.randperm(n_nodes, generator=generator)[: max(2, round(share * n_nodes))].sort().values
