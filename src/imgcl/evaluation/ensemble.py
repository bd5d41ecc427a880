"""``ensemble``: a linear classifier, boosted trees and a random forest, averaged.

Linear classifiers are hard to beat on embeddings and on wide features, trees on a few columns of numbers. Boosted trees
see the embedding and the features, the forest features alone: where neighbours mislead, it does not follow them. The
mean of their logits is a compromise that needs no choice: on most graphs it is better than each, or as good, but not
on all (AUPRC on natural test nodes: ``docs/results/rare.md``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.progress import stage, tracked
from imgcl._core.seeding import derive
from imgcl.evaluation.blocks import FEATURES, Blocks, fit_blocks
from imgcl.evaluation.classifiers import TAUS, log_prior, plain
from imgcl.evaluation.forest import TreeModel, boosted_trees, forest_trees
from imgcl.evaluation.tasks import Bench, Classified, LinearModel, Task, classified, quality
from imgcl.evaluation.trees import LARGEST_SEED, NARROW, WIDE_BINS, threads_of_torch

ENOUGH = 20  # labels per class, in the mean, from which trees are worth something
LINEAR = 0.3  # share of the time that the linear model takes, roughly
LEADING = 64  # columns of a block of features that trees look at: singular vectors come with the largest first
BOOSTING = {
    "learning_rate": 0.1,
    "max_iter": 50,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "max_features": 0.3,
    "early_stopping": False,
}
"""Chosen on validation nodes of development graphs, for its time as well: half of the usual rounds are as good."""
TREES = 50  # of the forest
LEAF = 3  # smallest leaf of the forest
SEEN = 0.5  # share of the labelled nodes that a tree of the forest sees, and the most of them:
MOST = 10_000  # with more it grows large and slowly, and hardly better
DOUBT = 1e-3  # smallest probability of the forest, which is sure too easily


@dataclass(frozen=True, eq=False)
class EnsembleModel:
    """The mean of the logits of a linear model and of trees, less a shift.

    Attributes:
        linear: the linear model.
        trees: boosted trees, and a forest where there are blocks of features; none with too few labels for them.
        shift: subtracted from the logits, one entry per class.
        setting: what validation chose.
    """

    linear: LinearModel
    trees: tuple[TreeModel, ...]
    shift: Tensor
    setting: dict[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """What each member counts."""
        return 1 / (1 + len(self.trees))

    def logits(self, x: Tensor) -> Tensor:
        """Scores (n, K); their softmax is the class probability."""
        members: list[LinearModel | TreeModel] = [self.linear, *self.trees]
        return self.share * torch.stack([each.logits(x) for each in members]).sum(dim=0) - self.shift

    def classify(self, x: Tensor) -> Classified:
        """The most probable class of every row, and the probabilities of all."""
        return classified(self.logits(x))


class Ensemble:
    """The classifier ``ensemble``: ``plain``, boosted trees and a forest, with tau as in ``logit-adjust``."""

    def fit(self, bench: Bench, seed: int, blocks: Blocks) -> list[EnsembleModel]:
        """A model for each task."""
        with stage("linear model", weight=LINEAR):
            linear = fit_blocks(plain, bench, blocks)
        grown = _grown(bench.tasks, blocks, seed)
        none = torch.zeros(bench.tasks[0].n_classes, dtype=torch.float32)
        models = [EnsembleModel(*pair, none) for pair in zip(linear, grown, strict=True)]
        for group in bench.chosen_together():
            tau = _best_tau([(bench.tasks[i], models[i]) for i in group if len(bench.tasks[i].y_val)])
            for i in group:
                models[i] = _adjusted(bench.tasks[i], models[i], tau)
        return models


def _adjusted(task: Task, model: EnsembleModel, tau: float) -> EnsembleModel:
    shift = torch.where(task.sizes > 0, tau * log_prior(task), 0.0)
    chosen = {"trees": float(len(model.trees)), "tau": tau}
    return replace(model, shift=shift, setting=model.linear.setting | chosen)


def _best_tau(pairs: Sequence[tuple[Task, EnsembleModel]]) -> float:
    """The tau with the best balanced validation accuracy; of equals the one with the smallest log loss."""
    scores = [_tau_scores(task, model) for task, model in pairs]
    right, loss = (torch.stack(values).mean(dim=0) for values in zip(*scores, strict=True))
    return TAUS[max(range(len(TAUS)), key=lambda i: (*quality(right, loss, i), -i))]


def _tau_scores(task: Task, model: EnsembleModel) -> tuple[Tensor, Tensor]:
    """Balanced accuracy and log loss of every tau, over classes alike."""
    prior, weight = torch.where(task.sizes > 0, log_prior(task), 0.0), task.validation_weight
    logits = model.logits(task.x_val) - torch.tensor(TAUS, dtype=torch.float32)[:, None, None] * prior
    right = (logits.argmax(dim=2) == task.y_val).to(weight) @ weight
    own = torch.log_softmax(logits, dim=2)[:, torch.arange(len(task.y_val)), task.y_val]
    return right, -(own.clamp_min(-1e3) @ weight)


# ------------------------------------------------------------------ trees


def _grown(tasks: Sequence[Task], blocks: Blocks, seed: int) -> list[tuple[TreeModel, ...]]:
    """Trees for every task; for none where the largest one has too few labels."""
    most = max(tasks, key=lambda task: len(task.y))
    if len(most.y) < ENOUGH * int((most.sizes > 0).sum()):
        return [()] * len(tasks)
    everything, features = leading_columns(blocks), leading_columns(blocks, of=FEATURES)
    with threads_of_torch():
        each = enumerate(tracked(tasks, "trees", "fit", weight=1 - LINEAR))
        return [_grow(task, everything, features, derive(seed, "boosting", i)) for i, task in each]


def leading_columns(blocks: Blocks, of: Sequence[str] | None = None) -> NDArray[np.int64]:
    """The columns that trees look at: of features the first 64, of what was learned all.

    Args:
        blocks: the blocks.
        of: kinds of blocks; by default all.

    Example:
        >>> blocks = Blocks(np.empty((0, 4)), {"learned": 2, "own": 2})
        >>> leading_columns(blocks).tolist(), leading_columns(blocks, of=["own"]).tolist()
        ([0, 1, 2, 3], [2, 3])
    """
    chosen, start = [np.empty(0, dtype=np.int64)], 0
    for name, width in blocks.widths.items():
        kind = name.split(":")[0]
        if of is None or kind in of:
            chosen.append(np.arange(start, start + (min(width, LEADING) if kind in FEATURES else width)))
        start += width
    return np.concatenate(chosen)


def _grow(task: Task, everything: NDArray[np.int64], features: NDArray[np.int64], seed: int) -> tuple[TreeModel, ...]:
    if int((task.sizes > 0).sum()) < 2:
        return ()
    boosted = _boosted(task, everything, seed)
    return (boosted, _forest(task, features, seed)) if len(features) else (boosted,)


def _boosted(task: Task, columns: NDArray[np.int64], seed: int) -> TreeModel:
    from sklearn.ensemble import HistGradientBoostingClassifier

    bins = 255 if len(columns) <= NARROW else WIDE_BINS
    model: Any = HistGradientBoostingClassifier(**BOOSTING, max_bins=bins, random_state=seed % LARGEST_SEED)
    model.fit(task.x.numpy()[:, columns], task.y.numpy())
    trees, base = boosted_trees(model)
    classes, none = np.asarray(model.classes_), np.zeros(task.n_classes)
    return TreeModel(trees, "boosting", base, classes, task.n_classes, columns, none)


def _forest(task: Task, columns: NDArray[np.int64], seed: int) -> TreeModel:
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(
        TREES,
        min_samples_leaf=LEAF,
        max_samples=min(SEEN, MOST / len(task.y)),
        n_jobs=torch.get_num_threads(),
        random_state=seed % LARGEST_SEED,
    )
    model.fit(task.x.numpy()[:, columns], task.y.numpy())
    classes, none = np.asarray(model.classes_), np.zeros(task.n_classes)
    base = np.zeros(len(classes))
    return TreeModel(forest_trees(model), "forest", base, classes, task.n_classes, columns, none, smallest=DOUBT)
