"""ImGAGN (Qu et al. 2021): a generator of nodes for rare classes, against a discriminator of real and made nodes.

From noise the generator makes shares of a class's training nodes: a new node's features are their mean by these shares,
and it is linked to those with more than an equal share. The network learns classes from real and new nodes, and a
further output to tell one from the other; the generator learns to be taken for real, for the class, and to be near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional

from imgcl._core.sparse import CSR
from imgcl.baselines.supervised.losses import Criterion
from imgcl.baselines.supervised.network import HIDDEN, Network, Output, glorot
from imgcl.baselines.supervised.recipe import Added, Recipe, Task
from imgcl.baselines.supervised.synthesis import missing, of_class, rows

NOISE, WIDTH = 100, 200  # of the generator


@dataclass
class ImGAGN(Recipe):
    """Generated nodes.

    Attributes:
        warm_up: epochs before the first new node.
        adversarial: factor of the losses of telling real from made, and of the generator.
    """

    warm_up: int = 5
    adversarial: float = 1.0

    def prepare(self, task: Task) -> None:
        """A generator for the classes with few labels, which share its first layers, and the further output."""
        lacking = missing(task.sizes)
        random = torch.Generator().manual_seed(int(task.rng.integers(2**63)))
        layers = [glorot(NOISE, WIDTH, random), glorot(WIDTH, WIDTH, random)]
        last = {int(k): glorot(WIDTH, int(task.sizes[k]), random) for k in np.flatnonzero(lacking)}
        task.notes |= {"lacking": lacking, "layers": layers, "last": last, "real": glorot(HIDDEN, 1, random)}

    def parameters(self, task: Task) -> list[Tensor]:
        """Those of the generator and of the further output."""
        notes = task.notes
        return [*notes["layers"], *notes["last"].values(), notes["real"]]

    def add(self, task: Task, network: Network) -> Added | None:
        """As many nodes as make all classes as large as the largest; the losses of the network do not move them."""
        lacking = task.notes["lacking"]
        if task.epoch < self.warm_up or not lacking.any():
            return None
        shares = [self._shares(task, k, int(lacking[k])) for k in task.notes["last"]]
        parents = [of_class(task, k) for k in task.notes["last"]]
        made = torch.cat([share @ rows(task, nodes) for share, nodes in zip(shares, parents, strict=True)])
        task.notes |= {"made": made, "network": network}
        links = joined([share.detach() for share in shares], parents, task.graph.n_nodes)
        return Added(made.detach(), links, _classes(lacking), mutual=True)

    def _shares(self, task: Task, k: int, number: int) -> Tensor:
        """Shares of the training nodes of class k, one row per new node."""
        hidden = torch.from_numpy(task.rng.standard_normal((number, NOISE), dtype=np.float32))
        for layer in task.notes["layers"]:
            hidden = torch.relu(hidden @ layer)
        return torch.softmax(hidden @ task.notes["last"][k], dim=1)

    def loss(self, task: Task, output: Output, criterion: Criterion) -> Tensor:
        """That of classes, of telling real from made nodes, and the generator's."""
        known = super().loss(task, output, criterion)
        if output.added is None:
            return known
        return known + self.adversarial * (told_apart(task, output) + self._generator(task))

    def _generator(self, task: Task) -> Tensor:
        """Of new nodes by themselves, so that the generator alone receives gradients."""
        made, classes, network = task.notes["made"], _classes(task.notes["lacking"]), task.notes["network"]
        hidden, logits = network.isolated(task.index, made)
        scores = (hidden @ task.notes["real"].detach()).squeeze(1)
        fooled = functional.binary_cross_entropy_with_logits(scores, torch.ones_like(scores))
        return fooled + functional.cross_entropy(logits, classes) + distance(task, made, classes)


def told_apart(task: Task, output: Output) -> Tensor:
    """The loss of telling training nodes from new ones, both counting alike."""
    scores = (output.hidden @ task.notes["real"]).squeeze(1)
    real, made = scores[task.train], scores[task.graph.n_nodes :]
    return (functional.softplus(-real).mean() + functional.softplus(made).mean()) / 2


def distance(task: Task, made: Tensor, classes: Tensor) -> Tensor:
    """Mean Euclidean distance between new nodes and the training nodes of their classes."""
    found = [torch.cdist(made[classes == k], rows(task, of_class(task, int(k)))).mean(dim=1) for k in classes.unique()]
    return torch.cat(found).mean()


def joined(shares: list[Tensor], parents: list[np.ndarray], n_nodes: int) -> CSR:
    """Links of new nodes to parents of which they have at least an equal share.

    Example:
        >>> joined([torch.tensor([[0.7, 0.3]])], [np.array([1, 2])], n_nodes=4).to_scipy().toarray()
        array([[0., 1., 0., 0.]], dtype=float32)
    """
    starts = np.cumsum([0, *(len(share) for share in shares)])
    links = sp.lil_array((starts[-1], n_nodes), dtype=np.float32)
    for share, nodes, (start, end) in zip(shares, parents, pairwise(starts), strict=True):
        links[start:end, nodes] = (share * len(nodes) >= 1).numpy()
    return CSR.from_scipy(sp.csr_array(links))


def _classes(lacking: np.ndarray) -> Tensor:
    return torch.from_numpy(np.repeat(np.arange(len(lacking)), lacking))
