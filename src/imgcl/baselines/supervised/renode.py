"""ReNode (Chen et al. 2021): training nodes in regions that other classes influence count less.

The conflict of a node is the influence of the other classes' labels where its own influence goes, both by personalised
PageRank. Factors fall along a cosine from the node with the least conflict to the one with the most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from imgcl._core.sparse import Operator
from imgcl.baselines.supervised.recipe import Recipe, Task

STEPS = 20  # of the power iteration


@dataclass
class ReNode(Recipe):
    """Factors of training nodes by their conflict.

    Attributes:
        teleport: probability of the random walk to start again.
        least: factor of the node with the largest conflict.
        most: factor of the node with the smallest.
    """

    teleport: float = 0.15
    least: float = 0.5
    most: float = 1.5

    def prepare(self, task: Task) -> None:
        """The factors of a split's training nodes."""
        rank = self.conflicts(task).argsort(stable=True).argsort(stable=True).float()
        angle = rank / max(1, len(rank) - 1) * math.pi
        task.notes["factors"] = self.least + 0.5 * (self.most - self.least) * (1 + torch.cos(angle))

    def factors(self, task: Task) -> Tensor:
        """As prepared."""
        return task.notes["factors"]  # type: ignore[no-any-return]

    def conflicts(self, task: Task) -> Tensor:
        """How much influence of other classes every training node meets."""
        n, sizes = task.graph.n_nodes, task.sizes.clamp_min(1).float()
        start = torch.zeros(n, task.n_classes, dtype=torch.float32)
        start[task.train, task.targets] = 1 / sizes[task.targets]
        met = self._spread(task, self._spread(task, start))[task.train]  # P is symmetric: (P R)_v = P_v . R
        return met.sum(dim=1) - met.gather(1, task.targets.unsqueeze(1)).squeeze(1)

    def _spread(self, task: Task, start: Tensor) -> Tensor:
        """Personalised PageRank from every column."""
        operator, found = Operator.normalised(task.adjacency, task.adjacency), start
        for _ in range(STEPS):
            found = (1 - self.teleport) * (operator @ found) + self.teleport * start
        return found
