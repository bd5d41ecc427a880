"""The loss of CCA-SSG: views agree, columns of each view are uncorrelated."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from imgcl.losses.barlow_twins import standardise


def cca_ssg(u: Tensor, v: Tensor, decorrelation: float = 1e-3, eps: float = 1e-15) -> Tensor:
    """``|U - V|^2 + lambda (|U^T U - I|^2 + |V^T V - I|^2)`` with columns of mean 0 and length 1 over the given rows.

    Args:
        u: embeddings of the rows in one view, (n, d).
        v: the same rows in the other view.
        decorrelation: lambda.
        eps: added to the variances.

    Example:
        >>> import torch
        >>> u = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
        >>> float(cca_ssg(u, u)), float(cca_ssg(u, u.flip(1)))
        (0.0, 4.0)
    """
    length = math.sqrt(len(u))
    a, b = standardise(u, eps) / length, standardise(v, eps) / length
    return (a - b).square().sum() + decorrelation * (_from_identity(a) + _from_identity(b))


def _from_identity(z: Tensor) -> Tensor:
    excess: Tensor = z.T @ z - torch.eye(z.shape[1], dtype=z.dtype, device=z.device)
    return excess.square().sum()
