"""The assignment step of constrained k-means: cheapest labels with at least and at most so many rows per cluster.

It is a transportation problem with many rows and few clusters. Everybody starts in the nearest cluster, which is optimal
without bounds. Then one row after the other is brought to where one is missing, along the cheapest chain of moves
(row of cluster a to b, another row of b to c, ...). Such chains are shortest paths over the K clusters, and every
successive-shortest-path step keeps the assignment optimal for the sizes reached so far (Bradley, Bennett and Demiriz, 2000,
state the problem; Ahuja, Magnanti and Orlin, 1993, chapter 9, the method). Costs become integers first, so that rounding
never makes a path look shorter than it is and ties are ties.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numba import njit
from numpy.typing import NDArray

from imgcl.errors import InputError

RESOLUTION = 2**48  # integer cost of the largest cost; a path of thousands of moves still fits into 64 bits
FAR = np.iinfo(np.int64).max // 4


def assign(cost: NDArray[np.floating], min_size: int = 0, max_size: int | None = None) -> NDArray[np.int64]:
    """Labels of least total cost such that every cluster has ``min_size`` to ``max_size`` rows; exact.

    Args:
        cost: cost of each row in each cluster, (N, K), finite.
        min_size: least number of rows of a cluster.
        max_size: greatest number of rows of a cluster; ``None`` for no limit.

    Example:
        >>> cost = np.array([[0.0, 5.0], [0.0, 1.0], [0.0, 9.0]])
        >>> assign(cost).tolist(), assign(cost, min_size=1).tolist()
        ([0, 0, 0], [0, 1, 0])
    """
    n, k = cost.shape
    most = n if max_size is None else min(n, max_size)
    if min_size * k > n:
        raise InputError(f"{k} clusters of at least {min_size} rows need {min_size * k} rows, but there are {n}")
    if most * k < n:
        raise InputError(f"{k} clusters of at most {most} rows hold {most * k} rows, but there are {n}")
    labels = cost.argmin(axis=1)
    sizes = np.bincount(labels, minlength=k)
    if min_size > most:
        raise InputError(f"the minimum size {min_size} is above the maximum size {most}")
    if sizes.min() < min_size or sizes.max() > most:
        _repair(_whole_numbers(cost), labels, sizes, min_size, most)
    return labels


def _whole_numbers(cost: NDArray[np.floating]) -> NDArray[np.int64]:
    above = cost.astype(np.float64)
    above -= above.min(axis=1, keepdims=True)  # what a row costs anywhere decides nothing
    largest = above.max()
    if largest > 0:
        above *= RESOLUTION / largest
    return np.rint(above, out=above).astype(np.int64)


@njit(cache=True, nogil=True)
def _repair(
    cost: NDArray[np.int64], labels: NDArray[np.int64], sizes: NDArray[np.int64], min_size: int, max_size: int
) -> None:
    """Bring the sizes inside the bounds, one cheapest chain of moves at a time; changes ``labels`` in place."""
    n, k = cost.shape
    # `counted[c]` rows of cluster c are within bounds and counted at a common sink, node k of the path graph. What the
    # clusters have too many (surplus > 0) or too few (surplus < 0), and what the sink then has, must be moved.
    counted = np.minimum(np.maximum(sizes, min_size), max_size)
    surplus = np.append(sizes - counted, counted.sum() - n)
    units = surplus[surplus > 0].sum()
    heaps = [_leavers(cost, labels, c // k, c % k, units) for c in range(k * k)]
    cheapest = np.empty((k, k), dtype=np.int64)
    for c in range(k):
        _refresh(heaps, labels, cheapest, c)
    potential, distance = np.zeros(k + 1, np.int64), np.empty(k + 1, np.int64)
    before, done = np.empty(k + 1, np.int64), np.empty(k + 1, np.bool_)
    for _ in range(units):
        # Dijkstra with potentials from all nodes with a surplus to the first one with a deficit
        for v in range(k + 1):
            distance[v], before[v], done[v] = (0 if surplus[v] > 0 else FAR), -1, False
        while True:
            u = -1
            for v in range(k + 1):
                if not done[v] and (u < 0 or distance[v] < distance[u]):
                    u = v
            done[u] = True
            if surplus[u] < 0:
                break
            for v in range(k + 1):
                if done[v]:
                    continue
                if u == k:
                    length = 0 if counted[v] > min_size else FAR
                elif v == k:
                    length = 0 if counted[u] < max_size else FAR
                else:
                    length = cheapest[u, v]
                if length < FAR and distance[u] + length + potential[u] - potential[v] < distance[v]:
                    distance[v] = distance[u] + length + potential[u] - potential[v]
                    before[v] = u
        for v in range(k + 1):
            potential[v] += min(distance[v], distance[u])
        # move along the path, from its end to its beginning
        surplus[u] += 1
        end = u
        while before[u] >= 0:
            a, b = before[u], u
            if a == k:
                counted[b] -= 1
            elif b == k:
                counted[a] += 1
            else:
                row = heaps[a * k + b][0][1]
                labels[row] = b
                for other in range(k):
                    if other != b:
                        heappush(heaps[b * k + other], (cost[row, other] - cost[row, b], row))
            u = a
        surplus[u] -= 1
        u = end
        while u >= 0:
            if u < k:
                _refresh(heaps, labels, cheapest, u)
            u = before[u]


@njit(cache=True, nogil=True)
def _leavers(
    cost: NDArray[np.int64], labels: NDArray[np.int64], source: int, target: int, units: int
) -> list[tuple[int, int]]:
    """Heap of what it costs to move a row of ``source`` to ``target``, for the cheapest ``units + 1`` rows.

    A path passes a cluster at most once, so at most ``units`` rows ever leave it: dearer ones cannot be the cheapest.
    """
    rows = np.flatnonzero(labels == source)
    heap = [(np.int64(0), np.int64(0)) for _ in range(0)]
    if source != target:
        price = np.empty(len(rows), dtype=np.int64)
        for i, row in enumerate(rows):
            price[i] = cost[row, target] - cost[row, source]
        limit = np.partition(price, units)[units] if units < len(rows) else FAR
        for i, row in enumerate(rows):
            if price[i] <= limit:
                heap.append((price[i], row))
        heapify(heap)
    return heap


@njit(cache=True, nogil=True)
def _refresh(
    heaps: list[list[tuple[int, int]]], labels: NDArray[np.int64], cheapest: NDArray[np.int64], source: int
) -> None:
    """Drop rows that have left ``source`` from the top of its heaps and note what the next one costs."""
    k = len(cheapest)
    for target in range(k):
        heap = heaps[source * k + target]
        while len(heap) > 0 and labels[heap[0][1]] != source:
            heappop(heap)
        cheapest[source, target] = heap[0][0] if len(heap) > 0 else FAR
