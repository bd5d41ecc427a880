"""Products with a matrix of zeros and ones, eight columns at a time.

Eight columns have 256 possible rows. What these give with the weight is tabulated once, and a row of the product is
then one look-up for every eight columns instead of eight multiplications ("four Russians"). The gradient of the weight
goes the other way: every row is added into the bucket of its code, and the buckets are added up.

Weights are worked on in slices and nodes in chunks, so that tables and sums stay in the cache. Both have fixed sizes
and every number is summed by one thread: results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.sparse.threads import FAST, threaded

GROUP = 8  # columns of a code
BATCH = 8  # groups whose tables are in the cache together
WIDTH = 64  # columns of the weight worked on together
ROWS = 8192  # at most so many nodes are worked on together


@threaded()
def codes_of(bits: NDArray[np.uint8], n: int, parts: int) -> NDArray[np.uint8]:
    """The codes of every eight columns, (groups, n).

    Args:
        bits: every column as bits, that of node 0 first: (columns, bytes).
        n: number of nodes.
        parts: number of threads.
    """
    columns, width = bits.shape
    groups = (columns + GROUP - 1) // GROUP
    codes = np.empty((groups, n), dtype=np.uint8)
    for part in prange(parts):
        for group in range(groups * part // parts, groups * (part + 1) // parts):
            for place in range(width):
                square = np.uint64(0)  # 8 x 8 bits, a byte for every column
                for column in range(GROUP * group, min(columns, GROUP * (group + 1))):
                    square |= np.uint64(bits[column, place]) << np.uint64(8 * (column - GROUP * group))
                square = _swap(square, np.uint64(7), np.uint64(0x00AA00AA00AA00AA))
                square = _swap(square, np.uint64(14), np.uint64(0x0000CCCC0000CCCC))
                square = _swap(square, np.uint64(28), np.uint64(0x00000000F0F0F0F0))
                for node in range(8 * place, min(n, 8 * (place + 1))):
                    codes[group, node] = (square >> np.uint64(8 * (node - 8 * place))) & np.uint64(255)
    return codes


@njit(cache=True, nogil=True, inline="always")
def _swap(square: Any, distance: Any, mask: Any) -> Any:
    """One of the three exchanges that transpose 8 x 8 bits."""
    moved = (square ^ (square >> distance)) & mask
    return square ^ moved ^ (moved << distance)


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def _add_eight(out: Any, factor: Any, table: Any, codes: Any, node: int, width: int) -> None:
    a, b = table[0, codes[0, node]], table[1, codes[1, node]]
    c, d = table[2, codes[2, node]], table[3, codes[3, node]]
    e, f = table[4, codes[4, node]], table[5, codes[5, node]]
    g, h = table[6, codes[6, node]], table[7, codes[7, node]]
    for k in range(width):
        out[k] += factor * (((a[k] + b[k]) + (c[k] + d[k])) + ((e[k] + f[k]) + (g[k] + h[k])))


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def _add(out: Any, factor: Any, row: Any, width: int) -> None:
    for k in range(width):
        out[k] += factor * row[k]


@njit(cache=True, nogil=True, fastmath=FAST)
def _fill(table: NDArray[Any], weight: NDArray[Any]) -> None:
    """What every code of a group gives: ``table[code]`` is the sum of the rows of the weight whose bit is set."""
    table[0, :] = 0
    known = 1
    for row in range(len(weight)):
        for code in range(known):
            for k in range(weight.shape[1]):
                table[known + code, k] = table[code, k] + weight[row, k]
        known *= 2


@njit(cache=True, nogil=True, fastmath=FAST)
def _empty(table: NDArray[Any], out: NDArray[Any]) -> None:
    """Add to every row of ``out`` the buckets whose bit is set; the buckets are folded on the way."""
    width = out.shape[1]
    for bit in range(len(out) - 1, -1, -1):
        half = 1 << bit
        for code in range(half):
            for k in range(width):
                out[bit, k] += table[half + code, k]
                table[code, k] += table[half + code, k]


@threaded(fastmath=FAST)
def table_product(
    codes: NDArray[np.uint8],
    weight: NDArray[Any],
    factors: NDArray[Any],
    sign: Any,
    base: NDArray[Any],
    over: bool,
    out: NDArray[Any],
    parts: int,
) -> None:
    """``base + sign * diag(factors) B weight``, B the zeros and ones behind the codes.

    Args:
        codes: of :func:`codes_of`.
        weight: (columns, width).
        factors: one per node, or none for ones.
        sign: of the type of the weight.
        base: (n, width), or without rows for zeros.
        over: take what is in ``out`` as the base.
        out: (n, width).
        parts: number of threads.
    """
    n, width = out.shape
    columns = len(weight)
    chunks, slices = (n + ROWS - 1) // ROWS, (width + WIDTH - 1) // WIDTH
    for part in prange(parts):
        table = np.zeros((BATCH, 1 << GROUP, WIDTH), dtype=weight.dtype)
        for task in range(chunks * slices * part // parts, chunks * slices * (part + 1) // parts):
            first = task % slices * WIDTH
            last = min(width, first + WIDTH)
            chunk = task // slices
            nodes = range(n * chunk // chunks, n * (chunk + 1) // chunks)
            for node in nodes:
                if len(base):
                    out[node, first:last] = base[node, first:last]
                elif not over:
                    out[node, first:last] = 0
            for batch in range(0, len(codes), BATCH):
                some = codes[batch : batch + BATCH]
                for group in range(len(some)):
                    begin = GROUP * (batch + group)
                    _fill(table[group], weight[begin : min(columns, begin + GROUP), first:last])
                for node in nodes:
                    factor = sign * factors[node] if len(factors) else sign
                    # A width that is known when this is compiled makes the sums much faster.
                    if len(some) == BATCH and last - first == WIDTH:
                        _add_eight(out[node, first:last], factor, table, some, node, WIDTH)
                    else:
                        for group in range(len(some)):
                            _add(out[node, first:last], factor, table[group, some[group, node]], last - first)


@threaded(fastmath=FAST)
def table_gradient(
    codes: NDArray[np.uint8], gradient: NDArray[Any], factors: NDArray[Any], columns: int, parts: int
) -> NDArray[Any]:
    """``(diag(factors) B)^T gradient`` of every chunk of nodes, (chunks, columns, width): to be added up."""
    n, width = gradient.shape
    chunks, slices = (n + ROWS - 1) // ROWS, (width + WIDTH - 1) // WIDTH
    out = np.zeros((chunks, columns, width), dtype=gradient.dtype)
    one = gradient.dtype.type(1)
    for part in prange(parts):
        table = np.zeros((BATCH, 1 << GROUP, WIDTH), dtype=gradient.dtype)
        for task in range(chunks * slices * part // parts, chunks * slices * (part + 1) // parts):
            chunk, first = task // slices, task % slices * WIDTH
            last = min(width, first + WIDTH)
            for batch in range(0, len(codes), BATCH):
                some = codes[batch : batch + BATCH]
                table[: len(some)] = 0
                for node in range(n * chunk // chunks, n * (chunk + 1) // chunks):
                    factor = factors[node] if len(factors) else one
                    row = gradient[node, first:last]
                    for group in range(len(some)):
                        if last - first == WIDTH:
                            _add(table[group, some[group, node]], factor, row, WIDTH)
                        else:
                            _add(table[group, some[group, node]], factor, row, last - first)
                for group in range(len(some)):
                    begin = GROUP * (batch + group)
                    _empty(table[group], out[chunk, begin : min(columns, begin + GROUP), first:last])
    return out
