"""TAM (Song et al. 2022): margins for nodes whose neighbours are unlike those of their class.

A training node that is linked to another class more than is usual, or whose neighbours are like those of another
class, would push that class away from where its nodes are: the logit of that class is lowered, which weakens the push.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from imgcl._core.sparse import CSR, Operator
from imgcl.baselines.supervised.network import Output
from imgcl.baselines.supervised.recipe import Task

FLOOR = 1e-6


@dataclass(frozen=True)
class TopologyMargin:
    """Margins of the training nodes, one per class, to add to their logits.

    Attributes:
        warm_up: epochs before the first margin, while predictions say nothing yet.
        connectivity: factor of the margin for neighbours of the own class (alpha).
        distribution: factor of the margin for neighbours like those of another class (beta).
        temperature: by which predictions of unlabelled neighbours are flattened where their class has few labels.
    """

    warm_up: int = 5
    connectivity: float = 2.5
    distribution: float = 0.5
    temperature: float = 1.2

    def __call__(self, task: Task, output: Output) -> Tensor:
        """The margins (training nodes, K)."""
        if task.epoch < self.warm_up:
            return output.logits.new_zeros(len(task.train), task.n_classes)
        with torch.no_grad():
            around = self._around(task, output.logits[: task.graph.n_nodes])
            usual = _class_means(around, task)
            own, mine = usual[task.targets], around[task.train]
            return self.connectivity * _connectivity(mine, own, task) + self.distribution * _closer(mine, usual, task)

    def _around(self, task: Task, logits: Tensor) -> Tensor:
        """Shares of classes among every node and its neighbours: known labels, and predictions elsewhere."""
        sizes = task.sizes.float()
        flatter = torch.where(sizes < sizes.max(), self.temperature, 1.0)[logits.argmax(dim=1)]
        shares = torch.softmax(logits / flatter.unsqueeze(1), dim=1)
        shares[task.train] = torch.nn.functional.one_hot(task.targets, task.n_classes).float()
        operator: Operator = task.notes.get("mean") or task.notes.setdefault("mean", _mean(task))
        return operator @ shares


def _mean(task: Task) -> Operator:
    """The mean over a node and its neighbours."""
    adjacency = CSR.from_numpy(task.graph.indptr, task.graph.indices, task.graph.edge_weight, task.graph.n_nodes)
    return Operator(adjacency, adjacency, 1 / (adjacency.row_sums + 1), None, 1.0)


def _class_means(around: Tensor, task: Task) -> Tensor:
    """What surrounds the training nodes of a class on average, (K, K)."""
    total = around.new_zeros(task.n_classes, task.n_classes).index_add_(0, task.targets, around[task.train])
    return total / task.sizes.clamp_min(1).unsqueeze(1)


def _connectivity(mine: Tensor, own: Tensor, task: Task) -> Tensor:
    """Per class, the log of links to it over what is usual, against that of the own class; below 0 if anomalous."""
    ratio = (mine.clamp_min(FLOOR) / own.clamp_min(FLOOR)).log()
    return (ratio.gather(1, task.targets.unsqueeze(1)) - ratio).clamp(-1, 0)


def _closer(mine: Tensor, usual: Tensor, task: Task) -> Tensor:
    """Per class, minus by how much a node's surroundings are more like that class's than like its own class's."""
    logs = usual.clamp_min(FLOOR).log()
    distances = (mine.clamp_min(FLOOR).log() * mine).sum(dim=1, keepdim=True) - mine @ logs.T  # Kullback-Leibler
    own = distances.gather(1, task.targets.unsqueeze(1))
    return torch.where(task.sizes > 0, (distances - own).clamp(-1, 0), 0.0)
