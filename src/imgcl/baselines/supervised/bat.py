"""BAT (Liu et al. 2024): a virtual node for each class, linked in every epoch to nodes that may be misclassified.

The risk of a node is the doubt about its prediction, less where the predicted class has few labels. A node whose risk
is above the mean of those predicted alike is linked to the virtual node of another class by that excess times the share
of that class among its neighbours of other classes (the paper's first-order estimate). A virtual node has the mean
features of the nodes that are predicted as its class, which is its label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional

from imgcl._core.sparse import CSR
from imgcl.baselines.supervised.network import Network
from imgcl.baselines.supervised.recipe import Added, Recipe, Task


@dataclass
class BAT(Recipe):
    """Virtual class nodes.

    Attributes:
        warm_up: epochs before the first link.
    """

    warm_up: int = 0
    fresh = True

    def add(self, task: Task, network: Network) -> Added | None:
        """One node for each class that has labels, and so is predicted: training nodes count as what they are."""
        if task.epoch < self.warm_up:
            return None
        shares = torch.softmax(task.looked, dim=1)
        predicted = shares.argmax(dim=1)
        predicted[task.train] = task.targets
        classes = torch.nonzero(task.sizes > 0).squeeze(1)
        chance = excess_risk(shares, predicted, task.sizes).unsqueeze(1) * likely_otherwise(task, predicted)
        drawn = torch.from_numpy(task.rng.random((len(classes), len(predicted)))) < chance[:, classes].T
        links = CSR.from_scipy(sp.csr_array(drawn.numpy().astype(np.float32)))
        return Added(_means(task, predicted)[classes], links, classes, mutual=True)


def excess_risk(shares: Tensor, predicted: Tensor, sizes: Tensor) -> Tensor:
    """By how much the risk of a node is above the mean of those predicted alike, or 0.

    The risk is the total variation distance between a node's shares and certainty, 1 minus the largest share, times the
    number of labels of the predicted class over that of the largest class.

    Example:
        >>> shares = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.4, 0.6]])
        >>> excess_risk(shares, shares.argmax(dim=1), sizes=torch.tensor([4, 1]))
        tensor([0.0000, 0.1500, 0.0000, 0.0250])
    """
    risk = (1 - shares.max(dim=1).values) * (sizes / sizes.max())[predicted]
    total = risk.new_zeros(len(sizes)).index_add_(0, predicted, risk)
    usual = total / torch.bincount(predicted, minlength=len(sizes)).clamp_min(1)
    return (risk - usual[predicted]).clamp_min(0)


def likely_otherwise(task: Task, predicted: Tensor) -> Tensor:
    """Shares of classes among the neighbours that are predicted differently from a node; 0 where none is."""
    around = task.mean_around(functional.one_hot(predicted, task.n_classes).float(), itself=False)
    others = around.scatter(1, predicted.unsqueeze(1), 0.0)
    total = others.sum(dim=1, keepdim=True)
    return torch.where(total > 0, others / total, 0.0)


def _means(task: Task, predicted: Tensor) -> Tensor:
    """Mean features of the nodes that are predicted as each class."""
    n = len(predicted)
    members = sp.csr_array((np.ones(n, np.float32), (predicted.numpy(), np.arange(n))), shape=(task.n_classes, n))
    counts = torch.bincount(predicted, minlength=task.n_classes).clamp_min(1)
    return torch.from_numpy((members @ task.x).toarray()) / counts.unsqueeze(1)
