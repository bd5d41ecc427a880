"""GraphENS (Park et al. 2022): new nodes of rare classes, mixed with any other training node and its neighbours.

A new node has the class of a minority node. Its neighbours come from those of both nodes, the more from the minority
node the more the two are predicted differently; of the other node's features those are left out that its class hangs
on (the largest gradients). New nodes receive messages and send none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from imgcl._core.sparse import CSR
from imgcl.baselines.supervised.network import Network
from imgcl.baselines.supervised.recipe import Added, Recipe, Task
from imgcl.baselines.supervised.synthesis import Ints, drawn_links, missing, of_class, rows


@dataclass
class GraphENS(Recipe):
    """Nodes by mixing ego networks.

    Attributes:
        warm_up: epochs before the first new node.
        masked: share of the other node's features, those with the largest gradients, that are not mixed in.
        shape: of the Beta distribution that the share of the other node is drawn from.
    """

    warm_up: int = 5
    masked: float = 0.01
    shape: float = 2.0
    keeps_gradient = True

    def add(self, task: Task, network: Network) -> Added | None:
        """As many nodes as make all classes as large as the largest."""
        lacking = missing(task)
        if task.epoch < self.warm_up or not lacking.any():
            return None
        minor = np.concatenate([task.rng.choice(of_class(task, k), n) for k, n in enumerate(lacking) if n])
        other = self._others(task, len(minor))
        classes = torch.from_numpy(np.repeat(np.arange(task.n_classes), lacking))
        return Added(self._features(task, network, minor, other), self._links(task, minor, other), classes)

    def _others(self, task: Task, number: int) -> Ints:
        """Training nodes of any class, a class drawn by the log of its size."""
        sizes = task.sizes.double()
        chance = ((sizes + 1).log() / sizes.clamp_min(1))[task.targets].numpy()
        return np.asarray(task.rng.choice(task.train.numpy(), number, p=chance / chance.sum()))

    def _features(self, task: Task, network: Network, minor: Ints, other: Ints) -> Tensor:
        slopes = network.feature_gradient(task.index, torch.from_numpy(other)).abs()
        hidden = max(1, round(self.masked * slopes.shape[1]))
        mask = torch.ones_like(slopes).scatter_(1, slopes.topk(hidden, dim=1).indices, 0.0)
        share = torch.from_numpy(task.rng.beta(self.shape, self.shape, (len(minor), 1))).float()
        return rows(task, minor) * (1 - share * mask) + share * mask * rows(task, other)

    def _links(self, task: Task, minor: Ints, other: Ints) -> CSR:
        """Neighbours, drawn from both nodes' with the shares that their predictions say."""
        logs = torch.log_softmax(task.logits, dim=1)
        apart = (logs[minor].exp() * (logs[minor] - logs[other])).sum(dim=1)  # Kullback-Leibler
        return drawn_links(task, minor, other, torch.sigmoid(apart).double().numpy())
