"""Random views of a block, composable."""

from __future__ import annotations

from typing import Any

from imgcl._core.errors import InputError
from imgcl.views.adaptive import AdaptiveEdgeRemoving, AdaptiveFeatureMasking
from imgcl.views.base import Compose, Identity, View
from imgcl.views.diffusion import HeatDiffusion, PPRDiffusion
from imgcl.views.edge_adding import EdgeAdding, EdgePerturbation
from imgcl.views.edge_removing import EdgeRemoving
from imgcl.views.feature_dropout import FeatureDropout
from imgcl.views.feature_masking import FeatureMasking
from imgcl.views.feature_shuffling import FeatureShuffling
from imgcl.views.node_dropping import NodeDropping
from imgcl.views.random_walk_subgraph import RandomWalkSubgraph

__all__ = [
    "VIEWS",
    "AdaptiveEdgeRemoving",
    "AdaptiveFeatureMasking",
    "Compose",
    "EdgeAdding",
    "EdgePerturbation",
    "EdgeRemoving",
    "FeatureDropout",
    "FeatureMasking",
    "FeatureShuffling",
    "HeatDiffusion",
    "Identity",
    "NodeDropping",
    "PPRDiffusion",
    "RandomWalkSubgraph",
    "View",
    "make_view",
]

VIEWS: dict[str, type[View]] = {
    "identity": Identity,
    "edge-removing": EdgeRemoving,
    "adaptive-edge-removing": AdaptiveEdgeRemoving,
    "edge-adding": EdgeAdding,
    "edge-perturbation": EdgePerturbation,
    "feature-masking": FeatureMasking,
    "adaptive-feature-masking": AdaptiveFeatureMasking,
    "feature-dropout": FeatureDropout,
    "feature-shuffling": FeatureShuffling,
    "node-dropping": NodeDropping,
    "random-walk-subgraph": RandomWalkSubgraph,
    "ppr-diffusion": PPRDiffusion,
    "heat-diffusion": HeatDiffusion,
}


def make_view(name: str, **settings: Any) -> View:
    """The view of this name with its settings.

    Example:
        >>> make_view("edge-removing", p=0.4).p
        0.4
    """
    if name not in VIEWS:
        raise InputError(f"unknown view {name!r}: choose one of {', '.join(VIEWS)}")
    try:
        return VIEWS[name](**settings)
    except TypeError as error:
        raise InputError(f"view {name!r}: {error}") from None
