"""Numba kernels of the diffusions: rows of a sparse matrix by pushing mass along edges.

Entry (i, j) of ``sum_k c_k T^k`` is ``sqrt(d_i / d_j)`` times what a random walk from i leaves at j, step k weighted by
c_k; a walk chooses among edges by their weights. Of edges without weights both ``weights`` and ``totals`` (the degrees
of A + I) are empty. Every call has its own workspace of a few arrays of length N, cleaned entry by entry, so a row
costs what it touches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit

RowParts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


@njit(cache=True, nogil=True)
def ppr_rows(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    totals: NDArray[np.float64],
    sources: NDArray[np.int64],
    alpha: float,
    epsilon: float,
    top_k: int,
) -> RowParts:
    """Lengths, columns and values of the rows ``sources`` of personalised PageRank."""
    n, weighted = len(indptr) - 1, len(weights) > 0
    mass, residual = np.zeros(n), np.zeros(n)
    queued = np.zeros(n, dtype=np.bool_)
    queue = np.empty(n, dtype=np.int32)  # a ring: a node is in it at most once
    reached, settled = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    lengths = np.zeros(len(sources), dtype=np.int64)
    columns, values, filled = np.empty(1024, np.int32), np.empty(1024, np.float32), 0
    for row, source in enumerate(sources):
        residual[source], reached[0], n_reached, n_settled = 1.0, source, 1, 0
        queue[0], head, waiting, queued[source] = source, 0, 1, True
        while waiting > 0:
            node = queue[head]
            head = head + 1 if head + 1 < n else 0
            waiting -= 1
            queued[node] = False
            degree = _total(indptr, totals, node)
            found = residual[node]
            if mass[node] == 0:
                settled[n_settled] = node
                n_settled += 1
            mass[node] += alpha * found
            share = (1 - alpha) * found / degree
            residual[node] = share  # what its self-loop returns
            for entry in range(indptr[node] - 1, indptr[node + 1]):
                other = indices[entry] if entry >= indptr[node] else node
                if other != node:
                    if residual[other] == 0:
                        reached[n_reached] = other
                        n_reached += 1
                    residual[other] += share * weights[entry] if weighted else share
                enough = epsilon * _total(indptr, totals, other)
                if residual[other] >= enough and not queued[other]:
                    tail = head + waiting
                    queue[tail if tail < n else tail - n] = other
                    waiting += 1
                    queued[other] = True
        columns, values = _room(columns, values, filled, n_settled)
        lengths[row] = _keep(indptr, totals, source, mass, settled[:n_settled], 0.0, top_k, columns, values, filled)
        filled += lengths[row]
        for k in range(n_settled):
            mass[settled[k]] = 0
        for k in range(n_reached):
            residual[reached[k]] = 0
    return lengths, columns[:filled].copy(), values[:filled].copy()


@njit(cache=True, nogil=True)
def heat_rows(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    totals: NDArray[np.float64],
    sources: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    smallest: float,
    top_k: int,
) -> RowParts:
    """The same for ``sum_k coefficients[k] T^k``; at term k mass below ``thresholds[k] * d`` is not passed on."""
    n, weighted = len(indptr) - 1, len(weights) > 0
    mass, now, then = np.zeros(n), np.zeros(n), np.zeros(n)
    active, following = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    settled = np.empty(n, dtype=np.int32)
    lengths = np.zeros(len(sources), dtype=np.int64)
    columns, values, filled = np.empty(1024, np.int32), np.empty(1024, np.float32), 0
    for row, source in enumerate(sources):
        now[source], active[0], n_active = 1.0, source, 1
        mass[source], settled[0], n_settled = coefficients[0], source, 1
        for k in range(len(thresholds)):
            n_following = 0
            for a in range(n_active):
                node = active[a]
                degree = _total(indptr, totals, node)
                found, now[node] = now[node], 0.0
                if found < thresholds[k] * degree:
                    continue
                share = found / degree
                for entry in range(indptr[node] - 1, indptr[node + 1]):
                    other = indices[entry] if entry >= indptr[node] else node
                    if then[other] == 0:
                        following[n_following] = other
                        n_following += 1
                    then[other] += share * weights[entry] if weighted and entry >= indptr[node] else share
            for a in range(n_following):
                node = following[a]
                if mass[node] == 0:
                    settled[n_settled] = node
                    n_settled += 1
                mass[node] += coefficients[k + 1] * then[node]
            active, following, n_active = following, active, n_following
            now, then = then, now
        for a in range(n_active):
            now[active[a]] = 0
        columns, values = _room(columns, values, filled, n_settled)
        lengths[row] = _keep(
            indptr, totals, source, mass, settled[:n_settled], smallest, top_k, columns, values, filled
        )
        filled += lengths[row]
        for k in range(n_settled):
            mass[settled[k]] = 0
    return lengths, columns[:filled].copy(), values[:filled].copy()


@njit(cache=True, nogil=True, inline="always")
def _total(indptr: NDArray[Any], totals: NDArray[np.float64], node: int) -> float:
    """The degree of a node in A + I."""
    return totals[node] if len(totals) > 0 else float(indptr[node + 1] - indptr[node] + 1)


@njit(cache=True, nogil=True)
def _room(
    columns: NDArray[np.int32], values: NDArray[np.float32], filled: int, more: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    if filled + more <= len(columns):
        return columns, values
    size = 2 * (filled + more)
    wider_columns, wider_values = np.empty(size, np.int32), np.empty(size, np.float32)
    wider_columns[:filled] = columns[:filled]
    wider_values[:filled] = values[:filled]
    return wider_columns, wider_values


@njit(cache=True, nogil=True)
def _keep(
    indptr: NDArray[Any],
    totals: NDArray[np.float64],
    source: int,
    mass: NDArray[np.float64],
    settled: NDArray[np.int32],
    smallest: float,
    top_k: int,
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    at: int,
) -> int:
    """Write the row's entries, the ``top_k`` largest (0: all) of at least ``smallest * d``; return how many."""
    own = np.sqrt(_total(indptr, totals, source))
    entries = np.empty(len(settled), dtype=np.float64)
    for k in range(len(settled)):
        degree = _total(indptr, totals, settled[k])
        entries[k] = own / np.sqrt(degree) * mass[settled[k]] if mass[settled[k]] >= smallest * degree else 0.0
    border, ties = 0.0, 0
    if 0 < top_k < len(entries):
        border = np.partition(entries, len(entries) - top_k)[len(entries) - top_k]
        ties = top_k - np.sum(entries > border)
    count = 0
    for k in range(len(settled)):
        tied = entries[k] == border
        if entries[k] > border or (tied and ties > 0 and border > 0):
            if tied:
                ties -= 1
            columns[at + count] = settled[k]
            values[at + count] = entries[k]
            count += 1
    return count
