"""Graphs at the edge of what a graph is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

from imgcl.graph import Graph

N, WIDTH, CLASSES = 60, 8, 3
NO_EDGES = np.zeros((2, 0), dtype=np.int64)


def ordinary(**changes: Any) -> Graph:
    """A random graph that every method embeds, with one thing changed."""
    generator = np.random.default_rng(0)
    y = np.sort(generator.integers(CLASSES, size=N))
    x = generator.normal(size=(N, WIDTH)) + (y[:, None] == np.arange(WIDTH) % CLASSES)
    edges = generator.integers(N, size=(2, 3 * N))
    return Graph.from_edges(**{"edges": edges, "x": x, "y": y, **changes})


def one_node() -> Graph:
    return Graph.from_edges(NO_EDGES, np.ones((1, 4)), [0])


def two_nodes() -> Graph:
    return Graph.from_edges([[0], [1]], np.eye(2), [0, 1])


def ten_nodes() -> Graph:
    return Graph.from_edges([range(9), range(1, 10)], np.eye(10), [0, 1] * 5)


def star() -> Graph:
    return ordinary(edges=np.stack([np.zeros(N - 1, dtype=np.int64), np.arange(1, N)]))


def complete() -> Graph:
    return ordinary(edges=np.stack(np.triu_indices(N, 1)))


def many_components() -> Graph:
    return ordinary(edges=np.arange(N).reshape(-1, 2).T)


def duplicated_nodes() -> Graph:
    """Thirty pairs with the same features and the same neighbours."""
    half = ordinary().subgraph(np.arange(0, N, 2))
    source, target = half.adjacency.nonzero()
    edges = np.stack([np.concatenate([source, source + N // 2]), np.tile(target, 2)])
    return Graph.from_edges(edges, np.tile(half.x, (2, 1)), np.tile(half.y, 2))


def isolated_tail() -> Graph:
    """The rarest class has no edge at all."""
    y = np.where(np.arange(N) >= N - 6, 2, np.arange(N) % 2)
    edges = np.random.default_rng(0).integers(N - 6, size=(2, 3 * N))
    return ordinary(edges=edges, y=y)


def edge_weights(value: float) -> Graph:
    weighted = ordinary().adjacency.astype(np.float64) * value
    return Graph.from_scipy(weighted, ordinary().x, ordinary().y)


def directed() -> Graph:
    graph = nx.gnp_random_graph(N, 0.1, seed=0, directed=True)
    return Graph.from_networkx(graph, x=ordinary().x, y=ordinary().y)


GRAPHS: dict[str, Callable[[], Graph]] = {
    "one node": one_node,
    "two nodes": two_nodes,
    "ten nodes": ten_nodes,
    "no edges": lambda: ordinary(edges=NO_EDGES),
    "no edges, no labels": lambda: ordinary(edges=NO_EDGES, y=None),
    "no labels": lambda: ordinary(y=None),
    "star": star,
    "complete graph": complete,
    "many components": many_components,
    "one class": lambda: ordinary(y=np.zeros(N, dtype=np.int64)),
    "as many classes as nodes": lambda: ordinary(y=np.arange(N)),
    "constant features": lambda: ordinary(x=np.ones((N, WIDTH))),
    "all-zero features": lambda: ordinary(x=np.zeros((N, WIDTH))),
    "all-zero sparse features": lambda: ordinary(x=sp.csr_array((N, WIDTH))),
    "one feature": lambda: ordinary(x=ordinary().x[:, :1]),
    "10,000 features, 50 nodes": lambda: Graph.from_edges(
        np.random.default_rng(0).integers(50, size=(2, 150)),
        np.random.default_rng(1).normal(size=(50, 10_000)),
        np.arange(50) % 3,
    ),
    "duplicated nodes": duplicated_nodes,
    "isolated tail class": isolated_tail,
    "edge weights of 1e30": lambda: edge_weights(1e30),
    "edge weights of -1e-30": lambda: edge_weights(-1e-30),
    "features of 1e30": lambda: ordinary(x=1e30 * ordinary().x.astype(np.float64)),
    "features of 1e14": lambda: ordinary(x=1e14 * ordinary().x),
    "features of 1e-30": lambda: ordinary(x=1e-30 * ordinary().x),
    "float64 features": lambda: ordinary(x=ordinary().x.astype(np.float64)),
    "float16 features": lambda: ordinary(x=ordinary().x.astype(np.float16)),
    "integer features": lambda: ordinary(x=(10 * ordinary().x).astype(np.int64)),
    "boolean features": lambda: ordinary(x=ordinary().x > 0),
    "sparse features": lambda: ordinary(x=sp.csr_array(np.where(ordinary().x > 1, ordinary().x, 0))),
    "directed input": directed,
}
