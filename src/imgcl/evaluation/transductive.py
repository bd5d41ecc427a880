"""Classifiers that look at the nodes to be classified, and at their edges: posteriors and labels go along the graph.

All start from ``best``, the linear classifier that validation nodes prefer, and choose their own setting on validation
nodes as well; "nothing changed" is always among the choices. They read the embedding and the edges of every node, never
the label of a node outside training and validation. Results mark them *transductive*: they classify the nodes of this
graph, and cannot be saved for another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl.evaluation.blocks import Blocks, fit_blocks
from imgcl.evaluation.classifiers import best, reweight
from imgcl.evaluation.tasks import Bench, Classified, LinearModel, Task
from imgcl.graph import Graph
from imgcl.graph.block import Block

SMOOTHING = (0.0, 0.2, 0.5, 0.8, 0.9)  # share of a posterior that comes from neighbours
SPREADING = (0.8, 0.9, 0.99)  # the same for labels
POOLING = (0.0, 0.25, 0.5, 1.0, 2.0)  # weight of what labels say beside the probe's 1
STEPS = 20
ROUNDS = (1, 2, 4)  # pseudo-labels of each class, times the mean number of training labels of a class
UNREACHED = 1e-6  # share of every class that no label may take away


@dataclass(frozen=True, eq=False)
class Transduction:
    """Several splits of one graph, with the probe that was fitted to each.

    Attributes:
        graph: the graph.
        bench: the labelled rows of every split.
        train: training nodes of every split.
        val: validation nodes of every split.
        x: rows of all nodes.
        models: the probe of every split.
    """

    graph: Graph
    bench: Bench
    train: Sequence[NDArray[np.int64]]
    val: Sequence[NDArray[np.int64]]
    x: Tensor
    models: Sequence[LinearModel]

    @property
    def posteriors(self) -> Tensor:
        """Class probabilities of all nodes by the probe of every split, (N, splits, K)."""
        return torch.stack([torch.softmax(model.logits(self.x), dim=1) for model in self.models], dim=1)

    def spread(self, start: Tensor, alpha: float) -> Tensor:
        """F of F <- alpha S F + (1 - alpha) start after some steps, as shares of the classes (Zhou et al. 2004)."""
        propagate, first = Block.from_graph(self.graph).normalised, start.flatten(1)
        found = first
        for _ in range(STEPS if alpha else 0):
            found = alpha * (propagate @ found) + (1 - alpha) * first
        shares = found.view_as(start) + UNREACHED * start.sum(dim=2, keepdim=True).mean()
        return shares / shares.sum(dim=2, keepdim=True)

    def best_of(self, choices: Sequence[tuple[float, Tensor]], name: str) -> list[TransductiveModel]:
        """For every split the choice with the best balanced validation accuracy, then the smallest log loss."""
        models = []
        for i, (task, nodes) in enumerate(zip(self.bench.tasks, self.val, strict=True)):
            scored = [_quality(shares[:, i][torch.from_numpy(nodes)], task) for _, shares in choices]
            at = max(range(len(choices)), key=lambda k: (*scored[k], -k))
            setting = self.models[i].setting | {name: choices[at][0]}
            models.append(TransductiveModel(choices[at][1][:, i], setting))
        return models


@dataclass(frozen=True, eq=False)
class TransductiveModel:
    """Class probabilities of every node of a graph.

    Attributes:
        shares: (N, K).
        setting: what validation chose.
    """

    shares: Tensor
    setting: dict[str, float]

    def classify(self, nodes: NDArray[np.int64]) -> Classified:
        """Class and probabilities of some nodes."""
        p = self.shares[torch.from_numpy(np.array(nodes))].numpy()
        return Classified(p.argmax(axis=1), p)


def smooth(task: Transduction) -> list[TransductiveModel]:
    """The probe's posteriors, averaged over the graph: a node is what it and its surroundings look like."""
    return task.best_of([(alpha, task.spread(task.posteriors, alpha)) for alpha in SMOOTHING], "alpha")


def pooled(task: Transduction) -> list[TransductiveModel]:
    """The probe and label propagation, every class starting with the same total, pooled by their logarithms."""
    p, start = task.posteriors, torch.zeros_like(task.posteriors)
    for i, (nodes, labelled) in enumerate(zip(task.train, task.bench.tasks, strict=True)):
        start[torch.from_numpy(nodes), i, labelled.y] = 1 / labelled.sizes[labelled.y].float()
    log = p.clamp_min(UNREACHED).log()
    spread = [task.spread(start, alpha).log() for alpha in SPREADING]
    choices = [(0.0, p)] + [
        (weight, torch.softmax(log + weight * labels, dim=2)) for labels in spread for weight in POOLING[1:]
    ]
    return task.best_of(choices, "pooled")


def self_train(task: Transduction) -> list[TransductiveModel]:
    """The probe fitted again with pseudo-labels: of every class equally many of the nodes it is surest of."""
    choices = [(0.0, task.posteriors)]
    for number in ROUNDS:
        again = Bench([_extended(task, i, number) for i in range(len(task.models))], task.bench.probe)
        models = [_unscaled(model, task.models[i]) for i, model in enumerate(reweight(again))]
        choices.append((float(number), replace(task, models=models).posteriors))
    return task.best_of(choices, "pseudo")


@dataclass(frozen=True)
class Transductive:
    """A transductive classifier.

    Args:
        classify: from splits with their probes to a model for each.
    """

    classify: Callable[[Transduction], list[TransductiveModel]]

    def fit(
        self, graph: Graph, bench: Bench, blocks: Blocks, train: Sequence[NDArray[Any]], val: Sequence[NDArray[Any]]
    ) -> list[TransductiveModel]:
        """A model for every split.

        Args:
            graph: the graph of the rows.
            bench: the labelled rows of every split.
            blocks: the rows of all nodes.
            train: training nodes, in the order of the bench's tasks.
            val: validation nodes likewise.
        """
        taught, chosen = ([np.array(nodes) for nodes in part] for part in (train, val))  # splits are read-only
        models, x = fit_blocks(best, bench, blocks), torch.from_numpy(blocks.rows)
        return self.classify(Transduction(graph, bench, taught, chosen, x, models))


TRANSDUCTIVE = {"smooth": Transductive(smooth), "pooled": Transductive(pooled), "self-train": Transductive(self_train)}
"""Classifiers by name that need the graph."""


def _quality(shares: Tensor, task: Task) -> tuple[float, float]:
    """Balanced accuracy and negative log loss of validation rows, over classes alike."""
    weight = task.validation_weight
    right = (shares.argmax(dim=1) == task.y_val).to(weight) @ weight
    own = shares[torch.arange(len(task.y_val)), task.y_val].clamp_min(UNREACHED).log()
    return round(float(right), 6), float(own @ weight)


# ------------------------------------------------------------------ pseudo-labels


def _extended(task: Transduction, i: int, number: int) -> Task:
    """The task of a split with pseudo-labels beside its labels, on rows as the probe weighs their blocks."""
    labelled, scale = task.bench.tasks[i], _used(task.models[i])
    nodes, codes = _surest(task, i, max(1, number * len(labelled.y) // int((labelled.sizes > 0).sum())))
    x = torch.cat([labelled.x, task.x[nodes]]) * scale
    return replace(labelled, x=x, y=torch.cat([labelled.y, codes]), x_val=labelled.x_val * scale)


def _surest(task: Transduction, i: int, count: int) -> tuple[Tensor, Tensor]:
    """Of every class the unlabelled nodes with the largest posterior, at most ``count`` and a quarter of its nodes."""
    shares = torch.softmax(task.models[i].logits(task.x), dim=1)
    unlabelled = torch.ones(len(shares), dtype=torch.bool)
    unlabelled[torch.from_numpy(np.concatenate([task.train[i], task.val[i]]))] = False
    sure, classes = shares.max(dim=1)
    found = []
    for k in range(shares.shape[1]):
        members = (unlabelled & (classes == k)).nonzero()[:, 0]
        found.append(members[sure[members].argsort(descending=True, stable=True)][: min(count, len(members) // 4)])
    return torch.cat(found), torch.repeat_interleave(torch.arange(len(found)), torch.tensor([len(f) for f in found]))


def _used(model: LinearModel) -> Tensor:
    """1 for the columns of blocks that the probe uses, 0 for the others."""
    return (model.coefficients[:, :-1] != 0).any(dim=0).float()


def _unscaled(model: LinearModel, probe: LinearModel) -> LinearModel:
    """A model of scaled rows as one of unscaled rows."""
    coefficients = torch.cat([model.coefficients[:, :-1] * _used(probe), model.coefficients[:, -1:]], dim=1)
    return replace(model, coefficients=coefficients, setting=probe.setting)
