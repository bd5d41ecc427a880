"""What to compare with: features, walks, propagation, supervised networks and trees, through the same evaluation."""

from imgcl.baselines.embeddings import (
    deepwalk,
    deepwalk_features,
    neighbour_features,
    node2vec,
    own_features,
    principal_components,
    propagated_features,
    raw_features,
)
from imgcl.baselines.propagate_labels import label_propagation
from imgcl.baselines.running import BASELINES, Baseline, resolve_baseline, run_baseline
from imgcl.baselines.supervised import gcn, sage
from imgcl.baselines.trees import neighbour_means, trees, trees_neighbours
from imgcl.graph.structure.skipgram import skip_gram
from imgcl.graph.structure.walks import random_walks

__all__ = [
    "BASELINES",
    "Baseline",
    "deepwalk",
    "deepwalk_features",
    "gcn",
    "label_propagation",
    "neighbour_features",
    "neighbour_means",
    "node2vec",
    "own_features",
    "principal_components",
    "propagated_features",
    "random_walks",
    "raw_features",
    "resolve_baseline",
    "run_baseline",
    "sage",
    "skip_gram",
    "trees",
    "trees_neighbours",
]
