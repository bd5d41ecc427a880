"""From a long list of pairs to a sorted symmetric CSR, out of core.

The pairs lie in a file and are read front to back, once to count and once for every range of nodes whose neighbour
lists fit into the memory given. Only vectors of length N and one range of lists are ever in memory. Weights lie in a
second file beside the pairs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.errors import GraphError
from imgcl.graph.checks import Cleaning

PAIRS_AT_ONCE = 1 << 20
WEIGHT = np.dtype(np.float32)
DirectedAs = Literal["both", "mutual", "in", "out"]
MODES = {"both": 0, "mutual": 1, "in": 2, "out": 3}


class PairFile:
    """A file of node pairs: appended to, then read front to back any number of times.

    Args:
        path: of the file to create.
        n_nodes: number of nodes; decides the width of a number.
        weighted: whether every pair has a weight.
    """

    def __init__(self, path: str | Path, n_nodes: int, *, weighted: bool = False) -> None:
        self.path, self.n_nodes = Path(path), n_nodes
        self.weights = self.path.with_name(f"{self.path.name}-weights") if weighted else None
        self.dtype = np.dtype(np.int32 if n_nodes < 2**31 else np.int64)
        self.n_pairs = 0
        self.path.write_bytes(b"")
        if self.weights is not None:
            self.weights.write_bytes(b"")

    def append(self, source: NDArray[Any], target: NDArray[Any], weights: NDArray[Any] | None = None) -> None:
        """Add the pairs (source[i], target[i]), of this weight."""
        pairs = np.stack([source, target], axis=1)
        outside = int(((pairs < 0) | (pairs >= self.n_nodes)).any(axis=1).sum())
        if outside:
            raise GraphError(f"{outside} edges name nodes outside 0..{self.n_nodes - 1}")
        with open(self.path, "ab") as handle:
            handle.write(pairs.astype(self.dtype, copy=False).tobytes())
        if self.weights is not None and weights is not None:
            with open(self.weights, "ab") as handle:
                handle.write(weights.astype(np.float64, copy=False).tobytes())
        self.n_pairs += len(source)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """The pairs as arrays (n, 2)."""
        with open(self.path, "rb") as handle:
            while len(part := np.fromfile(handle, self.dtype, 2 * PAIRS_AT_ONCE)):
                yield part.reshape(-1, 2)

    def parts(self) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
        """The pairs as arrays (n, 2), and their weights (empty, if they have none)."""
        if self.weights is None:
            yield from ((part, np.empty(0)) for part in self)
            return
        with open(self.weights, "rb") as handle:
            yield from ((part, np.fromfile(handle, np.float64, len(part))) for part in self)


@dataclass(frozen=True)
class BuiltEdges:
    """Row pointers, and what was cleaned."""

    indptr: NDArray[np.int64]
    cleaning: Cleaning


def build_csr(
    pairs: PairFile,
    out: Path,
    *,
    weights_out: Path | None = None,
    directed_as: DirectedAs = "both",
    memory: int = 1 << 28,
    on_progress: Callable[[float], None] | None = None,
) -> BuiltEdges:
    """Write the neighbour lists of the simple undirected graph as an ``.npy`` file.

    Args:
        pairs: the edges, in any order, with duplicates and self-loops.
        out: the file to write (``indices.npy`` of a store).
        weights_out: the same for the weights of weighted pairs (``edge_weight.npy``): duplicates are summed, and an
            edge that is there in both directions has the mean of its two weights.
        directed_as: ``both``: a pair is an edge whichever way it points; ``mutual``: only pairs that are there
            in both directions are; ``in``, ``out``: the list of a node holds those that point at it, or that it points
            at.
        memory: bytes for the neighbour lists of one range of nodes.
        on_progress: called with the finished share.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pairs = PairFile(f"{folder}/pairs", n_nodes=3)
        ...     pairs.append(np.array([0, 1, 2, 0]), np.array([1, 0, 1, 0]))
        ...     built = build_csr(pairs, Path(folder) / "indices.npy")
        ...     built.indptr.tolist(), np.load(f"{folder}/indices.npy").tolist(), str(built.cleaning)
        ([0, 1, 3, 4], [1, 0, 2, 1], '1 self-loops removed, 1 one-directional edges mirrored')
    """
    n = pairs.n_nodes
    lengths = np.zeros(n, dtype=np.int64)
    loops = 0
    for part in pairs:
        loops += _count(part, lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    key = np.dtype(np.uint32 if n < 2**31 else np.int64)  # a neighbour's number and one bit for the direction
    weighted = pairs.weights is not None
    ranges = _ranges(starts, max(1, memory // (key.itemsize + (16 if weighted else 0))))
    kept = np.zeros(n, dtype=np.int64)
    counts = np.zeros(3, dtype=np.int64)  # duplicates, one-directional, entries with another weight the other way
    with open(out, "wb") as handle, open(weights_out or os.devnull, "wb") as weight_handle:
        _header(handle, pairs.dtype, int(starts[-1]))  # the largest it can be: the true length is not longer
        _header(weight_handle, WEIGHT, int(starts[-1]))
        for number, (low, high) in enumerate(ranges):
            keys = np.empty(starts[high] - starts[low], dtype=key)
            filled = starts[low:high] - starts[low]
            values = np.empty(len(keys) if weighted else 0)
            for part, weights in pairs.parts():
                _fill(part, weights, low, high, filled, keys, values)
            bounds = starts[low : high + 1] - starts[low]
            total = _simplify(bounds, keys, values, MODES[directed_as], kept[low:high], counts)
            handle.write(keys[:total].astype(pairs.dtype).tobytes())
            weight_handle.write(values[:total].astype(WEIGHT).tobytes())
            if on_progress is not None:
                on_progress((number + 1) / len(ranges))
        for each, dtype in ((handle, pairs.dtype), (weight_handle, WEIGHT)):
            each.seek(0)
            _header(each, dtype, int(kept.sum()))
    indptr = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    duplicates, one_way, differing = map(int, counts)
    merged = {"summed" if weighted else "duplicates": duplicates}
    alone = {"dropped" if directed_as == "mutual" else "one_directional": one_way}
    return BuiltEdges(indptr, Cleaning(self_loops=loops, averaged=differing // 2, **merged, **alone))


def _header(handle: BinaryIO, dtype: np.dtype[Any], length: int) -> None:
    """Numpy's own header of a one-dimensional array; it is padded, so two lengths give the same size."""
    np.lib.format.write_array_header_1_0(handle, {"descr": dtype.str, "fortran_order": False, "shape": (length,)})


def _ranges(starts: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Cut 0..N into ranges with at most ``most`` entries (a range has at least one node)."""
    n, low, ranges = len(starts) - 1, 0, []
    while low < n:
        high = int(np.searchsorted(starts, starts[low] + most, side="right")) - 1
        high = min(n, max(high, low + 1))
        ranges.append((low, high))
        low = high
    return ranges


@njit(cache=True, nogil=True)
def _count(pairs: NDArray[Any], lengths: NDArray[np.int64]) -> int:
    loops = 0
    for i in range(len(pairs)):
        u, v = pairs[i, 0], pairs[i, 1]
        if u == v:
            loops += 1
        else:
            lengths[u] += 1
            lengths[v] += 1
    return loops


@njit(cache=True, nogil=True)
def _fill(
    pairs: NDArray[Any],
    weights: NDArray[np.float64],
    low: int,
    high: int,
    filled: NDArray[np.int64],
    keys: NDArray[Any],
    values: NDArray[np.float64],
) -> None:
    """Put the neighbours of the nodes low .. high - 1 into their places; the last bit is the direction."""
    weighted = len(weights) > 0
    for i in range(len(pairs)):
        u, v = np.int64(pairs[i, 0]), np.int64(pairs[i, 1])
        if u == v:
            continue
        if low <= u < high:
            keys[filled[u - low]] = 2 * v
            if weighted:
                values[filled[u - low]] = weights[i]
            filled[u - low] += 1
        if low <= v < high:
            keys[filled[v - low]] = 2 * u + 1
            if weighted:
                values[filled[v - low]] = weights[i]
            filled[v - low] += 1


@njit(cache=True, nogil=True)
def _simplify(
    bounds: NDArray[np.int64],
    keys: NDArray[Any],
    values: NDArray[np.float64],
    mode: int,
    kept: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """Sort every list, merge what is there more than once, and close the gaps; returns the length of all lists."""
    total, weighted = 0, len(values) > 0
    for row in range(len(bounds) - 1):
        if weighted:
            _sort_together(keys[bounds[row] : bounds[row + 1]], values[bounds[row] : bounds[row + 1]])
        else:
            keys[bounds[row] : bounds[row + 1]].sort()
        before, entry = total, bounds[row]
        while entry < bounds[row + 1]:
            neighbour = keys[entry] >> 1
            outgoing, incoming, out_weight, in_weight = 0, 0, 0.0, 0.0
            while entry < bounds[row + 1] and keys[entry] >> 1 == neighbour:
                if keys[entry] & 1:
                    incoming += 1
                    in_weight += values[entry] if weighted else 0.0
                else:
                    outgoing += 1
                    out_weight += values[entry] if weighted else 0.0
                entry += 1
            counts[0] += max(0, outgoing - 1)
            if outgoing > 0 and incoming == 0:
                counts[1] += 1
            both = outgoing > 0 and incoming > 0
            if both and out_weight != in_weight:
                counts[2] += 1
            wanted = mode == 0 or (mode == 1 and both) or (mode == 2 and incoming > 0) or (mode == 3 and outgoing > 0)
            if wanted:
                keys[total] = neighbour
                if weighted:
                    mean = (out_weight + in_weight) / (2 if both else 1)
                    values[total] = in_weight if mode == 2 else out_weight if mode == 3 else mean
                total += 1
        kept[row] = total - before
    return total


@njit(cache=True, nogil=True)
def _sort_together(keys: NDArray[Any], values: NDArray[np.float64]) -> None:
    """Sort by key, then by value: sums then depend neither on the order of the rows nor on the end of the edge."""
    order = np.argsort(values)
    order = order[np.argsort(keys[order], kind="mergesort")]
    keys[:] = keys[order]
    values[:] = values[order]
