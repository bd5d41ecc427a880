"""The ceiling of an embedding: a linear classifier trained on every label outside the test set.

Its penalty, and the weights of blocks, are chosen on a few thousand of those labels. Only the chosen setting is then
fitted to all of them: with wide embeddings the other penalties would take most of an evaluation's time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.seeding import generator
from imgcl.evaluation.blocks import WEIGHT, Blocks, fit_blocks
from imgcl.evaluation.classifiers import balanced, reweight
from imgcl.evaluation.labels import Labels
from imgcl.evaluation.probes import batched
from imgcl.evaluation.regression import fit_path
from imgcl.evaluation.tasks import Bench, LinearModel, Task
from imgcl.imbalance import Split

SEARCHED = 4000  # labels that choose the setting


def ceiling_models(blocks: Blocks, labels: Labels, splits: Sequence[Split], seed: int) -> list[LinearModel]:
    """A model for each split: logistic regression with classes weighted alike.

    Args:
        blocks: rows of all nodes.
        labels: of all nodes.
        splits: whose test nodes are left out; validation nodes choose the setting, then they teach as well.
        seed: of the labels that the setting is chosen with.
    """
    x, codes = torch.from_numpy(blocks.rows), torch.from_numpy(labels.codes)
    models = []
    for i, split in enumerate(splits):
        outside = np.setdiff1d(np.flatnonzero(labels.codes >= 0), split.test)
        some = _some(np.setdiff1d(outside, split.val), generator(seed, "ceiling", i))
        val = np.array(split.val)
        searched = Task(x[some], codes[some], x[val], codes[val], labels.n_classes)
        [chosen] = fit_blocks(reweight, Bench([searched], batched), blocks)
        models.append(_fit(chosen, Task(x[outside], codes[outside], x[:0], codes[:0], labels.n_classes), blocks))
    return models


def _fit(chosen: LinearModel, task: Task, blocks: Blocks) -> LinearModel:
    """The chosen setting on all labels; blocks have the weights that were chosen."""
    scale = blocks.scale({name: chosen.setting.get(f"{WEIGHT}{name}", 1.0) for name in blocks.widths})
    scaled = replace(task, x=task.x * scale)
    coefficients = fit_path([balanced(scaled)], [chosen.setting["C"]])[0, 0]
    weights = torch.cat([scale, scale.new_ones(1)])
    return replace(chosen, coefficients=coefficients * weights)


def _some(nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    return nodes if len(nodes) <= SEARCHED else np.sort(rng.choice(nodes, SEARCHED, replace=False))
