"""Centralities of a block's nodes, on its device: what GCA's adaptive views weigh edges and features by."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR, Operator

TOLERANCE = 1e-8
MAX_STEPS = 1000


def degree(adjacency: CSR) -> Tensor:
    """Number of neighbours."""
    return torch.diff(adjacency.indptr).double()


def pagerank(adjacency: CSR, damping: float = 0.85) -> Tensor:
    """The fixed point of ``sigma = damping A D^-1 sigma + 1``."""
    share = damping / degree(adjacency).clamp(min=1)
    return _fixed_point(lambda sigma: _neighbour_sum(adjacency, sigma * share) + 1, adjacency)


def eigenvector(adjacency: CSR) -> Tensor:
    """The leading eigenvector of A, with norm 1.

    Iterated on A + I, which has the same eigenvectors and, on a bipartite graph too, one largest eigenvalue.
    """
    return _fixed_point(
        lambda sigma: torch.nn.functional.normalize(_neighbour_sum(adjacency, sigma) + sigma, dim=0), adjacency
    )


CENTRALITIES: dict[str, Callable[[CSR], Tensor]] = {
    "degree": degree,
    "pagerank": pagerank,
    "eigenvector": eigenvector,
}


def centrality_scores(adjacency: CSR, name: str) -> Tensor:
    """The scores of this name, float64, computed once for an adjacency."""
    return adjacency.derive(("centrality", name), CENTRALITIES[name])


def check_scores(name: str) -> str:
    """The name, if there is such a centrality."""
    if name not in CENTRALITIES:
        raise InputError(f"unknown scores {name!r}: choose one of {', '.join(CENTRALITIES)}")
    return name


def _neighbour_sum(adjacency: CSR, values: Tensor) -> Tensor:
    structure = CSR(adjacency.indptr, adjacency.indices, None, adjacency.n_columns)
    return (Operator(structure, structure) @ values.unsqueeze(1)).squeeze(1)


def _fixed_point(step: Callable[[Tensor], Tensor], adjacency: CSR) -> Tensor:
    scores = torch.ones(adjacency.n_rows, dtype=torch.float64, device=adjacency.device)
    for _ in range(MAX_STEPS):
        before, scores = scores, step(scores)
        if float((scores - before).abs().sum()) <= TOLERANCE * float(scores.abs().sum()):
            break
    return scores
