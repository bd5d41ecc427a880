"""Tree ensembles on features, and on features with the means of neighbours beside them.

On tables few methods beat trees. With the means of 1 and 2 hops as further columns they also were the best on many
graphs with a rare class (GADBench, Tang et al. 2023): what a learnt embedding must beat to be worth its training.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.seeding import derive
from imgcl.baselines.embeddings import own_features
from imgcl.baselines.prediction import Prediction
from imgcl.evaluation.labels import Labels
from imgcl.evaluation.trees import TreesClassifier
from imgcl.graph import Graph
from imgcl.imbalance import Split

Floats = NDArray[np.float32]

HOPS = 2
WEIGHTS = {"plain": None, "reweight": "balanced"}  # class weights by the classifiers' names


def trees(graph: Graph, labels: Labels, splits: Sequence[Split], classifier: str, seed: int = 0) -> list[Prediction]:
    """Boosting or a forest on the nodes' own features; validation nodes choose.

    Args:
        graph: its features; wide ones are reduced, see :func:`imgcl.baselines.own_features`.
        labels: of its nodes.
        splits: train, validation and test nodes.
        classifier: ``plain``, or ``reweight``: classes count alike.
        seed: of the ensembles.
    """
    return _predictions(own_features(graph, seed=seed), labels, splits, classifier, seed)


def trees_neighbours(
    graph: Graph, labels: Labels, splits: Sequence[Split], classifier: str, seed: int = 0
) -> list[Prediction]:
    """As :func:`trees`, with the means over neighbours, and over neighbours of neighbours, as further columns."""
    own = own_features(graph, seed=seed)
    return _predictions(np.concatenate([own, *neighbour_means(graph, own)], axis=1), labels, splits, classifier, seed)


def neighbour_means(graph: Graph, x: Floats, hops: int = HOPS) -> list[Floats]:
    """(Weighted) means over the neighbours without the node itself, applied 1, 2, ... times; zeros for isolated nodes.

    Example:
        >>> path = Graph.from_edges([[0, 1], [1, 2]], x=np.array([[1.0], [2.0], [5.0]]))
        >>> [means.ravel().tolist() for means in neighbour_means(path, path.x)]
        [[2.0, 3.0, 2.0], [3.0, 2.0, 3.0]]
    """
    graph = graph.messages
    found, degree = [x], np.where(graph.degree > 0, graph.weighted_degree, 1)[:, None]
    for _ in range(hops):
        found.append(np.asarray(graph.adjacency @ found[-1] / degree, dtype=np.float32))
    return found[1:]


def _predictions(x: Floats, labels: Labels, splits: Sequence[Split], classifier: str, seed: int) -> list[Prediction]:
    return [_predict(x, labels, split, classifier, derive(seed, "trees", i)) for i, split in enumerate(splits)]


def _predict(x: Floats, labels: Labels, split: Split, classifier: str, seed: int) -> Prediction:
    model = TreesClassifier(WEIGHTS[classifier], random_state=seed)
    model.fit(x[split.train], labels.codes[split.train], x[split.val], labels.codes[split.val])
    probabilities = np.zeros((len(split.test), labels.n_classes), dtype=np.float32)
    probabilities[:, model.classes_] = model.predict_proba(x[split.test])
    right, less_loss = model.quality_
    return Prediction(torch.from_numpy(probabilities), dict(model.setting_), (-right, -less_loss))
