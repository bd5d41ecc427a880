"""The scaled cosine error of GraphMAE: how far reconstructed features point away from the features."""

from __future__ import annotations

import torch
from torch import Tensor

EPS = 1e-12  # of a product of two lengths; the cosine with a row of zeros is 0


def scaled_cosine(x_hat: Tensor, x: Tensor, gamma: float = 2.0) -> Tensor:
    """Mean of ``(1 - cos(x_i, x_hat_i))^gamma`` over the rows (Eq. 2 of GraphMAE): 0 where all directions agree.

    Args:
        x_hat: reconstructed features, (n, f).
        x: the features.
        gamma: 1 or more; a larger one gives rows that are reconstructed well already less weight.

    Example:
        >>> import torch
        >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
        >>> float(scaled_cosine(torch.tensor([[3.0, 0.0], [1.0, 0.0]]), x)), float(scaled_cosine(-x, x, gamma=3))
        (0.5, 8.0)
    """
    return _scaled((x_hat * x).sum(dim=1), _norms(x_hat) * _norms(x), gamma).mean()


def scaled_cosine_of_linear(codes: Tensor, weight: Tensor, products: Tensor, norms: Tensor, gamma: float) -> Tensor:
    """The error of every row with the reconstruction ``x_hat_i = weight codes_i``, which is never formed.

    ``x_i . x_hat_i = (x_i^T weight) . codes_i`` and ``|x_hat_i|^2 = codes_i^T (weight^T weight) codes_i``: of wide or
    sparse features only their product with the weight and their lengths are read.

    Args:
        codes: what is decoded, (n, d).
        weight: of the decoder, (f, d).
        products: the features times the weight, (n, d).
        norms: Euclidean length of every row of the features.
        gamma: see :func:`scaled_cosine`.

    Example:
        >>> import torch
        >>> x, weight = torch.eye(2), torch.tensor([[1.0], [0.0]])
        >>> scaled_cosine_of_linear(torch.ones(2, 1), weight, x @ weight, x.norm(dim=1), gamma=2.0)
        tensor([0., 1.])
    """
    return _scaled((products * codes).sum(dim=1), _lengths(codes, weight) * norms, gamma)


def _lengths(codes: Tensor, weight: Tensor) -> Tensor:
    """``|weight codes_i|``."""
    wide, narrow = weight.shape
    if wide <= narrow:
        return _norms(codes @ weight.T)
    squares = ((codes @ (weight.T @ weight)) * codes).sum(dim=1)
    return squares.clamp(min=EPS).sqrt()


def _norms(rows: Tensor) -> Tensor:
    return torch.linalg.vector_norm(rows, dim=1)  # type: ignore[no-any-return]


def _scaled(inner: Tensor, lengths: Tensor, gamma: float) -> Tensor:
    # Rounding may put a cosine above 1: no power of a negative number.
    return (1 - inner / lengths.clamp(min=EPS)).clamp(min=0) ** gamma
