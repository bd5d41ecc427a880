"""What baselines that synthesise nodes share: how many a class lacks, mixed features, drawn neighbours."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.sparse import CSR
from imgcl.baselines.supervised.recipe import Task

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 1000  # new nodes per epoch and split; beyond, every class gets its share


def missing(sizes: Tensor, wanted: int | None = None) -> Ints:
    """How many labels every class lacks to have as many as the largest, or as are wanted; 0 for a class without any.

    Example:
        >>> missing(torch.tensor([20, 5, 0])).tolist(), missing(torch.tensor([20, 5, 0]), wanted=8).tolist()
        ([0, 15, 0], [0, 3, 0])
    """
    goal = int(sizes.max()) if wanted is None else wanted
    lacking = torch.where(sizes > 0, (goal - sizes).clamp_min(0), 0).numpy()
    total = int(lacking.sum())
    return lacking if total <= MOST else lacking * MOST // total


def of_class(task: Task, k: int) -> Ints:
    """Training nodes of a class."""
    return np.asarray(task.train[task.targets == k].numpy())


def rows(task: Task, nodes: Ints) -> Tensor:
    """Features of some nodes, dense."""
    return torch.from_numpy(task.x[nodes].toarray())


def drawn_links(task: Task, first: Ints, second: Ints, share: Floats) -> CSR:
    """New nodes and their neighbours, drawn without repetition from those of two nodes.

    A new node has as many neighbours as a random node of the graph, yet no more than the first of its two.

    Args:
        task: of the graph.
        first: for every new node, one whose neighbours are drawn from.
        second: another one.
        share: probability of a draw to be from the first.
    """
    degree, walk = task.graph.degree, _random_walk(task)
    chance = sp.diags_array(share) @ walk[first] + sp.diags_array(1 - share) @ walk[second]
    chance.eliminate_zeros()
    chance.sort_indices()
    wanted = np.minimum(task.rng.choice(degree, len(first)), degree[first])
    new = np.repeat(np.arange(len(first)), np.diff(chance.indptr))
    order = np.lexsort((task.rng.exponential(size=len(new)) / chance.data, new))  # within a node: as if drawn in turn
    drawn = np.sort(order[np.arange(len(new)) - chance.indptr[new] < wanted[new]])
    indptr = np.searchsorted(new[drawn], np.arange(len(first) + 1))
    return CSR.from_numpy(indptr, chance.indices[drawn], None, task.graph.n_nodes)


def _random_walk(task: Task) -> sp.csr_array:
    """Every neighbour of a node alike."""
    walk: sp.csr_array | None = task.notes.get("walk")
    if walk is None:
        degree, n = task.graph.degree, task.graph.n_nodes
        share = np.repeat(1 / np.maximum(degree, 1), degree)
        entries = (share, np.asarray(task.graph.indices), np.asarray(task.graph.indptr))
        walk = task.notes["walk"] = sp.csr_array(entries, shape=(n, n))
    return walk
