"""The class that each classifier gives to every node, trained on the labels of one split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from imgcl._core.progress import stage
from imgcl.evaluation.blocks import Blocks
from imgcl.evaluation.estimators import choose_inductive, fit_classifier
from imgcl.evaluation.labels import Labels
from imgcl.evaluation.probes import batched
from imgcl.evaluation.tasks import Bench, Task
from imgcl.imbalance import Split


class Prediction(NamedTuple):
    """Class number and its probability, for every node."""

    classes: NDArray[np.int64]
    confidence: NDArray[np.float32]


def node_predictions(
    Z: ArrayLike | Mapping[str, ArrayLike],
    labels: Labels,
    split: Split,
    classifiers: Sequence[str],
) -> dict[str, Prediction]:
    """Train on the split's few labels, as the evaluation does, and classify the whole graph.

    Args:
        Z: embeddings (N, d), or blocks by name.
        labels: of the nodes.
        split: its training nodes teach, its validation nodes choose the setting.
        classifiers: names of ``imgcl.evaluation.CLASSIFIERS``, or ``trees``.

    Example:
        >>> from imgcl.evaluation.labels import encode_labels
        >>> Z = np.repeat(np.eye(2), 3, axis=0)
        >>> labels = encode_labels([0, 0, 0, 1, 1, 1])
        >>> node_predictions(Z, labels, Split([0, 3], [1, 4], [2, 5]), ["plain"])["plain"].classes.tolist()
        [0, 0, 0, 1, 1, 1]
    """
    blocks, codes = Blocks.of(Z, len(labels.codes)), torch.from_numpy(labels.codes)
    x = torch.from_numpy(blocks.rows)
    train, val = np.array(split.train), np.array(split.val)  # splits are read-only, torch wants writable
    bench = Bench([Task(x[train], codes[train], x[val], codes[val], labels.n_classes)], batched)
    found = {}
    for name, classifier in choose_inductive(list(classifiers)).items():
        with stage(name):
            classified = fit_classifier(classifier, bench, 0, blocks)[0].classify(x)
        found[name] = Prediction(classified.classes, classified.confidence.astype(np.float32))
    return found
