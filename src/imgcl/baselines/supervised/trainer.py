"""One trainer for all supervised baselines: Adam, and the epoch that does best on validation nodes.

Two layers, for a GCN S relu(S X W1 + b1) W2 + b2 with S = D^-1/2 (A + I) D^-1/2 (Kipf and Welling 2017); the rows of X
have length 1. Several splits are trained side by side. Early stopping is the choice of the epoch (and of the weight
decay) with the best balanced validation accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from imgcl._core.seeding import derive, generator, torch_generator
from imgcl._core.sparse import CSR, DenseFeatures, Features, Operator, features_of
from imgcl._core.torch_settings import usual_torch
from imgcl.baselines.prediction import Prediction, validation_rank
from imgcl.baselines.supervised.losses import LOSSES, Criterion, log_sizes
from imgcl.baselines.supervised.network import Network
from imgcl.baselines.supervised.recipe import Recipe, Task
from imgcl.evaluation.labels import Labels
from imgcl.evaluation.softmax import ABSENT
from imgcl.graph import Graph
from imgcl.imbalance import Split
from imgcl.training.hardware import reuse_freed_memory

EPOCHS = 200
LEARNING_RATE = 0.01
WEIGHT_DECAYS = (5e-4, 1e-2)  # on the first layer; Kipf and Welling's, and one for few labels of many features
EVERY = 5  # epochs between two looks at validation
GROUP = 5  # splits trained side by side
DENSE = 0.1  # share of entries from which features are multiplied as a dense matrix
RESTART = 0.1  # how much of the features stays in place in each hop before the network


@usual_torch()
def train(
    graph: Graph,
    labels: Labels,
    splits: Sequence[Split],
    classifier: str,
    seed: int,
    recipe: Recipe,
    network: str = "gcn",
) -> list[Prediction]:
    """Train a network on every split.

    Args:
        graph: structure and features.
        labels: of its nodes.
        splits: train, validation and test nodes.
        classifier: a name of :data:`imgcl.baselines.supervised.LOSSES`.
        seed: of weights, dropout and whatever the recipe draws.
        recipe: what the baseline changes.
        network: ``gcn`` or ``sage``.
    """
    made = Preparation.of(graph, recipe)
    found: list[Prediction] = []
    with reuse_freed_memory():
        for start in range(0, len(splits), GROUP):
            some, own_seed = splits[start : start + GROUP], derive(seed, network, start)
            tried = [
                Training(made, labels, some, own_seed, recipe, LOSSES[classifier], network, decay).run()
                for decay in WEIGHT_DECAYS
            ]
            found += [min(candidates, key=lambda each: each.rank) for candidates in zip(*tried, strict=True)]
    return found


@dataclass(frozen=True, eq=False)
class Preparation:
    """What all splits share.

    Attributes:
        graph: structure and features.
        x: features with rows of length 1.
        features: what the network multiplies.
        adjacency: what it passes messages over; ``None`` where features were propagated before.
    """

    graph: Graph
    x: sp.csr_array
    features: Features
    adjacency: CSR | None

    @classmethod
    def of(cls, graph: Graph, recipe: Recipe) -> Preparation:
        """For the recipe."""
        x = unit_rows(graph)
        adjacency = CSR.from_numpy(graph.indptr, graph.indices, graph.edge_weight, graph.n_nodes)
        if not recipe.hops:
            return cls(graph, x, as_features(x), adjacency)
        dense = DenseFeatures(propagated(adjacency, torch.from_numpy(x.toarray()), recipe.hops, RESTART))
        return cls(graph, x, dense.for_many_products(), None)


def unit_rows(graph: Graph) -> sp.csr_array:
    """Features with rows of length 1."""
    x = sp.csr_array(graph.x)
    length = np.sqrt(np.asarray((x * x).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1)) @ x, dtype=np.float32)


def propagated(adjacency: CSR, x: Tensor, hops: int, restart: float) -> Tensor:
    """X <- (1 - restart) S X + restart X_0, repeated ``hops`` times; dense, as it would be after a few hops anyway."""
    operator, found = Operator.normalised(adjacency, adjacency), x
    for _ in range(hops):
        found = torch.lerp(operator @ found, x, restart)
    return found


def as_features(x: sp.csr_array) -> Features:
    """Features in the storage that is multiplied fastest."""
    dense = x.nnz > DENSE * x.shape[0] * x.shape[1]
    features = features_of(x.toarray() if dense else x)
    return features.for_many_products() if isinstance(features, DenseFeatures) else features


def _task(made: Preparation, labels: Labels, split: Split, seed: int, index: int) -> Task:
    codes, train, val = torch.from_numpy(labels.codes), _tensor(split.train), _tensor(split.val)
    rng = generator(seed, "recipe", index)
    return Task(made.graph, made.x, train, codes[train], val, codes[val], labels.n_classes, rng, index)


def _tensor(nodes: np.ndarray) -> Tensor:
    return torch.from_numpy(np.array(nodes))  # a split is read-only, torch wants writable


class Training:
    """The training of a few splits with one weight decay."""

    def __init__(
        self,
        made: Preparation,
        labels: Labels,
        splits: Sequence[Split],
        seed: int,
        recipe: Recipe,
        criterion: Criterion,
        network: str = "gcn",
        decay: float = WEIGHT_DECAYS[0],
    ) -> None:
        self.recipe, self.criterion, self.decay = recipe, criterion, decay
        random = [torch_generator(seed, i) for i in range(len(splits))]
        width = recipe.width or labels.n_classes
        self.network = Network(network, made.features, made.adjacency, width, random, recipe.keeps_gradient)
        self.tasks = [_task(made, labels, split, seed, i) for i, split in enumerate(splits)]
        self.test = [_tensor(split.test) for split in splits]
        self.best: list[Prediction | None] = [None] * len(splits)
        for task in self.tasks:
            recipe.prepare(task)
        others = [parameter for task in self.tasks for parameter in recipe.parameters(task)]
        self.adam = self._optimiser([*self.network.parameters, *others])

    def run(self) -> list[Prediction]:
        """The best prediction of every split."""
        for epoch in range(EPOCHS):
            self.step(epoch)
            if (epoch + 1) % EVERY == 0:
                self._look(epoch + 1)
        return [prediction for prediction in self.best if prediction is not None]

    def step(self, epoch: int) -> None:
        """One epoch of all splits."""
        self.adam.zero_grad()
        self._loss(epoch).backward()
        self.adam.step()

    def _optimiser(self, parameters: list[Tensor]) -> torch.optim.Optimizer:
        for parameter in parameters:
            parameter.requires_grad_()
        first, *others = parameters
        groups: list[dict[str, Any]] = [{"params": [first], "weight_decay": self.decay}, {"params": others}]
        return torch.optim.Adam(groups, lr=self.recipe.learning_rate or LEARNING_RATE)

    def _loss(self, epoch: int) -> Tensor:
        if self.recipe.fresh and (epoch == 0 or epoch % EVERY):  # otherwise this is the epoch after a look
            self._predict()
        for task in self.tasks:
            task.epoch, task.progress = epoch, epoch / (EPOCHS - 1)
        added = [self.recipe.add(task, self.network) for task in self.tasks]
        outputs = self.network.forward(added, training=True)
        losses = []
        for task, output in zip(self.tasks, outputs, strict=True):
            losses.append(self.recipe.loss(task, output, self.criterion))
            task.logits = output.logits.detach()[: task.graph.n_nodes]
        return torch.stack(losses).sum()

    @torch.no_grad()
    def _predict(self) -> None:
        """The logits of every split without dropout."""
        for task, output in zip(self.tasks, self.network.forward(), strict=True):
            task.looked = self.recipe.predict(task, output)

    def _look(self, epoch: int) -> None:
        """Keep the test predictions of each split that does better on validation nodes than before."""
        self._predict()
        for i, task in enumerate(self.tasks):
            for tau in self.criterion.taus:
                logits = torch.where(task.sizes > 0, task.looked - tau * log_sizes(task.sizes), ABSENT)
                rank, kept = validation_rank(logits[task.val], task.val_targets), self.best[i]
                if kept is None or rank < kept.rank:
                    setting = {"epoch": float(epoch), "weight_decay": self.decay}
                    if len(self.criterion.taus) > 1:
                        setting["tau"] = tau
                    self.best[i] = Prediction(torch.softmax(logits[self.test[i]], dim=1), setting, rank)
