"""Numba kernels on CSR arrays: the product, edge removal, and the two halves of a row selection.

``parts`` is the number of threads to use.
Every output row is summed by one thread in storage order, so results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.sparse.threads import threaded

# splitmix64, the finaliser used as a counter-based random number: no state, any order, any device.
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True, inline="always")
def mix(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> np.uint64(30))) * _MULTIPLIER_1
    value = (value ^ (value >> np.uint64(27))) * _MULTIPLIER_2
    return value ^ (value >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def edge_uniform(i: int, j: int, seed: np.uint64) -> float:
    """A uniform number in [0, 1) for the undirected edge {i, j}: the same from both ends."""
    low, high = min(i, j), max(i, j)
    hashed = mix(mix(np.uint64(low) + seed * GOLDEN) + np.uint64(high) * GOLDEN)
    return float(hashed >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True)
def balanced_bounds(indptr: NDArray[Any], parts: int) -> NDArray[np.int64]:
    """Row boundaries that give every part about the same number of rows plus entries."""
    n = len(indptr) - 1
    total = n + indptr[n]
    bounds = np.empty(parts + 1, dtype=np.int64)
    bounds[0], bounds[parts] = 0, n
    for part in range(1, parts):
        goal = total * part // parts
        low, high = 0, n
        while low < high:
            middle = (low + high) // 2
            if middle + indptr[middle] < goal:
                low = middle + 1
            else:
                high = middle
        bounds[part] = low
    return bounds


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _add4(
    out: NDArray[Any],
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any],
    d: NDArray[Any],
    va: Any,
    vb: Any,
    vc: Any,
    vd: Any,
) -> None:
    for k in range(len(out)):
        out[k] += va * a[k] + vb * b[k] + vc * c[k] + vd * d[k]


@threaded(fastmath=True)
def product(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    left: NDArray[Any],
    right: NDArray[Any],
    loop: Any,
    self_index: NDArray[Any],
    source: NDArray[Any],
    source_stride: int,
    out: NDArray[Any],
    out_stride: int,
    width: int,
    parts: int,
) -> None:
    """``out = diag(left) (A + loop I) diag(right) source``, row by row.

    ``source`` and ``out`` are flat buffers of rows ``stride`` apart, so that a column block of a wider matrix is
    read and written without a copy. ``weights`` may be empty (all ones); ``left`` and ``right`` too.
    ``self_index[r]`` is the column of output row r that is its own node, or -1; it is read when loop is not 0.
    """
    bounds = balanced_bounds(indptr, parts)
    weighted, scaled = len(weights) > 0, len(right) > 0
    for part in prange(parts):
        values = np.empty(4, dtype=out.dtype)
        for row in range(bounds[part], bounds[part + 1]):
            target = out[row * out_stride : row * out_stride + width]
            own = self_index[row] if loop != 0 else -1
            if own >= 0:
                factor = loop * (right[own] if scaled else out.dtype.type(1))
                begin = own * source_stride
                mine = source[begin : begin + width]
                for k in range(width):
                    target[k] = factor * mine[k]
            else:
                for k in range(width):
                    target[k] = 0
            entry, stop = indptr[row], indptr[row + 1]
            # Four source rows at a time: the loads of one hide the latency of the others.
            while entry + 4 <= stop:
                for t in range(4):
                    value = out.dtype.type(1)
                    if weighted:
                        value *= weights[entry + t]
                    if scaled:
                        value *= right[indices[entry + t]]
                    values[t] = value
                s0 = np.int64(indices[entry]) * source_stride
                s1 = np.int64(indices[entry + 1]) * source_stride
                s2 = np.int64(indices[entry + 2]) * source_stride
                s3 = np.int64(indices[entry + 3]) * source_stride
                _add4(
                    target,
                    source[s0 : s0 + width],
                    source[s1 : s1 + width],
                    source[s2 : s2 + width],
                    source[s3 : s3 + width],
                    values[0],
                    values[1],
                    values[2],
                    values[3],
                )
                entry += 4
            while entry < stop:
                column = np.int64(indices[entry])
                value = out.dtype.type(1)
                if weighted:
                    value *= weights[entry]
                if scaled:
                    value *= right[column]
                begin = column * source_stride
                other = source[begin : begin + width]
                for k in range(width):
                    target[k] += value * other[k]
                entry += 1
            if len(left) > 0:
                factor = left[row]
                for k in range(width):
                    target[k] *= factor


@threaded()
def keep_edges(
    indptr: NDArray[Any], indices: NDArray[Any], weights: NDArray[Any], drop: NDArray[Any], seed: np.uint64, parts: int
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Remove undirected edges at random; ``drop`` holds one probability, or one for every CSR entry."""
    n = len(indptr) - 1
    kept_indptr = np.zeros(n + 1, dtype=np.int64)
    kept = np.empty(len(indices), dtype=np.uint8)
    bounds = balanced_bounds(indptr, parts)
    per_entry = len(drop) > 1
    for part in prange(parts):
        for row in range(bounds[part], bounds[part + 1]):
            entries = slice(indptr[row], indptr[row + 1])
            neighbours, flags = indices[entries], kept[entries]
            probabilities = drop[entries] if per_entry else drop
            count = 0
            for place in range(len(neighbours)):
                probability = probabilities[place] if per_entry else probabilities[0]
                keep = edge_uniform(row, neighbours[place], seed) >= probability
                flags[place] = keep
                count += keep
            kept_indptr[row + 1] = count
    for row in range(n):
        kept_indptr[row + 1] += kept_indptr[row]
    kept_indices = np.empty(kept_indptr[n], dtype=indices.dtype)
    kept_weights = np.empty(kept_indptr[n] if len(weights) > 0 else 0, dtype=weights.dtype)
    for part in prange(parts):
        for row in range(bounds[part], bounds[part + 1]):
            position, end = kept_indptr[row], kept_indptr[row + 1]
            for entry in range(indptr[row], indptr[row + 1]):
                # Written even when dropped and then overwritten: no branch on a random number.
                if position < end:
                    kept_indices[position] = indices[entry]
                    if len(weights) > 0:
                        kept_weights[position] = weights[entry]
                position += kept[entry]
    return kept_indptr, kept_indices, kept_weights


@threaded()
def take_rows(
    indptr: NDArray[Any], indices: NDArray[Any], weights: NDArray[Any], rows: NDArray[Any], parts: int
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """The CSR of the given rows."""
    taken_indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    for r in range(len(rows)):
        taken_indptr[r + 1] = taken_indptr[r] + indptr[rows[r] + 1] - indptr[rows[r]]
    taken_indices = np.empty(taken_indptr[len(rows)], dtype=indices.dtype)
    taken_weights = np.empty(taken_indptr[len(rows)] if len(weights) > 0 else 0, dtype=weights.dtype)
    for part in prange(parts):
        for r in range(len(rows) * part // parts, len(rows) * (part + 1) // parts):
            begin, length = indptr[rows[r]], taken_indptr[r + 1] - taken_indptr[r]
            for offset in range(length):
                taken_indices[taken_indptr[r] + offset] = indices[begin + offset]
                if len(weights) > 0:
                    taken_weights[taken_indptr[r] + offset] = weights[begin + offset]
    return taken_indptr, taken_indices, taken_weights


@threaded()
def take_columns(
    indptr: NDArray[Any], indices: NDArray[Any], weights: NDArray[Any], position: NDArray[Any], parts: int
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """The CSR of the columns with ``position >= 0``, renumbered to their position."""
    n = len(indptr) - 1
    taken_indptr = np.zeros(n + 1, dtype=np.int64)
    bounds = balanced_bounds(indptr, parts)
    for part in prange(parts):
        for row in range(bounds[part], bounds[part + 1]):
            count = 0
            for entry in range(indptr[row], indptr[row + 1]):
                if position[indices[entry]] >= 0:
                    count += 1
            taken_indptr[row + 1] = count
    for row in range(n):
        taken_indptr[row + 1] += taken_indptr[row]
    taken_indices = np.empty(taken_indptr[n], dtype=indices.dtype)
    taken_weights = np.empty(taken_indptr[n] if len(weights) > 0 else 0, dtype=weights.dtype)
    for part in prange(parts):
        for row in range(bounds[part], bounds[part + 1]):
            target = taken_indptr[row]
            for entry in range(indptr[row], indptr[row + 1]):
                column = position[indices[entry]]
                if column >= 0:
                    taken_indices[target] = column
                    if len(weights) > 0:
                        taken_weights[target] = weights[entry]
                    target += 1
    return taken_indptr, taken_indices, taken_weights
