"""BAT (Liu et al. 2024): a virtual node for each class, linked in every epoch to nodes that may be misclassified.

A node is at risk when its prediction is less certain than is usual for the class that it is predicted as. It is linked
to the virtual node of another class by its risk times how likely that class is. A virtual node has the mean features of
the nodes that are predicted as its class, which is its label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from imgcl._core.sparse import CSR
from imgcl.baselines.supervised.network import Network
from imgcl.baselines.supervised.recipe import Added, Recipe, Task


@dataclass
class BAT(Recipe):
    """Virtual class nodes.

    Attributes:
        warm_up: epochs before the first link.
    """

    warm_up: int = 5

    def add(self, task: Task, network: Network) -> Added | None:
        """One node for each class that has labels and is predicted."""
        if task.epoch < self.warm_up:
            return None
        shares = task.probabilities
        predicted = shares.argmax(dim=1)
        counts = torch.bincount(predicted, minlength=task.n_classes)
        classes = torch.nonzero((task.sizes > 0) & (counts > 0)).squeeze(1)
        members = sp.csr_array(
            (np.ones(len(predicted), np.float32), (predicted.numpy(), np.arange(len(predicted)))),
            shape=(task.n_classes, len(predicted)),
        )
        means = torch.from_numpy((members @ task.x).toarray()) / counts.clamp_min(1).unsqueeze(1)
        chance = risk(shares) * likely_otherwise(shares)
        drawn = torch.from_numpy(task.rng.random((len(classes), len(predicted)))) < chance[:, classes].T
        links = CSR.from_scipy(sp.csr_array(drawn.numpy().astype(np.float32)))
        return Added(means[classes], links, classes, mutual=True)


def risk(shares: Tensor) -> Tensor:
    """By how much a prediction is less certain than the mean of those as the same class, 0 to 1, (n, 1).

    Example:
        >>> risk(torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])).squeeze(1)
        tensor([0.0000, 0.3750, 0.0000])
    """
    best, predicted = shares.max(dim=1)
    doubt = 1 - best  # total variation distance to certainty
    counts = torch.bincount(predicted, minlength=shares.shape[1]).clamp_min(1)
    usual = doubt.new_zeros(shares.shape[1]).index_add_(0, predicted, doubt) / counts
    largest = doubt.new_zeros(shares.shape[1]).scatter_reduce_(0, predicted, doubt, "amax")
    return ((doubt - usual[predicted]).clamp_min(0) / largest[predicted].clamp_min(1e-9)).unsqueeze(1)


def likely_otherwise(shares: Tensor) -> Tensor:
    """Shares of the classes that a node is not predicted as; they sum to one."""
    others = shares.scatter(1, shares.argmax(dim=1, keepdim=True), 0.0)
    return others / others.sum(dim=1, keepdim=True).clamp_min(1e-9)
