"""The Barlow Twins loss."""

from __future__ import annotations

import torch
from torch import Tensor

from imgcl._core.devices import has_kernels
from imgcl._core.fused import norm_activation


def barlow_twins(u: Tensor, v: Tensor, off_diagonal: float | None = None, eps: float = 1e-15) -> Tensor:
    """Make the cross-correlation of two views the identity.

    ``sum_i (1 - C_ii)^2 + lambda * sum_{i != j} C_ij^2`` with C the correlation of the columns over the given rows.

    Args:
        u: embeddings of the rows in one view, (n, d).
        v: the same rows in the other view.
        off_diagonal: lambda; by default 1 / d.
        eps: added to the variances.

    Example:
        >>> import torch
        >>> u = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
        >>> float(barlow_twins(u, u))
        0.0
    """
    width = u.shape[1]
    weight = 1 / width if off_diagonal is None else off_diagonal
    correlation = standardise(u, eps).T @ standardise(v, eps) / len(u)
    diagonal = correlation.diagonal()
    on = (1 - diagonal).square().sum()
    return on + weight * (correlation.square().sum() - diagonal.square().sum())


def standardise(z: Tensor, eps: float = 1e-15) -> Tensor:
    """Columns with mean 0 and (biased) standard deviation 1 over the rows; a constant column stays 0."""
    if has_kernels(z.device):
        return norm_activation(z, z.new_ones(z.shape[1]), z.new_zeros(z.shape[1]), z.new_ones(1), eps)[0]
    return torch.batch_norm(z, None, None, None, None, True, 0.0, eps, False)
