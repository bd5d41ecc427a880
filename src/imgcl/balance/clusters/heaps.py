"""Many binary min-heaps of (key, item) pairs in one pool of memory, for numba code.

Heap h lies in ``keys[start[h] : start[h] + size[h]]`` and the same of ``items``. When its room is used up, it moves to
the end of the pool. (Numba's own lists of lists count references at every access, which costs more than the rest.)
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Int = NDArray[np.int64]


@njit(cache=True, nogil=True)
def push(keys: Int, items: Int, start: Int, size: Int, heap: int, key: int, item: int) -> None:
    """Add an entry to a heap that has room for it."""
    first, at = start[heap], size[heap]
    size[heap] += 1
    while at > 0 and key < keys[first + (at - 1) // 2]:
        parent = (at - 1) // 2
        keys[first + at], items[first + at] = keys[first + parent], items[first + parent]
        at = parent
    keys[first + at], items[first + at] = key, item


@njit(cache=True, nogil=True)
def pop(keys: Int, items: Int, start: Int, size: Int, heap: int) -> None:
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
def grow(keys: Int, items: Int, start: Int, size: Int, room: Int, heap: int, wanted: int) -> tuple[Int, Int]:
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
