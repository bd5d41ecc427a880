"""The exponential of a matrix block together with what follows it, in one pass.

torch's ``exp`` costs a third of the matrix product before it, and every further operation reads the block again.
On the CPU in single precision the kernels here do all of it at once, correct to the last bit or so for entries
between -80 and 80; elsewhere torch does the same step by step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.compiled import njit
from imgcl._core.devices import has_kernels
from imgcl._core.sparse.threads import threaded, threads_for

FAST = {"contract", "nsz", "nnan", "ninf", "arcp", "reassoc"}

# exp(x) = 2^m exp(r) with m = round(x / log 2); log 2 in two parts so that r keeps its last bits.
_LOG2_E = np.float32(1.4426950408889634)
_LOG_2_HIGH, _LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
# Minimax polynomial of exp on [-log(2)/2, log(2)/2] (Cephes).
_P0, _P1, _P2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
_P3, _P4, _P5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
_HALF, _ONE = np.float32(0.5), np.float32(1.0)


def exp_sums(block: Tensor, without_diagonal: bool) -> tuple[Tensor, Tensor]:
    """Replace a block by its exponential; return the sums of its rows and of its columns.

    Args:
        block: contiguous matrix, changed in place.
        without_diagonal: the diagonal becomes 0.

    Example:
        >>> rows, columns = exp_sums(torch.zeros(2, 3), without_diagonal=True)
        >>> rows.tolist(), columns.tolist()
        ([2.0, 2.0], [1.0, 1.0, 2.0])
    """
    if not _fast(block):
        _exp(block, without_diagonal)
        return block.sum(dim=1), block.sum(dim=0)
    parts = threads_for(block.numel())
    rows, columns = np.empty(len(block), np.float32), np.zeros((parts, block.shape[1]), np.float32)
    _exp_sums(block.numpy(), without_diagonal, rows, columns, parts)
    return torch.from_numpy(rows), torch.from_numpy(columns.sum(axis=0))


def exp_weighted(block: Tensor, left: Tensor, right: Tensor, without_diagonal: bool) -> None:
    """Replace ``x_ij`` by ``exp(x_ij) (left_i + right_j)``.

    Args:
        block: contiguous matrix, changed in place.
        left: one number per row.
        right: one number per column.
        without_diagonal: the diagonal becomes 0.

    Example:
        >>> block = torch.zeros(2, 2)
        >>> exp_weighted(block, torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), without_diagonal=False)
        >>> block.tolist()
        [[11.0, 21.0], [12.0, 22.0]]
    """
    if not _fast(block):
        _exp(block, without_diagonal)
        block *= left.unsqueeze(1) + right
    else:
        _exp_weighted(block.numpy(), without_diagonal, left.numpy(), right.numpy(), threads_for(block.numel()))


def _fast(block: Tensor) -> bool:
    return has_kernels(block.device) and block.dtype == torch.float32


def _exp(block: Tensor, without_diagonal: bool) -> None:
    block.exp_()
    if without_diagonal:
        block.fill_diagonal_(0)


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def _split_exp(row: NDArray[Any], bits: NDArray[Any]) -> None:
    """Put exp(r) into the row and the bits of 2^m beside it; the product of both is the exponential."""
    for k in range(len(row)):
        x = row[k]
        m = np.floor(x * _LOG2_E + _HALF)
        r = x - m * _LOG_2_HIGH - m * _LOG_2_LOW
        p = ((((_P0 * r + _P1) * r + _P2) * r + _P3) * r + _P4) * r + _P5
        row[k] = p * (r * r) + r + _ONE
        bits[k] = (np.int32(m) + np.int32(127)) << np.int32(23)


@threaded(fastmath=FAST)
def _exp_sums(
    block: NDArray[Any], without_diagonal: bool, row_sums: NDArray[Any], column_sums: NDArray[Any], parts: int
) -> None:
    n, width = block.shape
    for part in prange(parts):
        scale = np.empty(width, dtype=np.float32)
        bits, sums = scale.view(np.int32), column_sums[part]
        for i in range(n * part // parts, n * (part + 1) // parts):
            row = block[i]
            _split_exp(row, bits)
            if without_diagonal:
                scale[i] = 0
            total = np.float32(0)
            for k in range(width):
                value = row[k] * scale[k]
                row[k] = value
                sums[k] += value
                total += value
            row_sums[i] = total


@threaded(fastmath=FAST)
def _exp_weighted(
    block: NDArray[Any], without_diagonal: bool, left: NDArray[Any], right: NDArray[Any], parts: int
) -> None:
    n, width = block.shape
    for part in prange(parts):
        scale = np.empty(width, dtype=np.float32)
        bits = scale.view(np.int32)
        for i in range(n * part // parts, n * (part + 1) // parts):
            row = block[i]
            _split_exp(row, bits)
            if without_diagonal:
                scale[i] = 0
            own = left[i]
            for k in range(width):
                row[k] = row[k] * scale[k] * (own + right[k])
