"""Prototype contrast with balanced assignments (ours, after SwAV): views agree on which prototype a row belongs to.

Assignments are balanced by Sinkhorn's iteration, so that every prototype, of a rare class too, receives the same share
of the rows. The prototypes are the means of the pseudo-classes: nothing else is trained.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

ROUNDS = 3
SHARPNESS = 0.05  # epsilon of the assignments (SwAV's)
TAU = 0.1


def prototype_contrast(u: Tensor, v: Tensor, classes: Tensor, tau: float = TAU) -> Tensor:
    """Cross-entropy between the balanced assignment of a row in one view and its softmax in the other, both ways.

    Args:
        u: embeddings of the rows in one view, (n, d).
        v: the same rows in the other view.
        classes: pseudo-class of every row.
        tau: temperature of the softmax over prototypes.

    Example:
        >>> import torch
        >>> u = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> float(prototype_contrast(u, u, torch.tensor([0, 1]))) < 1e-3
        True
    """
    a, b = functional.normalize(u), functional.normalize(v)
    with torch.no_grad():
        prototypes = _prototypes((a + b) / 2, classes)
        targets = [sinkhorn(rows @ prototypes.T / SHARPNESS) for rows in (a, b)]
    return (_cross_entropy(targets[1], a @ prototypes.T / tau) + _cross_entropy(targets[0], b @ prototypes.T / tau)) / 2


def sinkhorn(scores: Tensor, rounds: int = ROUNDS) -> Tensor:
    """Assignments of rows to columns: every row sums to one, every column to about the same.

    Args:
        scores: (n, K).
        rounds: alternations between columns and rows.

    Example:
        >>> import torch
        >>> sinkhorn(torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])).sum(dim=0).tolist()
        [1.5, 1.5]
    """
    log = scores
    for _ in range(rounds):
        log = log - torch.logsumexp(log, dim=0)
        log = log - torch.logsumexp(log, dim=1, keepdim=True)
    return log.exp()


def _prototypes(rows: Tensor, classes: Tensor) -> Tensor:
    """The directions of the classes that have rows."""
    present, place = torch.unique(classes, return_inverse=True)
    return functional.normalize(rows.new_zeros(len(present), rows.shape[1]).index_add(0, place, rows))


def _cross_entropy(targets: Tensor, logits: Tensor) -> Tensor:
    return -(targets * torch.log_softmax(logits, dim=1)).sum(dim=1).mean()
