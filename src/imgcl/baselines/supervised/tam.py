"""TAM (Song et al. 2022): margins for nodes whose neighbours are unlike those of their class.

D_v are the shares of classes among a training node and its neighbours, C_k their mean over the training nodes of class
k (Eq. 1 and 2). Where v is linked to class t more than is usual, or D_v lies towards C_t, a correction for imbalance
would push t away from where its nodes are: the logit of t is lowered, which weakens the push.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from imgcl.baselines.supervised.network import Output
from imgcl.baselines.supervised.recipe import Task

FLOOR = 1e-6  # of shares and of divergences between classes
SMOOTHED = 0.4  # how much of a class's temperature its size decides (delta)
MOST = 5.0  # of a margin for the distribution: classes that are hardly apart would make it infinite


@dataclass(frozen=True)
class TopologyMargin:
    """Margins of the training nodes, one per class, to add to their logits.

    Attributes:
        warm_up: epochs before the first margin, while predictions say nothing yet.
        connectivity: factor of the margin for links to another class (alpha).
        distribution: factor of the margin for surroundings like those of another class (beta).
        temperature: inverse of that of the largest class when unlabelled neighbours are predicted (phi).
    """

    warm_up: int = 5
    connectivity: float = 2.5
    distribution: float = 0.5
    temperature: float = 1.2

    def __call__(self, task: Task, output: Output) -> Tensor:
        """The margins (training nodes, K); 0 for the own class and for classes without labels."""
        if task.epoch < self.warm_up:
            return output.logits.new_zeros(len(task.train), task.n_classes)
        with torch.no_grad():
            mine = self._around(task, output.logits[: task.graph.n_nodes])[task.train]
            usual = class_means(mine, task.targets, task.sizes)
            first = anomalous_connectivity(mine, usual, task.targets)
            second = anomalous_distribution(mine, usual, task.targets)
            return torch.where(task.sizes > 0, self.connectivity * first + self.distribution * second, 0.0)

    def _around(self, task: Task, logits: Tensor) -> Tensor:
        """D: shares of classes among every node and its neighbours, known labels, and predictions elsewhere."""
        shares = torch.softmax(logits * sharpness(task.sizes, self.temperature), dim=1)
        shares[task.train] = torch.nn.functional.one_hot(task.targets, task.n_classes).float()
        return task.mean_around(shares).clamp_min(FLOOR)


def sharpness(sizes: Tensor, phi: float) -> Tensor:
    """Inverse temperature of every class: phi for the largest, less for smaller ones (Eq. 9).

    Example:
        >>> sharpness(torch.tensor([3, 1]), phi=1.0)
        tensor([1.0000, 0.8000])
    """
    weight = SMOOTHED * sizes / sizes.sum() + (1 - SMOOTHED)
    return phi * (weight + 1 - weight.max())


def class_means(mine: Tensor, targets: Tensor, sizes: Tensor) -> Tensor:
    """C: what surrounds the training nodes of a class on average, (K, K)."""
    total = mine.new_zeros(len(sizes), len(sizes)).index_add_(0, targets, mine)
    return (total / sizes.clamp_min(1).unsqueeze(1)).clamp_min(FLOOR)


def anomalous_connectivity(mine: Tensor, usual: Tensor, targets: Tensor) -> Tensor:
    """The log of (D_vy / C_yy) (C_yt / D_vt) where that is below 0, y the class of v (Eq. 6)."""
    ratio = (mine / usual[targets]).log()
    return (ratio.gather(1, targets.unsqueeze(1)) - ratio).clamp_max(0)


def anomalous_distribution(mine: Tensor, usual: Tensor, targets: Tensor) -> Tensor:
    """Minus how far D_v lies from C_y towards C_t: 0 at C_y, -1 at C_t, by the law of cosines (Eq. 7 and 8)."""
    distances = jensen_shannon(mine.unsqueeze(1), usual.unsqueeze(0))  # of v and t
    between = jensen_shannon(usual.unsqueeze(1), usual.unsqueeze(0)).clamp_min(FLOOR)[targets]  # of y and t
    own = distances.gather(1, targets.unsqueeze(1))
    along = (own.square() + between.square() - distances.square()) / (2 * between.square())
    return -along.clamp(-MOST, MOST).scatter(1, targets.unsqueeze(1), 0.0)


def jensen_shannon(first: Tensor, second: Tensor) -> Tensor:
    """The Jensen-Shannon divergence of distributions in the last dimension.

    Example:
        >>> jensen_shannon(torch.tensor([0.5, 0.5]), torch.tensor([0.25, 0.75]))
        tensor(0.0338)
    """
    middle = (first + second) / 2
    return (first * (first / middle).log() + second * (second / middle).log()).sum(dim=-1) / 2
