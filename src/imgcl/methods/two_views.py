"""What GRACE, BGRL, GBT, CCA-SSG and VICReg share: two random views of the graph and one encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import torch
from pydantic import Field, PlainValidator

from imgcl.graph.block import Block
from imgcl.methods.base import Method, MethodSettings
from imgcl.methods.parts import EncoderSettings
from imgcl.views import (
    AdaptiveEdgeRemoving,
    AdaptiveFeatureMasking,
    Compose,
    EdgeRemoving,
    FeatureMasking,
    View,
    make_views,
    views_name,
)

Drop = Literal["uniform", "degree", "pagerank", "eigenvector"]
REPLACED = ("edge_drop", "edge_drop_1", "edge_drop_2", "feature_mask", "feature_mask_1", "feature_mask_2", "drop")


def _name(views: Any) -> str | None:
    return None if views is None else views_name(views)


class ViewSettings(EncoderSettings):
    """The two views of a step, where they are not the method's own, and the encoder."""

    views: Annotated[str | None, PlainValidator(_name)] = Field(
        None, description="the two views, as edge-drop:0.4,feature-mask:0.1; by default those of the settings below"
    )

    def not_read(self) -> Mapping[str, str]:
        replaced = {} if self.views is None else dict.fromkeys(REPLACED, "views replaces it")
        return {**super().not_read(), **replaced}

    def build_views(self) -> tuple[View, View]:
        """The two views: those that were given, or the method's own."""
        return self.own_views() if self.views is None else make_views(self.views)

    def own_views(self) -> tuple[View, View]:
        """The two views that the other settings say."""
        raise NotImplementedError


class TwoViewSettings(ViewSettings):
    """How the two views are drawn, and the encoder."""

    edge_drop_1: float = Field(0.3, ge=0, lt=1, description="probability of dropping an edge, first view")
    edge_drop_2: float = Field(0.4, ge=0, lt=1, description="probability of dropping an edge, second view")
    feature_mask_1: float = Field(0.1, ge=0, lt=1, description="probability of masking a feature column, first view")
    feature_mask_2: float = Field(0.2, ge=0, lt=1, description="probability of masking a feature column, second view")

    def own_views(self) -> tuple[View, View]:
        return self.dropping("uniform")

    def dropping(self, drop: Drop) -> tuple[View, View]:
        """The two views, with edges and features dropped at random or by a centrality."""
        first = make_view(self.edge_drop_1, self.feature_mask_1, drop)
        return first, make_view(self.edge_drop_2, self.feature_mask_2, drop)


TwoViewT = TypeVar("TwoViewT", bound=ViewSettings)


class TwoViews(Method[TwoViewT]):
    """Two random views of the graph, by default edge removing and feature masking.

    A subclass builds ``self.encoder`` and implements the loss. Users choose its encoder and its views as for ours.

    Args:
        n_features: number of features of the graph.
        settings: a :class:`TwoViewSettings`, or a class derived from it.

    Example:
        >>> import imgcl
        >>> from imgcl.losses import bootstrap_cosine
        >>> class Mine(TwoViews):
        ...     def __init__(self, n_features, settings):
        ...         super().__init__(n_features, settings)
        ...         self.encoder = settings.build_encoder(n_features)
        ...
        ...     def loss(self, block, rows, generator):
        ...         u, v = self.encoder(self.draw(block, generator), rows)
        ...         return bootstrap_cosine(u, v.detach())
        >>> model = imgcl.ImGCL(Mine, encoder="sage", views="node-drop:0.2", n_clusters=2, epochs=5)
        >>> model.fit_transform(imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)).shape
        (80, 256)
    """

    Settings: ClassVar[type[MethodSettings]] = TwoViewSettings

    def __init__(self, n_features: int, settings: TwoViewT) -> None:
        super().__init__(n_features, settings)
        self.views = settings.build_views()

    def draw(self, block: Block, generator: torch.Generator) -> list[Block]:
        """The two views of a step."""
        return [view(block, generator) for view in self.views]


def make_view(edge_drop: float, feature_mask: float, drop: Drop = "uniform") -> View:
    """Edge removing and feature masking, uniform or weighted by a centrality (GCA)."""
    if drop == "uniform":
        return Compose([EdgeRemoving(edge_drop), FeatureMasking(feature_mask)])
    # Features first: their weights are centralities of the whole graph.
    return Compose([AdaptiveFeatureMasking(feature_mask, drop), AdaptiveEdgeRemoving(edge_drop, drop)])
