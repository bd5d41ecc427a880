"""Rows to cluster, read block by block: dense or sparse, in memory or memory-mapped."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from imgcl._core.errors import InputError

Points = np.ndarray | sp.csr_array
BLOCK_VALUES = 1 << 20  # values of one dense block: 4 MB of float32


def as_points(rows: Any, what: str = "points") -> Points:
    """Rows given as a torch tensor (any device, with or without gradient), a numpy array or a scipy matrix.

    Example:
        >>> as_points(torch.ones(2, 3, requires_grad=True)).shape
        (2, 3)
    """
    if isinstance(rows, torch.Tensor):
        rows = rows.detach().to("cpu", torch.float32).numpy()
    sparse = sp.issparse(rows)
    points: Points = sp.csr_array(rows) if sparse else np.asarray(rows)
    if points.ndim != 2 or 0 in points.shape:
        raise InputError(f"{what} have shape {points.shape}: they must be (nodes, dimensions), at least one of each")
    if points.dtype.kind not in "fiub":
        raise InputError(f"{what} have dtype {points.dtype}: they must be numbers")
    return points


def each_block(points: Points, work: Callable[[slice, NDArray[np.float32]], None]) -> None:
    """Call ``work(rows, block)`` for all rows as dense float32 blocks, on as many threads as torch may use.

    A dense float32 array is not copied. Blocks must not write to the same place.
    """
    n, step = points.shape[0], max(1, BLOCK_VALUES // points.shape[1])
    slices = [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]
    threads = min(len(slices), torch.get_num_threads())
    if threads == 1:
        for rows in slices:
            work(rows, dense(points, rows))
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(lambda rows: work(rows, dense(points, rows)), rows) for rows in slices]:
            done.result()


def dense(points: Points, rows: Any) -> NDArray[np.float32]:
    """The rows ``rows`` (a slice or an index array) as a dense float32 array."""
    part = points[rows]
    return np.ascontiguousarray(part.toarray() if isinstance(part, sp.csr_array) else part, dtype=np.float32)


def centred(points: np.ndarray, offset: NDArray[np.float64]) -> NDArray[np.float32]:
    """The rows less ``offset``, in float32; the difference is taken in double precision, block by block.

    Example:
        >>> centred(np.array([[1e9], [1e9 + 1]]), np.array([1e9])).tolist()
        [[0.0], [1.0]]
    """
    out = np.empty(points.shape, dtype=np.float32)
    step = max(1, BLOCK_VALUES // points.shape[1])
    for begin in range(0, len(points), step):
        np.subtract(points[begin : begin + step], offset, out=out[begin : begin + step], casting="unsafe")
    return out
