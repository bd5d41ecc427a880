"""The VICReg loss: invariance, variance, covariance."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def vicreg(
    u: Tensor,
    v: Tensor,
    invariance: float = 25.0,
    variance: float = 25.0,
    covariance: float = 1.0,
    eps: float = 1e-4,
) -> Tensor:
    """Views agree, every column varies, columns are uncorrelated.

    ``invariance * mean (u - v)^2 + variance * (s(u) + s(v)) / 2 + covariance * (c(u) + c(v))`` with s the mean over
    columns of ``max(0, 1 - sqrt(var + eps))`` and c the squared off-diagonal covariances summed and divided by d.

    Args:
        u: embeddings of the rows in one view, (n, d).
        v: the same rows in the other view.
        invariance: weight of the distance between the views.
        variance: weight of the hinge on the standard deviations.
        covariance: weight of the covariances.
        eps: added to the variances.

    Example:
        >>> import torch
        >>> u = torch.tensor([[2.0, 2.0], [-2.0, 2.0], [2.0, -2.0], [-2.0, -2.0]])
        >>> float(vicreg(u, u)), float(vicreg(u, u + 1))
        (0.0, 25.0)
    """
    spread = _hinge(u, eps) + _hinge(v, eps)
    return (
        invariance * functional.mse_loss(u, v)
        + variance * spread / 2
        + covariance * (_off_diagonal(u) + _off_diagonal(v))
    )


def _hinge(z: Tensor, eps: float) -> Tensor:
    return functional.relu(1 - (z.var(dim=0) + eps).sqrt()).mean()


def _off_diagonal(z: Tensor) -> Tensor:
    centred = z - z.mean(dim=0)
    matrix = centred.T @ centred / (len(z) - 1)
    return (matrix.square().sum() - matrix.diagonal().square().sum()) / z.shape[1]
