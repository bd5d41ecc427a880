"""Features made from the edges alone, for graphs whose nodes have none: walk embeddings and degrees."""

from imgcl.graph.checks import is_structural
from imgcl.graph.structure.features import structural_features, with_structure

__all__ = ["is_structural", "structural_features", "with_structure"]
