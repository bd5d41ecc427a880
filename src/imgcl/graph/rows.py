"""Reading a graph that may be larger than memory: ranges of rows, and arrays that lie on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from imgcl._core.files import reserve
from imgcl.graph.checks import Features
from imgcl.graph.graph import Graph

ENTRIES_AT_ONCE = 1 << 20  # neighbours of one range of rows
ROWS_AT_ONCE = 1 << 15


def row_ranges(graph: Graph) -> Iterator[slice]:
    """Ranges of rows with about the same number of neighbours."""
    n, begin = graph.n_nodes, 0
    while begin < n:
        goal = graph.indptr[begin] + ENTRIES_AT_ONCE
        end = int(np.searchsorted(graph.indptr, goal, side="right")) - 1
        end = min(n, begin + ROWS_AT_ONCE, max(end, begin + 1))
        yield slice(begin, end)
        begin = end


def with_columns(x: Features, columns: NDArray[np.int64]) -> Features:
    """These columns of a matrix, in this order."""
    chosen = x[:, columns]
    if not isinstance(chosen, np.ndarray):
        chosen.sort_indices()
    return chosen


def column_moments(x: Features) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of every column, in one pass over blocks of rows; 0 for a constant column.

    Example:
        >>> column_moments(np.array([[1.0, 7.0], [3.0, 7.0]]))
        (array([2., 7.]), array([1.41421356, 0.        ]))
    """
    n, width = x.shape
    count, mean, squares = 0, np.zeros(width), np.zeros(width)
    for begin in range(0, n, ROWS_AT_ONCE):
        part = x[begin : begin + ROWS_AT_ONCE]
        block = (part if isinstance(part, np.ndarray) else part.toarray()).astype(np.float64)
        # Moments of two parts joined (Chan, Golub and LeVeque): sums of squares alone would lose all digits.
        difference, total = block.mean(axis=0) - mean, count + len(block)
        squares += block.var(axis=0) * len(block) + difference**2 * count * len(block) / total
        mean += difference * len(block) / total
        count = total
    return mean, np.sqrt(squares / max(1, n - 1))


def scratch_array(shape: tuple[int, int], folder: str | Path | None = None) -> NDArray[np.float32]:
    """A float32 array on disk; its file vanishes with the array."""
    with tempfile.TemporaryFile(dir=folder, prefix="imgcl-") as file:
        reserve(file.fileno(), 4 * shape[0] * shape[1])
        return np.memmap(file, dtype=np.float32, mode="w+", shape=shape)
