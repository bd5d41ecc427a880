"""Prototypes as in DPGNN (Wang et al. 2021): a node is of the class whose prototype is nearest.

Labels are first extended by propagation in which classes count alike, as many further nodes for each class. In every
epoch half of a class's nodes make its prototype and the others are to be near it, classes counting alike; prototypes
are pushed apart, and linked nodes are to have similar distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from imgcl._core.sparse import Operator
from imgcl.baselines.supervised.losses import Criterion
from imgcl.baselines.supervised.network import Output
from imgcl.baselines.supervised.recipe import Recipe, Task

STEPS = 20  # of the propagation of labels
ALPHA = 0.9  # of the propagation of labels
EDGES = 2048  # that an epoch looks at
WIDTH = 32  # of the space of prototypes


@dataclass
class Prototypes(Recipe):
    """Nearest prototypes, on extended labels.

    Attributes:
        extended: nodes that every class is extended to.
        smooth: factor of the difference between linked nodes.
        separate: factor of the likeness between prototypes.
    """

    extended: int = 20
    smooth: float = 0.5
    separate: float = 0.1
    width = WIDTH
    takes_margin = False

    def prepare(self, task: Task) -> None:
        """Labels, and those that propagation adds."""
        task.notes["nodes"], task.notes["classes"] = extended_labels(task, self.extended)

    def loss(self, task: Task, output: Output, criterion: Criterion) -> Tensor:
        """The criterion on distances of the nodes that made no prototype, and what keeps the space in order."""
        nodes, classes = task.notes["nodes"], task.notes["classes"]
        support = _halves(classes, task.rng)
        prototypes = _means(output.logits[nodes[support]], classes[support], task.n_classes)
        query = ~support | _alone(classes, task.n_classes)
        sizes = torch.bincount(classes, minlength=task.n_classes)
        scores = _scores(output.logits, prototypes, sizes)
        found = criterion.loss(scores[nodes[query]], classes[query], sizes, task.progress, None)
        return found + self.smooth * _roughness(task, scores) + self.separate * _likeness(prototypes, sizes)

    def predict(self, task: Task, output: Output) -> Tensor:
        """Minus the squared distances to the prototypes of all labels, extended ones included."""
        nodes, classes = task.notes["nodes"], task.notes["classes"]
        prototypes = _means(output.logits[nodes], classes, task.n_classes)
        return _scores(output.logits, prototypes, torch.bincount(classes, minlength=task.n_classes))


def extended_labels(task: Task, number: int) -> tuple[Tensor, Tensor]:
    """Training nodes, and for each class with fewer than ``number`` those where propagated labels are clearest."""
    operator = Operator.normalised(task.adjacency, task.adjacency)
    start = torch.zeros(task.graph.n_nodes, task.n_classes, dtype=torch.float32)
    start[task.train, task.targets] = 1 / task.sizes.clamp_min(1).float()[task.targets]  # classes count alike
    spread = start
    for _ in range(STEPS):
        spread = ALPHA * (operator @ spread) + (1 - ALPHA) * start
    best, classes = spread.max(dim=1)
    best[task.train] = 0.0
    nodes, found = [task.train], [task.targets]
    for k in torch.nonzero(task.sizes > 0).squeeze(1).tolist():
        score = torch.where(classes == k, best, 0.0)
        wanted = min(max(0, number - int(task.sizes[k])), int((score > 0).sum()))
        nodes.append(score.topk(wanted).indices)
        found.append(torch.full((wanted,), k))
    return torch.cat(nodes), torch.cat(found)


def _halves(classes: Tensor, rng: np.random.Generator) -> Tensor:
    """Which nodes make prototypes: a random half of each class, rounded up."""
    order = torch.from_numpy(rng.permutation(len(classes)))
    support = torch.zeros(len(classes), dtype=torch.bool)
    for k in torch.unique(classes):
        mine = order[classes[order] == k]
        support[mine[: (len(mine) + 1) // 2]] = True
    return support


def _alone(classes: Tensor, n_classes: int) -> Tensor:
    """Nodes that are the only one of their class, which must be prototype and question at once."""
    return torch.bincount(classes, minlength=n_classes)[classes] == 1


def _means(rows: Tensor, classes: Tensor, n_classes: int) -> Tensor:
    total = rows.new_zeros(n_classes, rows.shape[1]).index_add(0, classes, rows)
    return total / torch.bincount(classes, minlength=n_classes).clamp_min(1).unsqueeze(1)


def _scores(rows: Tensor, prototypes: Tensor, sizes: Tensor) -> Tensor:
    """Minus squared distances; a class without a prototype is far."""
    distances = torch.cdist(rows, prototypes).square() / 2
    return torch.where(sizes > 0, -distances, -1e4)


def _roughness(task: Task, scores: Tensor) -> Tensor:
    """How different linked nodes are classified."""
    if not len(task.graph.indices):
        return scores.new_zeros(())
    entries = task.rng.integers(len(task.graph.indices), size=EDGES)
    heads = np.searchsorted(task.graph.indptr, entries, side="right") - 1
    ends = np.asarray(task.graph.indices, dtype=np.int64)[entries]
    shares = torch.softmax(scores, dim=1)
    return (shares[heads] - shares[ends]).square().sum(dim=1).mean()


def _likeness(prototypes: Tensor, sizes: Tensor) -> Tensor:
    """Mean cosine between prototypes of different classes."""
    rows = torch.nn.functional.normalize(prototypes[sizes > 0], dim=1)
    cosines = rows @ rows.T
    pairs = max(1, len(rows) * (len(rows) - 1))
    return (cosines.sum() - cosines.diagonal().sum()) / pairs
