"""GraphSHA (Li et al. 2023): hard new nodes, between a doubtful minority node and the class it is confused with.

A new node's features lie between those of the minority node and of a node of the other class; its neighbours are the
minority node's alone, so that the other class does not lose ground.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from imgcl.baselines.supervised.network import Network
from imgcl.baselines.supervised.recipe import Added, Recipe, Task
from imgcl.baselines.supervised.synthesis import Ints, drawn_degrees, links_of, missing, neighbours_of, of_class, rows


@dataclass
class GraphSHA(Recipe):
    """Hard nodes.

    Attributes:
        warm_up: epochs before the first new node.
        ours: first parameter of the Beta distribution of the minority node's share of the features.
        theirs: the second.
    """

    warm_up: int = 5
    ours: float = 1.0
    theirs: float = 1.0

    def add(self, task: Task, network: Network) -> Added | None:
        """As many nodes as make all classes as large as the largest."""
        lacking = missing(task)
        if task.epoch < self.warm_up or not lacking.any():
            return None
        shares = task.probabilities.double().numpy()
        pairs = [self._pairs(task, shares, k, int(n)) for k, n in enumerate(lacking) if n]
        anchor, other = (np.concatenate(part) for part in zip(*pairs, strict=True))
        own = torch.from_numpy(task.rng.beta(self.ours, self.theirs, (len(anchor), 1))).float()
        mixed = own * rows(task, anchor) + (1 - own) * rows(task, other)
        near = [
            _some(task, neighbours_of(task, node), degree)
            for node, degree in zip(anchor, drawn_degrees(task, len(anchor)), strict=True)
        ]
        classes = torch.from_numpy(np.repeat(np.arange(task.n_classes), lacking))
        return Added(mixed, links_of(near, task.graph.n_nodes), classes)

    def _pairs(self, task: Task, shares: np.ndarray, k: int, number: int) -> tuple[Ints, Ints]:
        """Doubtful nodes of class k, and nodes of the classes that they are confused with."""
        mine = of_class(task, k)
        anchors = task.rng.choice(mine, number, p=_chances(1 - shares[mine, k]))
        confused = shares[anchors] * (task.sizes.numpy() > 0)
        confused[:, k] = 0
        others = np.empty_like(anchors)
        for i, row in enumerate(confused):
            members = of_class(task, int(task.rng.choice(len(row), p=_chances(row, task.sizes.numpy() > 0, k))))
            others[i] = task.rng.choice(members, p=_chances(shares[members, k]))
        return anchors, others


def _chances(weights: np.ndarray, allowed: np.ndarray | None = None, but: int = -1) -> np.ndarray:
    """Probabilities by weight; equal ones where all weights vanish."""
    open_to = np.ones(len(weights)) if allowed is None else allowed.astype(np.float64)
    if but >= 0:
        open_to[but] = 0
    found = (weights + 1e-9) * open_to
    return found / found.sum()


def _some(task: Task, nodes: Ints, number: int) -> Ints:
    return nodes if len(nodes) <= number else np.asarray(task.rng.choice(nodes, number, replace=False))
