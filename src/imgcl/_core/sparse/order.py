"""Rows in another order: one in which neighbours stand near each other, and a permutation with a cheap backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

WORTHWHILE = 4096  # nodes; the hidden rows of a smaller graph fit into the cache in any order


def locality_order(adjacency: sp.csr_array) -> NDArray[np.int64] | None:
    """Reverse Cuthill-McKee order of a symmetric adjacency; ``None`` when the graph is too small to gain from it.

    Args:
        adjacency: symmetric.

    Example:
        >>> locality_order(sp.csr_array((3, 3))) is None
        True
    """
    if adjacency.shape[0] < WORTHWHILE:
        return None
    return reverse_cuthill_mckee(sp.csr_matrix(adjacency), symmetric_mode=True).astype(np.int64)


def permute_rows(rows: Tensor, order: Tensor) -> Tensor:
    """``rows[order]`` for a permutation: its backward reads in the inverse order instead of scattering.

    Example:
        >>> permute_rows(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([2, 0, 1])).flatten().tolist()
        [3.0, 1.0, 2.0]
    """
    return _Permute.apply(rows, order)  # type: ignore[no-any-return]


class _Permute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return rows.index_select(0, order)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (order,) = ctx.saved_tensors
        inverse = torch.empty_like(order)
        inverse[order] = torch.arange(len(order), device=order.device)
        return gradient.index_select(0, inverse), None
