"""Centralities of a block's nodes, weights of edges included: what GCA's adaptive views drop edges and features by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR
from imgcl._core.words import did_you_mean
from imgcl.graph.centrality import leading_eigenvector, pagerank


def _degree(adjacency: CSR) -> NDArray[np.float64]:
    return adjacency.row_sums.cpu().numpy().astype(np.float64)


def _pagerank(adjacency: CSR) -> NDArray[np.float64]:
    weights = None if adjacency.weights is None else adjacency.weights.cpu().numpy()
    return pagerank(adjacency.indptr.cpu().numpy(), adjacency.indices.cpu().numpy(), weights=weights)


def _eigenvector(adjacency: CSR) -> NDArray[np.float64]:
    matrix = adjacency.to_scipy().astype(np.float64)
    return leading_eigenvector(matrix.maximum(matrix.T).tocsr())[1]  # sampled neighbour lists are one-sided


CENTRALITIES: dict[str, Callable[[CSR], NDArray[np.float64]]] = {
    "degree": _degree,
    "pagerank": _pagerank,
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
    return torch.from_numpy(CENTRALITIES[name](adjacency)).to(adjacency.device)
