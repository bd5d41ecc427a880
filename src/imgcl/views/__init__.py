"""Random views of a block, composable."""

from imgcl.views.adaptive import AdaptiveEdgeRemoving, AdaptiveFeatureMasking
from imgcl.views.base import Compose, Identity, View
from imgcl.views.diffusion import HeatDiffusion, PPRDiffusion
from imgcl.views.edge_adding import EdgeAdding, EdgePerturbation
from imgcl.views.edge_removing import EdgeRemoving
from imgcl.views.feature_dropout import FeatureDropout
from imgcl.views.feature_masking import FeatureMasking
from imgcl.views.feature_shuffling import FeatureShuffling
from imgcl.views.names import VIEWS, Views, make_view, make_views, parse_view, views_name
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
    "Views",
    "make_view",
    "make_views",
    "parse_view",
    "views_name",
]
