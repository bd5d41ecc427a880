"""What one supervised baseline changes: nodes that are added, labels that count, the loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from imgcl._core.sparse import CSR, Operator
from imgcl.baselines.supervised.losses import Criterion

if TYPE_CHECKING:
    from imgcl.baselines.supervised.network import Network, Output
    from imgcl.graph import Graph


@dataclass(frozen=True, eq=False)
class Added:
    """Nodes that are added to the graph of one split for one epoch.

    Attributes:
        features: one row per new node, scaled as the graph's rows are.
        links: (new nodes, nodes of the graph), the neighbours of every new node; CSR of ones.
        targets: the class of every new node.
        mutual: whether the nodes of the graph receive messages from them as well.
    """

    features: Tensor
    links: CSR
    targets: Tensor
    mutual: bool = False


@dataclass(eq=False)
class Task:
    """One split while it is trained.

    Attributes:
        graph: all nodes and edges.
        x: features with rows of length 1.
        train: training nodes.
        targets: their classes.
        val: validation nodes.
        val_targets: their classes.
        n_classes: of the graph.
        rng: for what a recipe draws; its own for every split.
        index: which network of those side by side is its.
        epoch: that is being trained, from 0.
        progress: of training, from 0 to 1.
        logits: of all nodes in the last epoch, dropout included; empty before the first.
        looked: logits of all nodes without dropout, at the last look at validation or, for a recipe that is ``fresh``,
            before every epoch.
        notes: what a recipe keeps for the split.
    """

    graph: Graph
    x: sp.csr_array
    train: Tensor
    targets: Tensor
    val: Tensor
    val_targets: Tensor
    n_classes: int
    rng: np.random.Generator
    index: int
    epoch: int = 0
    progress: float = 0.0
    logits: Tensor = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.float32))
    looked: Tensor = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.float32))
    notes: dict[Any, Any] = field(default_factory=dict)

    @property
    def sizes(self) -> Tensor:
        """Training labels per class."""
        return torch.bincount(self.targets, minlength=self.n_classes)

    @cached_property
    def adjacency(self) -> CSR:
        """The neighbour lists of the graph."""
        graph = self.graph
        return CSR.from_numpy(graph.indptr, graph.indices, graph.edge_weight, graph.n_nodes)

    def mean_around(self, rows: Tensor, itself: bool = True) -> Tensor:
        """The mean of rows over a node's neighbours, and over the node itself if it counts; 0 where there is none."""
        operator: Operator | None = self.notes.get(("mean", itself))
        if operator is None:
            total = self.adjacency.row_sums + float(itself)
            scale = torch.where(total > 0, 1 / total, 0.0)
            operator = Operator(self.adjacency, self.adjacency, scale, None, float(itself))
            self.notes[("mean", itself)] = operator
        return operator @ rows


class Recipe:
    """The plain network: nothing is added, the training nodes count, the loss is the criterion's.

    A baseline derives a class and overrides what it changes. A recipe serves all splits, so what belongs to one split
    is kept in its task (``task.notes``).

    Example:
        >>> class Halved(Recipe):
        ...     def loss(self, task, output, criterion):
        ...         return super().loss(task, output, criterion) / 2
    """

    margin: Callable[[Task, Output], Tensor] | None = None  # added to the training nodes' logits, see TAM
    takes_margin = True  # whether its loss is one of logits
    hops = 0  # over which features are propagated before the network, which then passes no messages
    learning_rate: float | None = None  # of Adam, where that is not the trainer's
    width: int | None = None  # of the output, where that is not the number of classes
    keeps_gradient = False  # whether it asks for the gradient of features
    fresh = False  # whether it asks for predictions without dropout before every epoch (``task.looked``)

    def prepare(self, task: Task) -> None:
        """Once for every split, before its first epoch."""

    def parameters(self, task: Task) -> list[Tensor]:
        """Further parameters to train."""
        return []

    def add(self, task: Task, network: Network) -> Added | None:
        """Nodes to add in this epoch."""
        return None

    def factors(self, task: Task) -> Tensor | None:
        """How much every training node counts."""
        return None

    def loss(self, task: Task, output: Output, criterion: Criterion) -> Tensor:
        """The loss of a split; added nodes are training nodes of the class they were made for."""
        logits, factors = self.trained(task, output), self.factors(task)
        if output.added is None:
            return criterion.loss(logits, task.targets, task.sizes, task.progress, factors)
        targets = torch.cat([task.targets, output.added.targets])
        sizes = torch.bincount(targets, minlength=task.n_classes)
        if factors is not None:
            factors = torch.cat([factors, factors.new_ones(len(output.added.targets))])
        logits = torch.cat([logits, output.logits[task.graph.n_nodes :]])
        return criterion.loss(logits, targets, sizes, task.progress, factors)

    def trained(self, task: Task, output: Output) -> Tensor:
        """Logits of the training nodes, with their margins."""
        logits = output.logits[task.train]
        return logits if self.margin is None else logits + self.margin(task, output)

    def predict(self, task: Task, output: Output) -> Tensor:
        """Logits of all nodes of the graph, as they are validated and tested."""
        return output.logits[: task.graph.n_nodes]
