"""GraphENS (Park et al. 2022): new nodes of rare classes, mixed with any other training node and its neighbours.

A new node has the class of a minority node. Its neighbours come from those of both nodes, the more from the minority
node the more the two are predicted differently; features of the other node that its class hangs on (drawn by the size
of their gradients) are left out. New nodes receive messages and send none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from imgcl.baselines.supervised.network import Network
from imgcl.baselines.supervised.recipe import Added, Recipe, Task
from imgcl.baselines.supervised.synthesis import Ints, drawn_links, missing, of_class, rows

TINY = 1e-10
SOFTER = 3.0  # what divergences are divided by where they decide how many features are left out


@dataclass
class GraphENS(Recipe):
    """Nodes by mixing ego networks.

    Attributes:
        warm_up: epochs before the first new node.
        masked: share of the other node's features that is left out at most.
        shape: of the Beta distribution that the share of the other node is drawn from.
        temperature: of the predictions that two nodes are compared by.
    """

    warm_up: int = 5
    masked: float = 0.01
    shape: float = 2.0
    temperature: float = 2.0
    keeps_gradient = True

    def add(self, task: Task, network: Network) -> Added | None:
        """As many nodes as make all classes as large as the largest."""
        lacking = missing(task.sizes)
        if task.epoch < self.warm_up or not lacking.any():
            return None
        minor = np.concatenate([task.rng.choice(of_class(task, k), n) for k, n in enumerate(lacking) if n])
        other = other_nodes(task, len(minor))
        apart = self.divergences(task, minor, other)
        slopes = network.feature_gradient(task.index, torch.from_numpy(other)).abs()
        share = torch.from_numpy(task.rng.beta(self.shape, self.shape, (len(minor), 1))).float()
        share = share * kept_features(slopes, self.masked, apart, task.rng)
        mixed = rows(task, minor) * (1 - share) + share * rows(task, other)
        links = drawn_links(task, minor, other, torch.sigmoid(apart).double().numpy())
        return Added(mixed, links, torch.from_numpy(np.repeat(np.arange(task.n_classes), lacking)))

    def divergences(self, task: Task, minor: Ints, other: Ints) -> Tensor:
        """Kullback-Leibler, of the predictions around the minority nodes from those around the others."""
        logs = torch.log_softmax(task.mean_around(task.logits) / self.temperature, dim=1)
        return (logs[minor].exp() * (logs[minor] - logs[other])).sum(dim=1).clamp_min(0)


def other_nodes(task: Task, number: int) -> Ints:
    """Training nodes of any class, a class drawn by the log of its number of labels."""
    sizes = task.sizes.double()
    chance = (sizes.clamp_min(1).log() / sizes.clamp_min(1))[task.targets].numpy() + TINY
    return np.asarray(task.rng.choice(task.train.numpy(), number, p=chance / chance.sum()))


def kept_features(slopes: Tensor, masked: float, apart: Tensor, rng: np.random.Generator) -> Tensor:
    """1 for features that are mixed in, 0 for those left out: few, drawn by slopes, the more the nodes are apart."""
    most = max(1, int(masked * slopes.shape[1]))
    waits = torch.from_numpy(rng.standard_exponential(tuple(slopes.shape), dtype=np.float32)) / (slopes + TINY)
    drawn = waits.topk(most, dim=1, largest=False).indices  # as if drawn in turn, without repetition
    number = (torch.sigmoid(apart / SOFTER) * most).long().clamp_min(1)
    beyond = (torch.arange(most) >= number.unsqueeze(1)).to(slopes)
    return torch.ones_like(slopes).scatter_(1, drawn, beyond)
