"""The assignment step of constrained k-means: cheapest labels with at least and at most so many rows per cluster.

It is a transportation problem with many rows and few clusters. Everybody starts in the nearest cluster, which is the
optimum without bounds. Then one row after the other is brought to where one is missing, along the cheapest chain of
moves (a row of cluster a to b, another row of b to c, ...). Such chains are shortest paths over the K clusters, and
each of these steps keeps the assignment optimal for the sizes reached so far: the problem is that of Bradley, Bennett
and Demiriz (2000), the method "successive shortest paths" (Ahuja, Magnanti and Orlin, 1993, chapter 9). Prices of moves
are integers, so that rounding never makes a path look shorter than it is, and ties are ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.errors import InputError

Int = NDArray[np.int64]
RESOLUTION = 2**48  # integer cost of the largest cost; a path of thousands of moves still fits into 64 bits
FAR = np.iinfo(np.int64).max // 4
LOOK_AT = 256  # rows of a cluster from which the price of its cheapest moves is estimated


def assign(cost: NDArray[np.floating[Any]], min_size: int = 0, max_size: int | None = None) -> NDArray[np.int64]:
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
    if min_size > most:
        raise InputError(f"the minimum size {min_size} is above the maximum size {most}")
    if min_size * k > n:
        raise InputError(f"{k} clusters of at least {min_size} rows need {min_size * k} rows, but there are {n}")
    if most * k < n:
        raise InputError(f"{k} clusters of at most {most} rows hold {most * k} rows, but there are {n}")
    labels, sizes, largest = _nearest(cost)
    if sizes.min() < min_size or sizes.max() > most:
        _repair(cost, labels, sizes, min_size, most, RESOLUTION / largest if largest > 0 else 1.0)
    return np.asarray(labels)


@njit(cache=True, nogil=True)
def _nearest(cost: NDArray[Any]) -> tuple[Int, Int, float]:
    """Cheapest cluster of each row, cluster sizes, and the most that any row would pay elsewhere."""
    n, k = cost.shape
    labels, sizes = np.empty(n, np.int64), np.zeros(k, np.int64)
    largest = 0.0
    for row in range(n):
        best, worst = 0, 0
        for c in range(1, k):
            if cost[row, c] < cost[row, best]:
                best = c
            if cost[row, c] > cost[row, worst]:
                worst = c
        labels[row] = best
        sizes[best] += 1
        largest = max(largest, np.float64(cost[row, worst]) - np.float64(cost[row, best]))
    return labels, sizes, largest


@njit(cache=True, nogil=True)
def _repair(cost: NDArray[Any], labels: Int, sizes: Int, min_size: int, max_size: int, scale: float) -> None:
    """Bring the sizes inside the bounds, one cheapest chain of moves at a time; changes ``labels`` in place."""
    n, k = cost.shape
    # Node k of the path graph is a common sink where `counted[c]` rows of cluster c are counted. What a cluster has
    # above (surplus > 0) or below (surplus < 0) its bounds, and what the sink then has, must be moved.
    counted = np.minimum(np.maximum(sizes, min_size), max_size)
    surplus = np.append(sizes - counted, counted.sum() - n)
    # heap b * K + a holds the moves from cluster a to b as (price, row); they are made when b is first asked for
    prices, rows = np.empty(0, np.int64), np.empty(0, np.int64)
    start, size, room = np.zeros(k * k + 1, np.int64), np.zeros(k * k, np.int64), np.zeros(k * k, np.int64)
    known, cheapest = np.zeros(k, np.bool_), np.full((k, k), FAR)  # cheapest[b, a]: least price of a move from a to b
    potential, distance = np.zeros(k + 1, np.int64), np.empty(k + 1, np.int64)
    after, done, moved = np.empty(k + 1, np.int64), np.empty(k + 1, np.bool_), np.empty(k + 1, np.int64)
    for units in range(surplus[surplus > 0].sum(), 0, -1):
        # Dijkstra with potentials, backwards from all nodes with a deficit to the first one with a surplus
        for v in range(k + 1):
            distance[v], after[v], done[v] = (0 if surplus[v] < 0 else FAR), -1, False
        while True:
            v = _next_node(distance, done, surplus)
            done[v] = True
            if surplus[v] > 0:
                break
            if v == k:
                for u in range(k):
                    if counted[u] < max_size:
                        _reach(u, v, 0, potential, distance, after, done)
                continue
            if counted[v] > min_size:
                _reach(k, v, 0, potential, distance, after, done)
                if surplus[k] > 0 and distance[k] == distance[v]:
                    continue  # the sink is next: the moves to v need not be known
            if not known[v]:
                known[v] = True
                prices, rows = _cheap_moves(cost, labels, v, units, scale, prices, rows, start, size, room)
                for u in range(k):
                    _refresh(prices, rows, start, size, labels, cheapest, u, v)
            for u in range(k):
                _reach(u, v, cheapest[v, u], potential, distance, after, done)
        for u in range(k + 1):
            potential[u] -= min(distance[u], distance[v])
        # move along the path; which rows is settled before the first one arrives anywhere
        surplus[v] -= 1
        first = v
        while after[v] >= 0:
            moved[v] = rows[start[after[v] * k + v]] if v < k and after[v] < k else -1
            v = after[v]
        surplus[v] += 1
        v = first
        while after[v] >= 0:
            u, v = v, after[v]
            if u == k:
                counted[v] -= 1
            elif v == k:
                counted[u] += 1
            else:
                row = moved[u]
                labels[row] = v
                for b in range(k):
                    heap = b * k + v
                    if known[b] and b != v:
                        if size[heap] == room[heap]:
                            prices, rows = _grow(prices, rows, start, size, room, heap, 2 * room[heap] + 8)
                        _push(prices, rows, start, size, heap, _price(cost, row, v, b, scale), row)
        v = first
        while v >= 0:
            for b in range(k):
                if known[b] and v < k:
                    _refresh(prices, rows, start, size, labels, cheapest, v, b)
            v = after[v]


@njit(cache=True, nogil=True)
def _next_node(distance: Int, done: NDArray[np.bool_], surplus: Int) -> int:
    """The nearest node not yet done; among equals one with a surplus, where the search ends."""
    best = -1
    for v in range(len(distance)):
        if not done[v] and (
            best < 0 or distance[v] < distance[best] or (distance[v] == distance[best] and surplus[v] > surplus[best])
        ):
            best = v
    return best


@njit(cache=True, nogil=True)
def _reach(u: int, v: int, length: int, potential: Int, distance: Int, after: Int, done: NDArray[np.bool_]) -> None:
    """Note the way from u over v if it is the shortest so far (in reduced costs, which are never negative)."""
    if not done[u] and length < FAR:
        reached = distance[v] + length + potential[u] - potential[v]
        if reached < distance[u]:
            distance[u], after[u] = reached, v


@njit(cache=True, nogil=True)
def _price(cost: NDArray[Any], row: int, source: int, target: int, scale: float) -> np.int64:
    """What it costs to move a row: a difference of two integers, so that prices add up exactly along a path."""
    base = np.float64(cost[row, 0])
    return np.int64((cost[row, target] - base) * scale) - np.int64((cost[row, source] - base) * scale)


@njit(cache=True, nogil=True)
def _cheap_moves(
    cost: NDArray[Any],
    labels: Int,
    target: int,
    units: int,
    scale: float,
    prices: Int,
    rows: Int,
    start: Int,
    size: Int,
    room: Int,
) -> tuple[Int, Int]:
    """Fill the heaps of moves to ``target``; returns the pool's arrays, which may be new ones.

    A path passes a cluster at most once, so at most ``units`` rows will leave it: ``units + 1`` moves are enough.
    """
    n, k = cost.shape
    sizes = np.bincount(labels, minlength=k)
    limit = _price_limits(cost, labels, sizes, target, units)
    found = np.zeros(k, np.int64)
    for row in range(n):
        found[labels[row]] += cost[row, target] - cost[row, labels[row]] <= limit[labels[row]]
    for a in range(k):
        if a != target:
            if found[a] < min(units + 1, sizes[a]):
                limit[a], found[a] = np.inf, sizes[a]  # the estimate was too low: keep them all
            prices, rows = _grow(prices, rows, start, size, room, target * k + a, found[a])
    for row in range(n):
        a = labels[row]
        if a != target and cost[row, target] - cost[row, a] <= limit[a]:
            _push(prices, rows, start, size, target * k + a, _price(cost, row, a, target, scale), row)
    return prices, rows


@njit(cache=True, nogil=True)
def _price_limits(cost: NDArray[Any], labels: Int, sizes: Int, target: int, units: int) -> NDArray[np.float64]:
    """For each cluster a price that more than ``units`` of its moves to ``target`` cost at most, by a sample."""
    k = len(sizes)
    limit = np.full(k, np.inf)
    sample, seen, taken = np.empty((k, 2 * LOOK_AT)), np.zeros(k, np.int64), np.zeros(k, np.int64)
    for row, a in enumerate(labels):
        if seen[a] % max(1, sizes[a] // LOOK_AT) == 0:
            sample[a, taken[a]] = cost[row, target] - cost[row, a]
            taken[a] += 1
        seen[a] += 1
    for a in range(k):
        rank = int(1.25 * (units + 1) * taken[a] / max(1, sizes[a])) + 16
        if rank < taken[a] // 2:
            limit[a] = np.partition(sample[a, : taken[a]], rank)[rank]
    return limit


@njit(cache=True, nogil=True)
def _refresh(
    prices: Int, rows: Int, start: Int, size: Int, labels: Int, cheapest: Int, source: int, target: int
) -> None:
    """Drop rows that have left ``source`` from the top of its heap and note what the next one costs."""
    heap = target * len(cheapest) + source
    while size[heap] > 0 and labels[rows[start[heap]]] != source:
        _pop(prices, rows, start, size, heap)
    cheapest[target, source] = prices[start[heap]] if size[heap] > 0 else FAR


# Many binary min-heaps in one pool of memory: heap h lies in keys[start[h] : start[h] + size[h]] and the same of items;
# when its room is used up, it moves to the end of the pool. (Numba's own lists of lists count references at every
# access, which costs more than all the rest. The heaps stand in this file because numba's cache does not notice when a
# function of another file has changed.)


@njit(cache=True, nogil=True)
def _push(keys: Int, items: Int, start: Int, size: Int, heap: int, key: int, item: int) -> None:
    """Add an entry to a heap that has room for it."""
    first, at = start[heap], size[heap]
    size[heap] += 1
    while at > 0 and key < keys[first + (at - 1) // 2]:
        parent = (at - 1) // 2
        keys[first + at], items[first + at] = keys[first + parent], items[first + parent]
        at = parent
    keys[first + at], items[first + at] = key, item


@njit(cache=True, nogil=True)
def _pop(keys: Int, items: Int, start: Int, size: Int, heap: int) -> None:
    """Drop the least entry of a heap that has one."""
    first = start[heap]
    size[heap] -= 1
    last = size[heap]
    key, item = keys[first + last], items[first + last]
    at = 0
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last and keys[first + child + 1] < keys[first + child]:
            child += 1
        if key <= keys[first + child]:
            break
        keys[first + at], items[first + at] = keys[first + child], items[first + child]
        at = child
    keys[first + at], items[first + at] = key, item


@njit(cache=True, nogil=True)
def _grow(keys: Int, items: Int, start: Int, size: Int, room: Int, heap: int, wanted: int) -> tuple[Int, Int]:
    """Move a heap to the end of the pool, with the room wanted; returns the pool's arrays, which may be new ones.

    ``start`` has one entry more than there are heaps: where the pool is free.
    """
    first, used = start[heap], start[-1]
    if used + wanted > len(keys):
        more = np.empty(used + wanted, np.int64)
        keys, items = np.concatenate((keys[:used], more)), np.concatenate((items[:used], more))
    for i in range(size[heap]):
        keys[used + i], items[used + i] = keys[first + i], items[first + i]
    start[heap], room[heap], start[-1] = used, wanted, used + wanted
    return keys, items
