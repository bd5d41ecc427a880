"""Random walks: DeepWalk's, and node2vec's with their exact second-order bias.

A step from v, having come from t, goes to a neighbour x of v with probability proportional to the weight of the edge
times 1/p if x = t, 1 if x is a neighbour of t, and 1/q otherwise. It is drawn by rejection: propose a neighbour by the
weights of edges, accept it with its factor over the largest factor. That is exact, needs no tables (alias tables would
take memory of the order of the sum of squared degrees), and is fast because few proposals are rejected.

Each walk has a random stream of its own, so that walks depend on the seed and their number alone, not on threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.errors import InputError
from imgcl._core.seeding import derive
from imgcl.graph import Graph
from imgcl.graph.structure.randomness import next_float, next_index, stream

END = -1  # fills the rest of a walk that cannot go on


def random_walks(
    graph: Graph, walks_per_node: int = 10, length: int = 80, p: float = 1.0, q: float = 1.0, seed: int = 0
) -> NDArray[np.int32]:
    """Walks that start at every node.

    Args:
        graph: the graph.
        walks_per_node: how many start at each node.
        length: nodes in a walk, the first included.
        p: return parameter of node2vec: large values avoid going straight back.
        q: in-out parameter of node2vec: large values stay near where the walk came from. p = q = 1 is DeepWalk.
        seed: of the walks.

    Returns:
        Node numbers (walks_per_node * N, length); walk i starts at node i mod N. A walk from an isolated node has no
        second node: it is filled with -1.

    Example:
        >>> import numpy as np
        >>> path = Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3))
        >>> random_walks(path, walks_per_node=1, length=3)[:, :2].tolist()[0]
        [0, 1]
    """
    for name, value in (("p", p), ("q", q)):
        if not 0 < value < np.inf:
            raise InputError(f"{name} is {value}: it must be above 0")
    for name, whole in (("walks_per_node", walks_per_node), ("length", length)):
        if whole < 1:
            raise InputError(f"{name} is {whole}: it must be 1 or more")
    out = np.empty((walks_per_node * graph.n_nodes, length), dtype=np.int32)
    indptr, indices = np.asarray(graph.indptr, dtype=np.int64), np.asarray(graph.indices, dtype=np.int32)
    sums = np.empty(0) if graph.edge_weight is None else _running_sums(indptr, graph.edge_weight)
    stream_seed = np.uint64(derive(seed, "walks"))

    def walk(part: NDArray[np.int64]) -> None:
        _walk_some(indptr, indices, sums, float(p), float(q), stream_seed, part[0], out[part[0] : part[-1] + 1])

    threads = min(torch.get_num_threads(), len(out))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(walk, np.array_split(np.arange(len(out)), threads)))
    return out


@njit(cache=True, nogil=True)
def _walk_some(indptr, indices, sums, p, q, seed, first, out):  # type: ignore[no-untyped-def]
    """Walks ``first``, ``first + 1``, ... into the rows of ``out``."""
    n = len(indptr) - 1
    for i in range(len(out)):
        _walk(indptr, indices, sums, p, q, stream(seed, first + i), (first + i) % n, out[i])


@njit(cache=True, nogil=True)
def _walk(indptr, indices, sums, p, q, state, start, walk):  # type: ignore[no-untyped-def]
    """Fill one walk; ``state`` is its random stream, ``sums`` is empty where edges have no weights."""
    walk[:] = END
    walk[0] = start
    here, before = start, np.int64(-1)
    highest = max(1.0 / p, 1.0, 1.0 / q)
    first_order = p == 1.0 and q == 1.0
    for position in range(1, len(walk)):
        low, degree = indptr[here], indptr[here + 1] - indptr[here]
        if degree == 0:
            return
        while True:
            if len(sums) == 0:
                state, choice = next_index(state, degree)
            else:
                state, level = next_float(state)
                choice = _chosen(sums[low : low + degree], level)
            target = np.int64(indices[low + choice])
            if first_order or before < 0:
                break
            if target == before:
                factor = 1.0 / p
            elif _adjacent(indptr, indices, before, target):
                factor = 1.0
            else:
                factor = 1.0 / q
            state, level = next_float(state)
            if level * highest < factor:
                break
        walk[position] = target
        before, here = here, target


@njit(cache=True, nogil=True)
def _running_sums(indptr, weights):  # type: ignore[no-untyped-def]
    """Sums of the weights of every row up to each entry."""
    sums = np.empty(len(weights))
    for row in range(len(indptr) - 1):
        total = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            total += weights[entry]
            sums[entry] = total
    return sums


@njit(cache=True, nogil=True)
def _chosen(sums, level):  # type: ignore[no-untyped-def]
    """The entry of a row that a number in [0, 1) falls into, by bisection in its running sums."""
    return min(np.searchsorted(sums, level * sums[-1], side="right"), len(sums) - 1)


@njit(cache=True, nogil=True)
def _adjacent(indptr, indices, a, b):  # type: ignore[no-untyped-def]
    """Whether b is a neighbour of a, by bisection in a's sorted row."""
    low, high = indptr[a], indptr[a + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < b:
            low = middle + 1
        else:
            high = middle
    return low < indptr[a + 1] and indices[low] == b
