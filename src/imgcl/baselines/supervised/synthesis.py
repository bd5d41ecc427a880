"""What baselines that synthesise nodes share: how many a class lacks, mixed features, drawn neighbours."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.sparse import CSR
from imgcl.baselines.supervised.recipe import Task

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 1000  # new nodes per epoch and split; beyond, every class gets its share


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


def drawn_links(task: Task, first: Ints, second: Ints, share: Floats) -> CSR:
    """New nodes and their neighbours: as many draws as a node of the graph has neighbours, repeats counted once.

    Args:
        task: of the graph.
        first: for every new node, one whose neighbours are drawn from.
        second: another one.
        share: probability of a draw to be from the first.
    """
    degree, indptr, m = task.graph.degree, np.asarray(task.graph.indptr, dtype=np.int64), len(first)
    new = np.repeat(np.arange(m), task.rng.choice(degree, m))
    source = np.where(task.rng.random(len(new)) < share[new], first[new], second[new])
    new, source = new[degree[source] > 0], source[degree[source] > 0]
    place = indptr[source] + (task.rng.random(len(source)) * degree[source]).astype(np.int64)
    drawn = np.asarray(task.graph.indices, dtype=np.int64)[place]
    pairs = np.unique(new * task.graph.n_nodes + drawn)
    heads, ends = np.divmod(pairs, task.graph.n_nodes)
    return CSR.from_numpy(np.searchsorted(heads, np.arange(m + 1)), ends, None, task.graph.n_nodes)
