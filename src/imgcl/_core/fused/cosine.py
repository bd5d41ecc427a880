"""The mean cosine of two sets of rows as one operation on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from imgcl._core.devices import has_kernels
from imgcl._core.sparse.threads import FAST, threaded, threads_for

SMALLEST = 1e-8  # a shorter row counts as this long, as in torch
LANES = 16  # sums that run side by side: the same additions for any number of threads


def mean_cosine(q: Tensor, z: Tensor) -> Tensor:
    """Mean of ``cos(q_i, z_i)`` over the rows; ``z`` receives no gradient.

    Args:
        q: rows, (n, d).
        z: rows to compare them with, (n, d).

    Example:
        >>> float(mean_cosine(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [3.0, 0.0]])))
        0.5
    """
    z = z.detach()
    if not has_kernels(q.device) or not len(q):
        return functional.cosine_similarity(q, z, dim=1).mean()
    return _MeanCosine.apply(q, z)  # type: ignore[no-any-return]


class _MeanCosine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, z: Tensor) -> Tensor:
        q, z = q.contiguous(), z.contiguous()
        found, lengths = torch.empty(len(q), dtype=q.dtype), torch.empty(len(q), 2, dtype=q.dtype)
        cosines(q.numpy(), z.numpy(), found.numpy(), lengths.numpy(), threads_for(q.numel()))
        ctx.save_for_backward(q, z, found, lengths)
        return found.mean()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        q, z, found, lengths = ctx.saved_tensors
        out = torch.empty_like(q)
        scale = gradient.item() / len(q)
        arrays = (each.numpy() for each in (q, z, found, lengths, out))
        cosine_gradients(*arrays, scale, threads_for(q.numel()))
        return out, None


@threaded(fastmath=FAST, error_model="numpy")
def cosines(q: NDArray[Any], z: NDArray[Any], found: NDArray[Any], lengths: NDArray[Any], parts: int) -> None:
    """Cosine of every pair of rows into ``found``, and the rows' lengths."""
    n, width = q.shape
    whole = width - width % LANES
    for part in prange(parts):
        qq, zz = np.empty(LANES, dtype=q.dtype), np.empty(LANES, dtype=q.dtype)
        qz = np.empty(LANES, dtype=q.dtype)
        for row in range(n * part // parts, n * (part + 1) // parts):
            qq[:] = 0
            zz[:] = 0
            qz[:] = 0
            for start in range(0, whole, LANES):
                for lane in range(LANES):
                    a, b = q[row, start + lane], z[row, start + lane]
                    qq[lane] += a * a
                    zz[lane] += b * b
                    qz[lane] += a * b
            for k in range(whole, width):
                a, b = q[row, k], z[row, k]
                qq[k - whole] += a * a
                zz[k - whole] += b * b
                qz[k - whole] += a * b
            length, other, product = q.dtype.type(0), q.dtype.type(0), q.dtype.type(0)
            for lane in range(LANES):
                length += qq[lane]
                other += zz[lane]
                product += qz[lane]
            lengths[row, 0] = max(np.sqrt(length), q.dtype.type(SMALLEST))
            lengths[row, 1] = max(np.sqrt(other), q.dtype.type(SMALLEST))
            found[row] = product / (lengths[row, 0] * lengths[row, 1])


@threaded(fastmath=FAST, error_model="numpy")
def cosine_gradients(
    q: NDArray[Any],
    z: NDArray[Any],
    found: NDArray[Any],
    lengths: NDArray[Any],
    out: NDArray[Any],
    scale: float,
    parts: int,
) -> None:
    """Gradient of ``scale`` times the sum of the cosines by ``q``, into ``out``."""
    n, width = q.shape
    for part in prange(parts):
        for row in range(n * part // parts, n * (part + 1) // parts):
            length = lengths[row, 0]
            towards = q.dtype.type(scale / (length * lengths[row, 1]))
            # The length of a row that is shorter than the smallest counts as a constant.
            own = q.dtype.type(scale * found[row] / (length * length)) if length > SMALLEST else q.dtype.type(0)
            for k in range(width):
                out[row, k] = towards * z[row, k] - own * q[row, k]
