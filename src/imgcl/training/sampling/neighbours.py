"""Neighbour sampling from a CSR that may be memory-mapped.

Every node's sample is a function of the seed and the node's number alone. The same node therefore has the same sampled
neighbours whichever anchors it was reached from, and on whichever machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.errors import InputError
from imgcl._core.sparse.kernels import GOLDEN, mix
from imgcl.graph import Graph


@dataclass(frozen=True)
class Neighbourhood:
    """Anchors and what was sampled around them.

    Attributes:
        nodes: node numbers in the graph: the anchors, then what is one step away, two steps, and so on.
        indptr: CSR row pointers over ``nodes``; nodes of the last step have no list.
        indices: sampled neighbours, as positions in ``nodes``.
        reach: how many of the nodes are within 0, 1, 2, … steps.
        weights: of the sampled edges, or ``None``.
    """

    nodes: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    reach: tuple[int, ...]
    weights: NDArray[np.float32] | None = None


class NeighbourSampler:
    """Samples neighbourhoods of anchors, without replacement and uniformly, whatever edges weigh.

    Memory beyond the graph is one integer per node. One thread at a time may use it.

    Args:
        graph: the graph; only the lists that are visited are read.

    Example:
        >>> from imgcl.graph import Graph
        >>> star = Graph.from_edges([[0, 0, 0, 0], [1, 2, 3, 4]], x=np.eye(5))
        >>> found = NeighbourSampler(star).sample(np.array([0]), [2], seed=0)
        >>> found.reach, len(set(found.nodes.tolist()))
        ((1, 3), 3)
    """

    def __init__(self, graph: Graph) -> None:
        self._indptr, self._indices, self._weights = graph.indptr, graph.indices, graph.edge_weight
        self._position = np.full(graph.n_nodes, -1, dtype=np.int32)

    def sample(self, anchors: NDArray[np.int64], fanout: Sequence[int], seed: int) -> Neighbourhood:
        """The neighbourhood of distinct anchors.

        Args:
            anchors: node numbers.
            fanout: how many neighbours of an anchor, of a node one step away, …; nodes with fewer give all.
            seed: decides every choice.
        """
        if not fanout or min(fanout) < 1:
            raise InputError(f"fanout = {list(fanout)}: give a number of at least 1 for every layer")
        nodes, indptr, indices, reach, weights = _sample(
            self._indptr,
            self._indices,
            np.empty(0, np.float32) if self._weights is None else self._weights,
            np.ascontiguousarray(anchors, dtype=np.int64),
            np.array(fanout, dtype=np.int64),
            np.uint64(seed),
            self._position,
        )
        return Neighbourhood(nodes, indptr, indices, tuple(reach.tolist()), None if self._weights is None else weights)


@njit(cache=True, nogil=True)
def _sample(
    graph_indptr: NDArray[Any],
    graph_indices: NDArray[Any],
    graph_weights: NDArray[Any],
    anchors: NDArray[np.int64],
    fanout: NDArray[np.int64],
    seed: np.uint64,
    position: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float32]]:
    nodes, count = anchors.copy(), len(anchors)
    for i in range(count):
        position[anchors[i]] = i
    reach = np.empty(len(fanout) + 1, dtype=np.int64)
    reach[0] = count
    ends = np.zeros(1, dtype=np.int64)
    indices, filled, begin = np.empty(0, dtype=np.int32), 0, 0
    weighted, weights = len(graph_weights) > 0, np.empty(0, dtype=np.float32)
    for hop in range(len(fanout)):
        k, end = fanout[hop], count
        most = 0
        for i in range(begin, end):
            most += min(k, graph_indptr[nodes[i] + 1] - graph_indptr[nodes[i]])
        nodes = np.concatenate((nodes[:count], np.empty(most, dtype=np.int64)))
        indices = np.concatenate((indices[:filled], np.empty(most, dtype=np.int32)))
        if weighted:
            weights = np.concatenate((weights[:filled], np.empty(most, dtype=np.float32)))
        ends = np.concatenate((ends, np.empty(end - begin, dtype=np.int64)))
        for i in range(begin, end):
            first = graph_indptr[nodes[i]]
            degree = graph_indptr[nodes[i] + 1] - first
            start, take = filled, min(k, degree)
            stream = mix(np.uint64(nodes[i]) + seed * GOLDEN)
            for t in range(take):
                # Floyd's algorithm: a uniform subset of `take` places in as many steps.
                last = degree - take + t
                place = last
                if degree > k:
                    draw = mix(stream + np.uint64(t + 1) * GOLDEN)
                    place = np.int64(draw % np.uint64(last + 1))
                    for earlier in range(start, filled):
                        if indices[earlier] == place:
                            place = last
                            break
                indices[filled] = place
                filled += 1
            for entry in range(start, filled):
                if weighted:
                    weights[entry] = graph_weights[first + indices[entry]]
                neighbour = graph_indices[first + indices[entry]]
                if position[neighbour] < 0:
                    position[neighbour] = count
                    nodes[count] = neighbour
                    count += 1
                indices[entry] = position[neighbour]
            ends[i + 1] = filled
        begin = end
        reach[hop + 1] = count
    for i in range(count):
        position[nodes[i]] = -1
    indptr = np.full(count + 1, filled, dtype=np.int64)
    indptr[: len(ends)] = ends
    return nodes[:count].copy(), indptr, indices[:filled].copy(), reach, weights[:filled].copy()
