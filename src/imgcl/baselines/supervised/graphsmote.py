"""GraphSMOTE (Zhao et al. 2021): new nodes between two of a rare class, in the space of the first layer.

A learnt edge generator sigmoid(h_u' M h_v) says which of its parents' neighbours a new node is linked to; it is trained
to tell the edges of the graph from other pairs. New nodes receive messages and send none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from imgcl.baselines.supervised.losses import Criterion
from imgcl.baselines.supervised.network import HIDDEN, Network, Output
from imgcl.baselines.supervised.recipe import Recipe, Task
from imgcl.baselines.supervised.synthesis import Ints, missing, of_class

PAIRS = 2048  # edges, and as many other pairs, that the generator learns from in an epoch
LINKED = 0.5  # probability from which there is an edge
MOST = 500  # new nodes of an epoch; each is compared with all nodes


@dataclass
class GraphSMOTE(Recipe):
    """Interpolation in embedding space, with generated edges.

    Attributes:
        warm_up: epochs before the first new node.
        edges: factor of the edge generator's loss.
    """

    warm_up: int = 5
    edges: float = 1.0

    def prepare(self, task: Task) -> None:
        """The edge generator starts as the scalar product."""
        task.notes["generator"] = torch.eye(HIDDEN, dtype=torch.float32)

    def parameters(self, task: Task) -> list[Tensor]:
        """That of the edge generator."""
        return [task.notes["generator"]]

    def add(self, task: Task, network: Network) -> None:
        """Nothing before the first layer; the network is needed for the second."""
        task.notes["network"] = network

    def loss(self, task: Task, output: Output, criterion: Criterion) -> Tensor:
        """The criterion on training and new nodes, and the loss of the edge generator."""
        if task.epoch < self.warm_up:
            return super().loss(task, output, criterion) + self.edges * self._edge_loss(task, output.hidden)
        first, second, classes = self._pairs(task, output.hidden.detach())
        share = torch.from_numpy(task.rng.random((len(first), 1))).float()
        new = output.hidden[first] * (1 - share) + output.hidden[second] * share
        near = torch.from_numpy((task.graph.adjacency[first] + task.graph.adjacency[second]).toarray() != 0)
        logits = torch.cat([self.trained(task, output), self._logits(task, output.hidden, new, near)])
        targets = torch.cat([task.targets, classes])
        sizes = torch.bincount(targets, minlength=task.n_classes)
        loss = criterion.loss(logits, targets, sizes, task.progress, None)
        return loss + self.edges * self._edge_loss(task, output.hidden)

    def _pairs(self, task: Task, hidden: Tensor) -> tuple[Ints, Ints, Tensor]:
        """Nodes of classes with few labels, and for each the nearest other one of its class."""
        lacking = missing(task.sizes)
        lacking = lacking * MOST // max(MOST, int(lacking.sum()))
        firsts, seconds = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for k in np.flatnonzero(lacking):
            nodes = of_class(task, int(k))
            apart = torch.cdist(hidden[nodes], hidden[nodes]).fill_diagonal_(np.inf)
            nearest = apart.argmin(dim=1).numpy() if len(nodes) > 1 else np.zeros(1, np.int64)
            drawn = task.rng.integers(len(nodes), size=lacking[k])
            firsts.append(nodes[drawn])
            seconds.append(nodes[nearest[drawn]])
        classes = torch.from_numpy(np.repeat(np.arange(task.n_classes), lacking))
        return np.concatenate(firsts), np.concatenate(seconds), classes

    def _logits(self, task: Task, hidden: Tensor, new: Tensor, near: Tensor) -> Tensor:
        """The second layer of the new nodes, over the edges that are generated for them among nodes that are near."""
        network: Network = task.notes["network"]
        with torch.no_grad():
            chance = torch.sigmoid(new @ task.notes["generator"] @ hidden.T)
            linked = (near & (chance >= LINKED)).to(chance)
        return network.received(task.index, new, linked, hidden)

    def _edge_loss(self, task: Task, hidden: Tensor) -> Tensor:
        graph, generator = task.graph, task.notes["generator"]
        entries = task.rng.integers(max(1, len(graph.indices)), size=min(PAIRS, len(graph.indices)))
        heads = np.searchsorted(graph.indptr, entries, side="right") - 1
        ends = np.asarray(graph.indices, dtype=np.int64)[entries]
        others = task.rng.integers(graph.n_nodes, size=(2, len(entries)))
        left, right = np.concatenate([heads, others[0]]), np.concatenate([ends, others[1]])
        scores = ((hidden[left] @ generator) * hidden[right]).sum(dim=1)
        truth = torch.cat([torch.ones(len(heads)), torch.zeros(len(others[0]))]).to(scores)
        return functional.binary_cross_entropy_with_logits(scores, truth) if len(entries) else scores.sum()
