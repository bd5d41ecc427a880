"""InfoNCE with intra- and inter-view negatives (GRACE), in blocks with a recomputing backward.

Both views stacked as C, one unit vector per row, make both directions and both kinds of negatives one symmetric
matrix E = exp(C C^T / tau): the denominator of a row is its sum without the diagonal. Only the blocks on and above
the diagonal are computed, each one serves its rows and its columns, and the backward computes them again instead of
keeping them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from imgcl._core.errors import InputError
from imgcl.losses.exponential import exp_sums, exp_weighted

BLOCK = (
    1024  # rows and columns of E held at once: large enough for full matrix-product speed, small enough for the cache
)
SMALLEST_TAU = 1 / 64  # exp(1 / tau) and its sums stay inside float32


def info_nce(u: Tensor, v: Tensor, tau: float = 0.5) -> Tensor:
    """Tell a row's other view from all other rows of both views.

    With s the cosine, the term of row i in one direction is
    ``-log( exp(s(u_i, v_i)/tau) / (sum_j exp(s(u_i, v_j)/tau) + sum_{j != i} exp(s(u_i, u_j)/tau)) )``;
    the loss is the mean over rows and both directions. Memory is O(n), time O(n^2 d).

    Args:
        u: projected embeddings of the rows in one view, (n, d).
        v: the same rows in the other view.
        tau: temperature.

    Example:
        >>> import torch
        >>> u = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
        >>> round(float(info_nce(u, u, tau=1.0)), 4)  # log(e + 1 + 1) - 1
        0.5514
    """
    if tau < SMALLEST_TAU:
        raise InputError(f"tau is {tau}: InfoNCE needs a temperature of at least {SMALLEST_TAU}")
    scaled = functional.normalize(torch.cat([u, v])) * tau**-0.5
    positives = (scaled[: len(u)] * scaled[len(u) :]).sum() / len(u)
    return _LogDenominators.apply(scaled).mean() - positives  # type: ignore[no-any-return]


class _LogDenominators(torch.autograd.Function):
    """``log sum_{j != i} exp(c_i . c_j)`` for every row i."""

    @staticmethod
    def forward(ctx: Any, c: Tensor) -> Tensor:
        sums = torch.zeros(len(c), dtype=torch.float64, device=c.device)
        for left, right, block in blocks(c):
            of_rows, of_columns = exp_sums(block, without_diagonal=left == right)
            sums[left] += of_rows
            if left != right:
                sums[right] += of_columns
        sums = sums.to(c.dtype)
        ctx.save_for_backward(c, sums)
        return sums.log()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        c, sums = ctx.saved_tensors
        # d/dc_i is sum_j e_ij (r_i + r_j) c_j with r = gradient / sum, for e_ij stands in the sums of rows i and j.
        r = gradient / sums
        out = torch.zeros_like(c)
        for left, right, block in blocks(c):
            exp_weighted(block, r[left], r[right], without_diagonal=left == right)
            out[left].addmm_(block, c[right])
            if left != right:
                out[right].addmm_(block.T, c[left])
        return out


def blocks(c: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    """``C C^T`` block by block, on and above the diagonal; a block lives until the next one."""
    buffer = c.new_empty(BLOCK * BLOCK)
    parts = [slice(start, min(start + BLOCK, len(c))) for start in range(0, len(c), BLOCK)]
    for first, left in enumerate(parts):
        rows = c[left]
        for right in parts[first:]:
            columns = c[right]
            block = buffer[: len(rows) * len(columns)].view(len(rows), len(columns))
            torch.mm(rows, columns.T, out=block)
            yield left, right, block
