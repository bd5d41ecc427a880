"""What GRACE, BGRL, GBT, CCA-SSG and VICReg share: two random views of the graph and one encoder."""

from __future__ import annotations

from typing import Literal, TypeVar

import torch
from pydantic import Field
from torch import Tensor

from imgcl.graph.block import Block
from imgcl.methods.base import Method
from imgcl.methods.parts import EncoderSettings
from imgcl.views import AdaptiveEdgeRemoving, AdaptiveFeatureMasking, Compose, EdgeRemoving, FeatureMasking, View

Drop = Literal["uniform", "degree", "pagerank", "eigenvector"]


class TwoViewSettings(EncoderSettings):
    """How the two views are drawn, and the encoder."""

    edge_drop_1: float = Field(0.3, ge=0, lt=1, description="probability of dropping an edge, first view")
    edge_drop_2: float = Field(0.4, ge=0, lt=1, description="probability of dropping an edge, second view")
    feature_mask_1: float = Field(0.1, ge=0, lt=1, description="probability of masking a feature column, first view")
    feature_mask_2: float = Field(0.2, ge=0, lt=1, description="probability of masking a feature column, second view")


TwoViewT = TypeVar("TwoViewT", bound=TwoViewSettings)


class TwoViews(Method[TwoViewT]):
    """Edge removing and feature masking, twice; a subclass builds ``self.encoder`` and says the loss."""

    def __init__(self, n_features: int, settings: TwoViewT, drop: Drop = "uniform") -> None:
        super().__init__(n_features, settings)
        self.views = (
            make_view(settings.edge_drop_1, settings.feature_mask_1, drop),
            make_view(settings.edge_drop_2, settings.feature_mask_2, drop),
        )

    def draw(self, block: Block, generator: torch.Generator) -> list[Block]:
        """The two views of a step."""
        return [view(block, generator) for view in self.views]

    def embed(self, block: Block) -> Tensor:
        return self.encoder([block])[0]  # type: ignore[no-any-return, operator]


def make_view(edge_drop: float, feature_mask: float, drop: Drop = "uniform") -> View:
    """Edge removing and feature masking, uniform or weighted by a centrality (GCA)."""
    if drop == "uniform":
        return Compose([EdgeRemoving(edge_drop), FeatureMasking(feature_mask)])
    # Features first: their weights are centralities of the whole graph.
    return Compose([AdaptiveFeatureMasking(feature_mask, drop), AdaptiveEdgeRemoving(edge_drop, drop)])
