"""Double balancing (Li et al. 2025): pseudo-labels whose own imbalance is undone; IceBerg, where features go first.

Nodes that are predicted with more than mean confidence are learnt from as well, by balanced softmax with the number of
pseudo-labels of each class: without it, self-training makes common classes more common. IceBerg adds a term that
tolerates wrong pseudo-labels, and propagates features before the network, over more hops than the network has layers.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from imgcl.baselines.supervised.losses import Criterion, balanced_softmax, log_sizes
from imgcl.baselines.supervised.network import Output
from imgcl.baselines.supervised.recipe import Recipe, Task

LOG_ZERO = -4.0  # the log of a zero in the symmetric term


@dataclass
class DoubleBalance(Recipe):
    """Balanced softmax on pseudo-labels beside the loss on labels.

    Attributes:
        warm_up: epochs before the first pseudo-label.
        weight: factor of the pseudo-labels' loss.
        tolerance: factor of the symmetric term.
    """

    warm_up: int = 20
    weight: float = 1.0
    tolerance: float = 0.0

    def loss(self, task: Task, output: Output, criterion: Criterion) -> Tensor:
        """Both losses; pseudo-labels are those of the last look at validation."""
        known = super().loss(task, output, criterion)
        if task.epoch < self.warm_up or not len(task.looked):
            return known
        nodes, classes = pseudo_labels(task)
        return known + self.weight * self._guessed(output.logits[nodes], classes, task) if len(nodes) else known

    def _guessed(self, logits: Tensor, classes: Tensor, task: Task) -> Tensor:
        sizes = torch.bincount(classes, minlength=task.n_classes)
        found = balanced_softmax(logits, classes, sizes, task.progress)
        if not self.tolerance:
            return found
        shares = torch.softmax(logits + log_sizes(sizes), dim=1)
        apart = LOG_ZERO * (functional.one_hot(classes, task.n_classes) - 1).abs()  # reverse cross entropy
        return found - self.tolerance * (shares * apart).sum(dim=1).mean()


@dataclass
class IceBerg(DoubleBalance):
    """Double balancing with a symmetric term, on features that are propagated before the network.

    Attributes:
        warm_up: epochs before the first pseudo-label.
        weight: factor of the pseudo-labels' loss.
        tolerance: factor of the symmetric term.
        hops: over which features are propagated.
    """

    tolerance: float = 0.05
    hops: int = 8


def pseudo_labels(task: Task) -> tuple[Tensor, Tensor]:
    """Unlabelled nodes that are predicted with more than mean confidence, and as what."""
    best, classes = torch.softmax(task.looked, dim=1).max(dim=1)
    sure = best >= best.mean()
    sure[task.train] = False
    nodes = torch.nonzero(sure).squeeze(1)
    return nodes, classes[nodes]
