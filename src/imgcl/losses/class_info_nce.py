"""InfoNCE whose negatives know the pseudo-classes (ours), in blocks with a recomputing backward.

Rows of one's own class are likely false negatives, and a large class fills every denominator. ``other`` leaves the
own class out; ``normalised`` lets every class count alike, whatever the number of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from imgcl._core.errors import InputError
from imgcl.losses.info_nce import SMALLEST_TAU, blocks


def class_info_nce(
    u: Tensor, v: Tensor, classes: Tensor, negatives: Literal["other", "normalised"], tau: float = 0.5
) -> Tensor:
    """Tell a row's other view from its negatives, rows of both views.

    The term of a row is ``-log( e_+ / (e_+ + sum_j w_j e_j) )`` with e the exponential of the cosine over tau, j over
    the other rows in both views. ``other``: w is 1 for rows of other classes and 0 for those of the own class.
    ``normalised``: w is ``n / (K n_k)`` for a row of class k with n_k of the n rows, K classes having rows.

    Args:
        u: projected embeddings of the rows in one view, (n, d).
        v: the same rows in the other view.
        classes: pseudo-class of every row.
        negatives: ``other`` or ``normalised``.
        tau: temperature.

    Example:
        >>> import torch
        >>> u = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
        >>> float(class_info_nce(u, u, torch.tensor([0, 0]), "other"))  # no negatives are left
        0.0
    """
    if tau < SMALLEST_TAU:
        raise InputError(f"tau is {tau}: InfoNCE needs a temperature of at least {SMALLEST_TAU}")
    scaled = functional.normalize(torch.cat([u, v])) * tau**-0.5
    positives = (scaled[: len(u)] * scaled[len(u) :]).sum(dim=1).repeat(2)
    counts = torch.bincount(classes)
    column = torch.ones(len(classes), dtype=u.dtype, device=u.device)
    if negatives == "normalised":
        column = (len(classes) / (int((counts > 0).sum()) * counts[classes])).to(u.dtype)
    # A row and its other view are the same node; what is left out altogether has the same number.
    left_out = classes if negatives == "other" else torch.arange(len(classes), device=u.device)
    sums = _WeightedSums.apply(scaled, left_out.repeat(2), column.repeat(2))
    terms: Tensor = torch.log(positives.exp() + sums) - positives
    return terms.mean()


class _WeightedSums(torch.autograd.Function):
    """``sum_j w_j exp(c_i . c_j)`` over the rows j with another number than row i."""

    @staticmethod
    def forward(ctx: Any, c: Tensor, number: Tensor, column: Tensor) -> Tensor:
        ctx.save_for_backward(c, number, column)
        sums = torch.zeros(len(c), dtype=torch.float64, device=c.device)
        for left, right, block in _exponentials(c, number):
            sums[left] += block @ column[right]
            if left != right:
                sums[right] += block.T @ column[left]
        return sums.to(c.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        c, number, column = ctx.saved_tensors
        out = torch.zeros_like(c)
        for left, right, block in _exponentials(c, number):
            # e_ij stands in the sum of row i with w_j and in that of row j with w_i.
            block *= torch.outer(gradient[left], column[right]) + torch.outer(column[left], gradient[right])
            out[left].addmm_(block, c[right])
            if left != right:
                out[right].addmm_(block.T, c[left])
        return out, None, None


def _exponentials(c: Tensor, number: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    for left, right, block in blocks(c):
        block.exp_().masked_fill_(number[left].unsqueeze(1) == number[right], 0.0)
        yield left, right, block
