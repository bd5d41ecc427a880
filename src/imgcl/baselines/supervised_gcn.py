"""Supervised GCN (Kipf and Welling 2017), trained on the imbalanced labels; all splits of a group at once.

Two layers, S relu(S X W1 + b1) W2 + b2 with S = D^-1/2 (A + I) D^-1/2. S X does not change, so it is computed once; the
networks of several splits stand side by side in wider products. Early stopping is the choice of the epoch (and of the
weight decay) with the best balanced validation accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional

from imgcl._core.seeding import derive, torch_generator
from imgcl._core.sparse import Features, features_of
from imgcl._core.torch_settings import usual_torch
from imgcl.evaluation.classifiers import class_weights
from imgcl.evaluation.labels import Labels
from imgcl.evaluation.tasks import Task
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.imbalance import Split

HIDDEN = 64
EPOCHS = 200
LEARNING_RATE = 0.01
WEIGHT_DECAYS = (5e-4, 1e-2)  # on the first layer; Kipf and Welling's, and one for few labels of many features
DROPOUT = 0.5
EVERY = 5  # epochs between two looks at validation
GROUP = 5  # splits trained side by side
DENSE = 0.1  # share of entries from which S X is multiplied as a dense matrix

SCHEDULES: dict[str, Callable[[float], float]] = {
    "plain": lambda progress: 1.0,
    "reweight": lambda progress: 0.0,
    "pbs": lambda progress: 1.0 - progress,
}
"""alpha of Eq. 3 as a function of training's progress: the classifiers a GCN can be trained as."""


@dataclass(frozen=True)
class Prediction:
    """What is predicted for a split.

    Attributes:
        probabilities: class probabilities of the test nodes (n, K).
        setting: what validation chose.
        rank: how it did on validation, smaller is better: (minus balanced accuracy, log loss).
    """

    probabilities: Tensor
    setting: dict[str, float]
    rank: tuple[float, float] = (0.0, 0.0)


@usual_torch()
def gcn(graph: Graph, labels: Labels, splits: Sequence[Split], classifier: str, seed: int = 0) -> list[Prediction]:
    """Train a GCN on every split.

    Args:
        graph: structure and features.
        labels: of its nodes.
        splits: train, validation and test nodes.
        classifier: ``plain``; ``reweight`` (classes count alike); ``pbs`` (from one to the other during training).
        seed: of weights and dropout.
    """
    propagated, propagate = _propagated(graph), Block.from_graph(graph).normalised
    found: list[Prediction] = []
    for start in range(0, len(splits), GROUP):
        some, own_seed = splits[start : start + GROUP], derive(seed, "gcn", start)
        tried = [
            _Group(propagated.shape, labels, some, own_seed, decay).train(
                propagated, lambda x: propagate @ x, SCHEDULES[classifier]
            )
            for decay in WEIGHT_DECAYS
        ]
        found += [min(candidates, key=lambda candidate: candidate.rank) for candidates in zip(*tried, strict=True)]
    return found


def _propagated(graph: Graph) -> Features:
    """S X with X's rows scaled to length 1, sparse while that saves work."""
    x = sp.csr_array(graph.x)
    length = np.sqrt(np.asarray((x * x).sum(axis=1)).ravel())
    x = sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1)) @ x)
    graph = graph.messages
    loops = graph.adjacency + sp.eye_array(graph.n_nodes, dtype=np.float32, format="csr")
    scale = sp.diags_array(1 / np.sqrt(graph.weighted_degree + 1.0))
    smoothed = sp.csr_array(scale @ loops @ scale @ x, dtype=np.float32)
    dense = smoothed.nnz > DENSE * smoothed.shape[0] * smoothed.shape[1]
    return features_of(smoothed.toarray() if dense else smoothed)


class _Group:
    """The networks of a few splits; the first axis of a parameter that has one is the split."""

    def __init__(
        self, shape: tuple[int, int], labels: Labels, splits: Sequence[Split], seed: int, weight_decay: float
    ) -> None:
        self.n, self.classes, self.splits, self.weight_decay = shape[0], labels.n_classes, splits, weight_decay
        self.random = [torch_generator(seed, i) for i in range(len(splits))]
        self.first = torch.cat([_glorot(shape[1], HIDDEN, random) for random in self.random], dim=1)
        self.second = torch.stack([_glorot(HIDDEN, self.classes, random) for random in self.random])
        self.first_bias = torch.zeros(len(splits) * HIDDEN, dtype=torch.float32)
        self.second_bias = torch.zeros(len(splits), 1, self.classes, dtype=torch.float32)
        self.parameters = [self.first, self.second, self.first_bias, self.second_bias]
        self.nodes = [{part: torch.from_numpy(np.array(getattr(s, part))) for part in ("train", "val")} for s in splits]
        codes = torch.from_numpy(labels.codes)
        self.truth = [{part: codes[nodes] for part, nodes in parts.items()} for parts in self.nodes]
        empty = torch.zeros(0, 0, dtype=torch.float32)
        self.tasks = [
            Task(torch.zeros(1, dtype=torch.float32), t["train"], empty, t["val"], self.classes) for t in self.truth
        ]

    def train(
        self, propagated: Features, propagate: Callable[[Tensor], Tensor], alpha: Callable[[float], float]
    ) -> list[Prediction]:
        for parameter in self.parameters:
            parameter.requires_grad_()
        groups: list[dict[str, Any]] = [
            {"params": [self.first], "weight_decay": self.weight_decay},
            {"params": self.parameters[1:]},
        ]
        adam = torch.optim.Adam(groups, lr=LEARNING_RATE)
        best: list[Prediction | None] = [None] * len(self.splits)
        for epoch in range(EPOCHS):
            adam.zero_grad()
            logits = self.forward(propagated, propagate, training=True)
            weights = [class_weights(task, alpha(epoch / (EPOCHS - 1))) for task in self.tasks]
            loss = torch.stack([self._loss(i, logits[i], "train", weights[i]) for i in range(len(logits))]).sum()
            loss.backward()
            adam.step()
            if (epoch + 1) % EVERY == 0:
                with torch.no_grad():
                    self._look(self.forward(propagated, propagate, training=False), epoch + 1, best)
        return [prediction for prediction in best if prediction is not None]

    def forward(self, propagated: Features, propagate: Callable[[Tensor], Tensor], training: bool) -> Tensor:
        """Logits of every node, (splits, N, K)."""
        hidden = torch.relu(propagated.products([None])(self.first)[0] + self.first_bias)
        if training:
            kept = [
                torch.rand(self.n, HIDDEN, generator=random, dtype=torch.float32) >= DROPOUT for random in self.random
            ]
            hidden = hidden * torch.cat(kept, dim=1) / (1 - DROPOUT)
        stacked = hidden.view(self.n, len(self.splits), HIDDEN).transpose(0, 1)
        scores = torch.bmm(stacked, self.second).transpose(0, 1).reshape(self.n, -1)
        return propagate(scores).view(self.n, len(self.splits), -1).transpose(0, 1) + self.second_bias

    def _loss(self, i: int, logits: Tensor, part: str, weight: Tensor) -> Tensor:
        losses = functional.cross_entropy(logits[self.nodes[i][part]], self.truth[i][part], reduction="none")
        return (losses * weight).sum() / weight.sum()

    def _look(self, logits: Tensor, epoch: int, best: list[Prediction | None]) -> None:
        """Keep the test predictions of each split whose validation accuracy is the best so far."""
        for i, split in enumerate(self.splits):
            truth = self.truth[i]["val"]
            counts = torch.bincount(truth, minlength=self.classes)
            weight = 1 / counts[truth].float()
            right = (logits[i][self.nodes[i]["val"]].argmax(dim=1) == truth).float()
            rank = (
                -round(float((right * weight).sum() / weight.sum()), 6),
                float(self._loss(i, logits[i], "val", weight)),
            )
            kept = best[i]
            if kept is None or rank < kept.rank:
                probabilities = torch.softmax(logits[i][torch.from_numpy(np.array(split.test))], dim=1)
                setting = {"epoch": float(epoch), "weight_decay": self.weight_decay}
                best[i] = Prediction(probabilities, setting, rank)


def _glorot(fan_in: int, fan_out: int, random: torch.Generator) -> Tensor:
    bound = (6 / (fan_in + fan_out)) ** 0.5
    return torch.empty(fan_in, fan_out, dtype=torch.float32).uniform_(-bound, bound, generator=random)
