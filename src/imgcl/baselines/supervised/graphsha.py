"""GraphSHA (Li et al. 2023): hard new nodes, between a doubtful minority node and the class it is confused with.

A new node's features lie between those of the minority node and of a node of the other class, by default next to the
latter; its neighbours are the minority node's alone (SemiMixup), so that the other class does not lose ground.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from imgcl.baselines.supervised.network import Network
from imgcl.baselines.supervised.recipe import Added, Recipe, Task
from imgcl.baselines.supervised.synthesis import Floats, Ints, drawn_links, missing, of_class, rows

TINY = 1e-9


@dataclass
class GraphSHA(Recipe):
    """Hard nodes.

    Attributes:
        warm_up: epochs before the first new node.
        temperature: of the predictions that doubt and confusion are measured by.
        ours: first parameter of the Beta distribution of the minority node's share of the features.
        theirs: the second.
    """

    warm_up: int = 5
    temperature: float = 2.0
    ours: float = 1.0
    theirs: float = 100.0

    def add(self, task: Task, network: Network) -> Added | None:
        """As many nodes as make all classes at least as large as they are on average."""
        lacking = missing(task.sizes, wanted=len(task.train) // task.n_classes)
        if task.epoch < self.warm_up or not lacking.any():
            return None
        shares = torch.softmax(task.logits.double() / self.temperature, dim=1).numpy()
        pairs = [self._pairs(task, shares, k, int(n)) for k, n in enumerate(lacking) if n]
        anchor, other = (np.concatenate(part) for part in zip(*pairs, strict=True))
        own = torch.from_numpy(task.rng.beta(self.ours, self.theirs, (len(anchor), 1))).float()
        mixed = own * rows(task, anchor) + (1 - own) * rows(task, other)
        links = drawn_links(task, anchor, anchor, np.ones(len(anchor)))
        return Added(mixed, links, torch.from_numpy(np.repeat(np.arange(task.n_classes), lacking)))

    def _pairs(self, task: Task, shares: Floats, k: int, number: int) -> tuple[Ints, Ints]:
        """Doubtful nodes of class k, and nodes of the classes that they are confused with."""
        mine = of_class(task, k)
        anchors = task.rng.choice(mine, number, p=_chances(1 - shares[mine, k]))
        confused = np.where(task.sizes.numpy() > 0, shares[anchors] + TINY, 0.0)
        confused[:, k] = 0
        bounds = np.cumsum(confused, axis=1)
        classes = (task.rng.random((number, 1)) * bounds[:, -1:] >= bounds).sum(axis=1)
        others = np.empty_like(anchors)
        for each in np.unique(classes):
            members, wanted = of_class(task, int(each)), classes == each
            others[wanted] = task.rng.choice(members, int(wanted.sum()), p=_chances(shares[members, k]))
        return anchors, others


def _chances(weights: Floats) -> Floats:
    """Probabilities by weight; equal ones where all weights vanish."""
    return np.asarray((weights + TINY) / (weights + TINY).sum())
