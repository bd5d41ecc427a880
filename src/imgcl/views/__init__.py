"""Random views of a block, composable."""

from imgcl.views.base import Compose, View
from imgcl.views.edge_removing import EdgeRemoving
from imgcl.views.feature_masking import FeatureMasking

__all__ = ["Compose", "EdgeRemoving", "FeatureMasking", "View"]
