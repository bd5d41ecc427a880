"""What baselines that synthesise nodes share: how many a class lacks, mixed features, drawn neighbours."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.sparse import CSR
from imgcl.baselines.supervised.recipe import Task

Ints = NDArray[np.int64]
MOST = 2000  # new nodes per epoch and split; beyond, every class gets its share


def missing(task: Task) -> Ints:
    """How many nodes every class lacks to have as many labels as the largest; none where a class has no label.

    Example:
        >>> from types import SimpleNamespace
        >>> missing(SimpleNamespace(sizes=torch.tensor([20, 5, 0]))).tolist()
        [0, 15, 0]
    """
    sizes = task.sizes.numpy()
    lacking = np.where(sizes > 0, sizes.max() - sizes, 0)
    total = int(lacking.sum())
    return lacking if total <= MOST else lacking * MOST // total


def of_class(task: Task, k: int) -> Ints:
    """Training nodes of a class."""
    return np.asarray(task.train[task.targets == k].numpy())


def rows(task: Task, nodes: Ints) -> Tensor:
    """Features of some nodes, dense."""
    return torch.from_numpy(task.x[nodes].toarray())


def links_of(neighbours: list[Ints], n: int) -> CSR:
    """The matrix of new nodes and their neighbours."""
    indptr = np.concatenate([[0], np.cumsum([len(each) for each in neighbours])])
    indices = np.concatenate(neighbours) if neighbours else np.empty(0, np.int64)
    return CSR.from_numpy(indptr, indices, None, n)


def neighbours_of(task: Task, node: int) -> Ints:
    """Neighbours of a node of the graph."""
    return np.asarray(task.graph.indices[task.graph.indptr[node] : task.graph.indptr[node + 1]], dtype=np.int64)


def drawn_degrees(task: Task, number: int) -> Ints:
    """Degrees, drawn from those of the graph."""
    return np.asarray(task.rng.choice(task.graph.degree, number))
