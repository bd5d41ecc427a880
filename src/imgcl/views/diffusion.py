"""Graph diffusion: personalised PageRank and the heat kernel as sparse weighted adjacencies.

Both are ``sum_k c_k T^k`` with ``T = D^-1/2 (A + I) D^-1/2``, D the (weighted) degrees of A + I, as MVGRL and GDC
define them. Row by row, mass is pushed along the edges only where enough of it lies. What is left behind makes an entry
too small by at most ``epsilon * sqrt(d_i d_j)``; as every entry is a lower bound, the larger one of (i, j) and (j, i)
is taken, which makes the matrix symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.views import push

RowParts = tuple[np.ndarray, np.ndarray, np.ndarray]
CHUNK = 512  # rows per task: enough tasks to share out evenly, few enough to make their workspace cheap

# How the heat kernel spends epsilon: terms of the series left out, mass not passed on, entries too small to keep.
LEFT_OUT, PRUNED, TOO_SMALL = 0.1, 0.6, 0.3


class Edges(NamedTuple):
    """Neighbour lists as the kernels read them; without weights the last two are empty.

    Attributes:
        indptr: row pointers.
        indices: neighbours.
        weights: of every entry.
        totals: degree of every node in A + I.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    totals: np.ndarray

    @classmethod
    def of(cls, indptr: Any, indices: Any, weights: Any = None, degree: Any = None) -> Edges:
        """Of arrays of a graph, ``degree`` its weighted degrees."""
        if weights is None:
            return cls(indptr, indices, np.empty(0, np.float32), np.empty(0))
        return cls(indptr, indices, weights, np.asarray(degree, dtype=np.float64) + 1)

    @classmethod
    def of_graph(cls, graph: Graph) -> Edges:
        """Of a whole graph."""
        degree = None if graph.edge_weight is None else graph.weighted_degree
        return cls.of(graph.indptr, graph.indices, graph.edge_weight, degree)


Rows = Callable[[Edges, np.ndarray], RowParts]


class Diffusion:
    """What both diffusions share: settings, the cache, the result.

    Args:
        epsilon: the threshold of the push.
        top_k: largest entries kept in a row before symmetrising; ``None``: all that reach the threshold.
    """

    def __init__(self, epsilon: float, top_k: int | None) -> None:
        if not 0 < epsilon < 1:
            raise InputError(f"epsilon = {epsilon}: the threshold lies between 0 and 1")
        if top_k is not None and top_k < 1:
            raise InputError(f"top_k = {top_k}: keep at least one entry in a row, or None for all")
        self.epsilon, self.top_k = epsilon, top_k

    def _key(self) -> Hashable:
        raise NotImplementedError

    def rows(self) -> Rows:
        """The kernel that computes rows: lengths, columns and values from (edges, nodes)."""
        raise NotImplementedError

    def matrix(self, adjacency: CSR) -> CSR:
        """The diffusion matrix of an adjacency, computed once for it."""
        return adjacency.derive((self._key(), self.epsilon, self.top_k), lambda a: _diffuse(a, self.rows()))

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        return block.diffused_by(self.matrix)


class PPRDiffusion(Diffusion):
    """``alpha (I - (1 - alpha) T)^-1``, by approximate push (Andersen, Chung and Lang, 2006).

    Args:
        alpha: restart probability; MVGRL's is 0.2.
        epsilon: threshold; no entry is off by more than ``epsilon * sqrt(d_i d_j)`` (without ``top_k``).
        top_k: largest entries kept in a row before symmetrising, which bounds the result to 2 N top_k entries.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0], [1]], x=np.eye(2)))
        >>> view = PPRDiffusion(alpha=0.2, epsilon=1e-6)(block, torch.Generator())
        >>> view.adjacency.to_scipy().toarray().astype(float).round(3).tolist()
        [[0.6, 0.4], [0.4, 0.6]]
    """

    def __init__(self, alpha: float = 0.2, epsilon: float = 1e-4, top_k: int | None = 64) -> None:
        super().__init__(epsilon, top_k)
        if not 0 < alpha < 1:
            raise InputError(f"alpha = {alpha}: the restart probability lies between 0 and 1")
        self.alpha = alpha

    def _key(self) -> Hashable:
        return "ppr", self.alpha

    def rows(self) -> Rows:
        return partial(_ppr_rows, self.alpha, self.epsilon, self.top_k or 0)


class HeatDiffusion(Diffusion):
    """``exp(-t (I - T))``, by a truncated and pruned power series.

    Args:
        t: diffusion time; MVGRL's is 5.
        epsilon: threshold; no entry is off by more than ``epsilon * sqrt(d_i d_j)`` (without ``top_k``).
        top_k: largest entries kept in a row before symmetrising, which bounds the result to 2 N top_k entries.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0], [1]], x=np.eye(2)))
        >>> view = HeatDiffusion(t=5.0, epsilon=1e-6)(block, torch.Generator())
        >>> view.adjacency.to_scipy().toarray().astype(float).round(3).tolist()
        [[0.503, 0.497], [0.497, 0.503]]
    """

    def __init__(self, t: float = 5.0, epsilon: float = 1e-4, top_k: int | None = 64) -> None:
        super().__init__(epsilon, top_k)
        if not t > 0:
            raise InputError(f"t = {t}: the diffusion time is positive")
        self.t = t

    def _key(self) -> Hashable:
        return "heat", self.t

    def rows(self) -> Rows:
        coefficients, thresholds = heat_series(self.t, self.epsilon)
        return partial(_heat_rows, coefficients, thresholds, TOO_SMALL * self.epsilon, self.top_k or 0)


def heat_series(t: float, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients ``e^-t t^k / k!`` and the pruning threshold of every term.

    Mass below ``threshold_k * d`` that is not passed on from term k costs at most ``threshold_k`` times the sum of the
    later coefficients; for a given total the work is smallest with thresholds inverse to the square root of that sum.
    """
    terms, tail = [math.exp(-t)], 1 - math.exp(-t)
    while tail > LEFT_OUT * epsilon:
        terms.append(terms[-1] * t / len(terms))
        tail -= terms[-1]
    coefficients = np.array(terms)
    later = np.cumsum(coefficients[::-1])[::-1][1:]
    return coefficients, PRUNED * epsilon / (np.sqrt(later) * np.sqrt(later).sum())


def _ppr_rows(alpha: float, epsilon: float, top_k: int, edges: Edges, nodes: Any) -> Any:
    return push.ppr_rows(*edges, nodes, alpha, epsilon, top_k)


def _heat_rows(terms: Any, thresholds: Any, smallest: float, top_k: int, edges: Edges, nodes: Any) -> Any:
    return push.heat_rows(*edges, nodes, terms, thresholds, smallest, top_k)


def _diffuse(adjacency: CSR, rows: Rows) -> CSR:
    n = adjacency.n_rows
    weights = None if adjacency.weights is None else adjacency.weights.cpu().numpy()
    arrays = (adjacency.indptr.cpu().numpy(), adjacency.indices.cpu().numpy(), weights)
    edges = Edges.of(*arrays, adjacency.row_sums.cpu().numpy())
    starts = range(0, n, CHUNK)
    # The kernels release the interpreter lock, so plain threads are enough; the order of tasks decides nothing.
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        parts = list(pool.map(lambda start: rows(edges, np.arange(start, min(n, start + CHUNK))), starts))
    lengths, columns, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    pointer = np.concatenate([[0], np.cumsum(lengths)])
    lower = sp.csr_array((values, columns, pointer), shape=(n, n))
    symmetric = lower.maximum(lower.T.tocsr()).tocsr()
    symmetric.sort_indices()
    return CSR.from_numpy(symmetric.indptr, symmetric.indices, symmetric.data, n, adjacency.device)
