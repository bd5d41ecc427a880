"""A score as a sum: its mean over all nodes, and what each column of a node adds to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl.evaluation.ensemble import EnsembleModel
from imgcl.evaluation.forest import TreeModel
from imgcl.evaluation.tasks import LinearModel, Model

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]
NUMBERS_AT_ONCE = 1 << 24  # changes of scores that are held


class Part(NamedTuple):
    """A part of the score: its mean over all nodes, what the columns of some nodes add, and linear coefficients."""

    mean: float
    amounts: Floats
    weights: Floats


def linear_part(model: Model, rows: NDArray[np.float32], nodes: Nodes, k: int) -> Part:
    """Of an ensemble the linear model's share of the score, and the shift."""
    linear = model.linear if isinstance(model, EnsembleModel) else model
    assert isinstance(linear, LinearModel)
    share = model.share if isinstance(model, EnsembleModel) else 1.0
    coefficients = _against_others(linear.coefficients.numpy().astype(np.float64), k, axis=0)
    weights, intercept = share * coefficients[:-1], share * float(coefficients[-1])
    if isinstance(model, EnsembleModel):
        intercept -= float(_against_others(model.shift.numpy().astype(np.float64), k, axis=0))
    mean = rows.mean(axis=0, dtype=np.float64)
    return Part(float(mean @ weights) + intercept, (rows[nodes] - mean) * weights, weights)


def tree_part(model: Model, rows: NDArray[np.float32], nodes: Nodes, k: int) -> Part:
    """The share of an ensemble's trees; nothing without trees."""
    mean, amounts = 0.0, np.zeros((len(nodes), rows.shape[1]))
    if isinstance(model, EnsembleModel):
        for trees in model.trees:
            part = _of_trees(trees, rows, nodes, k)
            mean, amounts = mean + model.share * part.mean, amounts + model.share * part.amounts
    return Part(mean, amounts, np.zeros(rows.shape[1]))


def _of_trees(trees: TreeModel, rows: NDArray[np.float32], nodes: Nodes, k: int) -> Part:
    x, step = torch.from_numpy(rows), max(1, NUMBERS_AT_ONCE // (rows.shape[1] * trees.n_classes))
    parts = [x[start : start + step] for start in range(0, len(rows), step)]
    total = sum(_against_others(trees.changes(part), k).sum(axis=0) for part in parts)
    score = sum(float(_against_others(trees.logits(part).numpy().astype(np.float64), k).sum()) for part in parts)
    changes = _against_others(trees.changes(x[nodes]), k) - total / len(rows)
    return Part(score / len(rows), changes, np.zeros(rows.shape[1]))


def _against_others(values: Floats, k: int, axis: int = -1) -> Floats:
    """Of class k minus the mean of the others."""
    return np.asarray(np.take(values, k, axis) - np.delete(values, k, axis).mean(axis))
