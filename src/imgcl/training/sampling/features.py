"""Features of chosen nodes, read row by row from an array that may be memory-mapped."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.sparse import ColumnStatistics, Features, features_of
from imgcl.graph import Graph
from imgcl.graph.checks import Features as GraphFeatures
from imgcl.graph.rows import column_moments, with_columns
from imgcl.training.sampling.permutation import permuted


class FeatureSource:
    """Gives the features of any nodes as an operand; the matrix itself is never loaded whole.

    Args:
        graph: whose features to read.
        normalise: as of :func:`imgcl._core.sparse.features_of`.
        device: where to put what is read.
        statistics: what columns are standardised by; by default those of all nodes.
        columns: which columns to read, in this order; by default all.

    Example:
        >>> graph = Graph.from_edges([[0], [1]], x=np.array([[1.0, 3.0], [5.0, 5.0]]))
        >>> FeatureSource(graph, normalise="row").take(np.array([1, 0])).to_dense().tolist()
        [[0.5, 0.5], [0.25, 0.75]]
    """

    def __init__(
        self,
        graph: Graph,
        normalise: str = "none",
        device: Any = "cpu",
        *,
        statistics: ColumnStatistics | None = None,
        columns: NDArray[np.int64] | None = None,
    ) -> None:
        self._x, self._normalise, self._device, self._columns = graph.x, normalise, device, columns
        self.statistics = statistics
        if normalise == "column" and statistics is None:
            self.statistics = _statistics(graph.x)

    @property
    def plain(self) -> NDArray[np.float32] | None:
        """The matrix itself, perhaps memory-mapped, when its rows are read as they are: dense and not normalised."""
        if not isinstance(self._x, np.ndarray) or self._x.dtype != np.float32:
            return None
        return self._x if self._normalise == "none" and self._columns is None else None

    def take(self, nodes: NDArray[np.int64]) -> Features:
        """The features of these nodes, in this order."""
        return self._operand(_gather(self._x, nodes))

    def rows(self, begin: int, end: int) -> Features:
        """The features of the nodes begin .. end - 1."""
        return self._operand(self._x[begin:end])

    def shuffled(self, nodes: NDArray[np.int64], seed: int) -> Features:
        """The features these nodes get when the features of the whole graph are shuffled over its nodes."""
        return self.take(permuted(nodes, self._x.shape[0], seed))

    def _operand(self, x: Any) -> Features:
        chosen = x if self._columns is None else with_columns(x, self._columns)
        return features_of(chosen, self._normalise, self._device, self.statistics)


def _statistics(x: GraphFeatures) -> ColumnStatistics:
    """Mean and standard deviation of every column; 1 for one that does not vary."""
    mean, deviation = column_moments(x)
    deviation[deviation == 0] = 1
    return ColumnStatistics(*(torch.from_numpy(value.astype(np.float32)) for value in (mean, deviation)))


def _gather(x: Any, nodes: NDArray[np.int64]) -> Any:
    if not isinstance(x, np.ndarray):
        return x[nodes]
    bits = np.dtype(f"u{x.dtype.itemsize}")  # moved as bits: numba does not know float16
    out = np.empty((len(nodes), x.shape[1]), dtype=bits)
    _gather_rows(x.view(bits), nodes, out)
    return out.view(x.dtype)


@njit(cache=True, nogil=True)
def _gather_rows(x: NDArray[Any], nodes: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Numpy's own gather would hold the interpreter lock while memory, or the disk, is waited for.

    Four rows at a time: the rows lie far apart, and the wait for one hides that for the others (a fifth of the time).
    """
    whole = len(nodes) - len(nodes) % 4
    for i in range(0, whole, 4):
        a, b, c, d = x[nodes[i]], x[nodes[i + 1]], x[nodes[i + 2]], x[nodes[i + 3]]
        to_a, to_b, to_c, to_d = out[i], out[i + 1], out[i + 2], out[i + 3]
        for k in range(x.shape[1]):
            to_a[k], to_b[k], to_c[k], to_d[k] = a[k], b[k], c[k], d[k]
    for i in range(whole, len(nodes)):
        out[i] = x[nodes[i]]
