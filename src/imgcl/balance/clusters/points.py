"""Rows to cluster, read block by block: dense or sparse, in memory or memory-mapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from imgcl.errors import InputError

Points = np.ndarray | sp.csr_array
BLOCK_VALUES = 1 << 21  # values of one dense block: 8 MB of float32


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


def blocks(points: Points) -> Iterator[tuple[slice, torch.Tensor]]:
    """The rows as dense float32 blocks; a dense float32 array is not copied."""
    step = max(1, BLOCK_VALUES // points.shape[1])
    for begin in range(0, points.shape[0], step):
        rows = slice(begin, min(begin + step, points.shape[0]))
        yield rows, dense(points, rows)


def dense(points: Points, rows: Any) -> torch.Tensor:
    """The rows ``rows`` (a slice or an index array) as a dense float32 tensor."""
    part = points[rows]
    if isinstance(part, sp.csr_array):
        part = part.toarray()
    # torch warns about read-only memory although nothing here writes, so such rows are copied
    return torch.from_numpy(np.require(part, dtype=np.float32, requirements=["C", "W"]))
