"""Centralities of a block's nodes: what GCA's adaptive views weigh edges and features by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR
from imgcl._core.words import did_you_mean
from imgcl.graph.centrality import leading_eigenvector, pagerank


def _eigenvector(indptr: NDArray[np.int64], indices: NDArray[np.int64]) -> NDArray[np.float64]:
    n = len(indptr) - 1
    adjacency = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
    return leading_eigenvector(adjacency.maximum(adjacency.T).tocsr())[1]  # sampled neighbour lists are one-sided


CENTRALITIES: dict[str, Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]] = {
    "degree": lambda indptr, _: np.diff(indptr).astype(np.float64),
    "pagerank": pagerank,
    "eigenvector": _eigenvector,
}


def centrality_scores(adjacency: CSR, name: str) -> Tensor:
    """The scores of this name, float64, computed once for an adjacency."""
    return adjacency.derive(("centrality", name), lambda matrix: _scores(matrix, name))


def check_scores(name: str) -> str:
    """The name, if there is such a centrality."""
    if name not in CENTRALITIES:
        raise InputError(f"unknown scores {name!r}{did_you_mean(name, CENTRALITIES)}")
    return name


def _scores(adjacency: CSR, name: str) -> Tensor:
    scores = CENTRALITIES[name](adjacency.indptr.cpu().numpy(), adjacency.indices.cpu().numpy())
    return torch.from_numpy(scores).to(adjacency.device)
