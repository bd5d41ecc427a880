"""Double balancing (Li et al. 2025): pseudo-labels whose own imbalance is undone; IceBerg, where features go first.

Unlabelled nodes that are predicted with more than their mean confidence are learnt from as well, by balanced softmax
with the number of pseudo-labels of each class: without it, self-training makes common classes more common. IceBerg adds
a term that tolerates wrong pseudo-labels (reverse cross entropy), and propagates features before the network, over more
hops than the network has layers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from imgcl.baselines.supervised.losses import Criterion, balanced_softmax, log_sizes
from imgcl.baselines.supervised.network import Output
from imgcl.baselines.supervised.recipe import Recipe, Task

LOG_ZERO = math.log(1e-4)  # what stands for the log of 0 in the symmetric term


@dataclass
class DoubleBalance(Recipe):
    """Balanced softmax on pseudo-labels beside the loss on labels.

    Attributes:
        warm_up: epochs before the first pseudo-label.
        weight: factor of the pseudo-labels' loss.
        tolerance: factor of the symmetric term.
    """

    warm_up: int = 0
    weight: float = 1.0
    tolerance: float = 0.0
    fresh = True

    def loss(self, task: Task, output: Output, criterion: Criterion) -> Tensor:
        """Both losses."""
        known = super().loss(task, output, criterion)
        if task.epoch < self.warm_up:
            return known
        nodes, classes = pseudo_labels(task)
        return known + self.weight * self._guessed(output.logits[nodes], classes, task) if len(nodes) else known

    def _guessed(self, logits: Tensor, classes: Tensor, task: Task) -> Tensor:
        sizes = torch.bincount(classes, minlength=task.n_classes)
        found = balanced_softmax(logits, classes, sizes, task.progress)
        return found + self.tolerance * reverse_cross_entropy(logits + log_sizes(sizes), classes)


@dataclass
class IceBerg(DoubleBalance):
    """Double balancing with a symmetric term, on features that are propagated before the network.

    Attributes:
        warm_up: epochs before the first pseudo-label.
        weight: factor of the pseudo-labels' loss.
        tolerance: factor of the symmetric term.
        hops: over which features are propagated.
        learning_rate: larger than where messages are passed, as the authors have it for citation graphs.
    """

    tolerance: float = 0.05
    hops: int = 20
    learning_rate: float = 0.1


def pseudo_labels(task: Task) -> tuple[Tensor, Tensor]:
    """Unlabelled nodes that are predicted with at least the mean confidence of unlabelled nodes, and as what."""
    best, classes = torch.softmax(task.looked, dim=1).max(dim=1)
    unlabelled = torch.ones(len(best), dtype=torch.bool)
    unlabelled[task.train] = False
    nodes = torch.nonzero(unlabelled & (best >= best[unlabelled].mean())).squeeze(1)
    return nodes, classes[nodes]


def reverse_cross_entropy(logits: Tensor, classes: Tensor) -> Tensor:
    """The mean of minus sum_k p_k log q_k for predictions p and labels q: the log of 0 is finite, so it is bounded.

    Example:
        >>> reverse_cross_entropy(torch.zeros(1, 2), torch.tensor([0]))  # half of -log(1e-4)
        tensor(4.6052)
    """
    right = torch.softmax(logits, dim=1).gather(1, classes.unsqueeze(1))
    return -LOG_ZERO * (1 - right).mean()
