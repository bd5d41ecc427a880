"""Pseudo-labels from the topology alone: communities found by Leiden, brought to K of them; modularity."""

from __future__ import annotations

import random
import threading

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl.balance.clusters.task import ClusterTask, Labels
from imgcl.graph import Graph

LARGEST = 512  # communities that are merged one by one; the crumbs beyond them are one community from the start
MAX_RESOLUTION = 2.0**20
_IGRAPH = threading.Lock()  # igraph has one generator in a process: threads take turns


def communities(task: ClusterTask) -> Labels:
    """Exactly K communities.

    Leiden maximises modularity at resolution 1. When that gives fewer than K communities, they are split: the
    resolution is doubled until there are K or more. When there are more than K, they are merged: always the two whose
    union costs the least modularity, which puts isolated nodes and small components together first. The same seed
    gives the same communities.
    """
    if task.n_clusters > task.graph.n_nodes:
        raise InputError(f"cannot make {task.n_clusters} communities of {task.graph.n_nodes} nodes")
    resolution = 1.0
    labels = leiden(task.graph, resolution, task.seed)
    while labels.max() + 1 < task.n_clusters and resolution < MAX_RESOLUTION:
        resolution *= 2
        labels = leiden(task.graph, resolution, task.seed)
    return merge(task.graph, labels, task.n_clusters)


def leiden(graph: Graph, resolution: float, seed: int) -> Labels:
    """Communities of the graph by igraph's Leiden algorithm; edges count by their weights."""
    need("communities", "clusters=communities")
    import igraph

    upper = sp.triu(graph.adjacency, format="coo")
    network = igraph.Graph(n=graph.n_nodes, edges=np.stack(upper.coords, axis=1))
    weights = None if graph.edge_weight is None else upper.data.astype(float).tolist()
    with _IGRAPH:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            found = network.community_leiden(
                objective_function="modularity", weights=weights, resolution=resolution, n_iterations=4
            )
        finally:
            igraph.set_random_number_generator(random)
    return np.asarray(found.membership, dtype=np.int64)


def merge(graph: Graph, labels: Labels, n_clusters: int) -> Labels:
    """Merge communities, always the two whose union loses the least modularity, until ``n_clusters`` are left.

    Example:
        >>> two_pairs_and_a_loner = Graph.from_edges([[0, 2], [1, 3]], x=np.eye(5))
        >>> merge(two_pairs_and_a_loner, np.array([0, 1, 2, 3, 4]), 3).tolist()
        [0, 0, 1, 1, 2]
    """
    labels = _pool_crumbs(labels, max(LARGEST, n_clusters))
    count = int(labels.max()) + 1
    # E[a, b]: share of edge ends between a and b; modularity gained by a union: 2 (E_ab - D_a D_b), D = row sums
    between = edge_shares(graph, labels, count)
    volume = between.sum(axis=1)
    gain = 2 * (between - np.outer(volume, volume))
    np.fill_diagonal(gain, -np.inf)
    name = np.arange(count)
    for _ in range(count - n_clusters):
        a, b = sorted(divmod(int(gain.argmax()), count))
        name[name == b] = a
        gain[a] += gain[b]  # gains of unions add up
        gain[:, a] = gain[a]
        gain[a, a] = gain[b] = gain[:, b] = -np.inf
    return np.unique(name[labels], return_inverse=True)[1].astype(np.int64)


def _pool_crumbs(labels: Labels, keep: int) -> Labels:
    """Number communities by size, the largest first, and make one community of all from number ``keep - 1`` on."""
    order = np.argsort(-np.bincount(labels), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return np.minimum(rank, keep - 1)[labels]


def modularity(graph: Graph, labels: NDArray[np.int64], n_clusters: int) -> float:
    """Share of edges inside clusters, less its expectation for random edges of the same degrees.

    Example:
        >>> two_pairs = Graph.from_edges([[0, 2], [1, 3]], x=np.eye(4))
        >>> modularity(two_pairs, np.array([0, 0, 1, 1]), 2)
        0.5
    """
    shares = edge_shares(graph, labels, n_clusters)
    return float(np.trace(shares) - (shares.sum(axis=1) ** 2).sum())


def edge_shares(graph: Graph, labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.float64]:
    """Share of all edge ends between each two clusters, (K, K)."""
    n = graph.n_nodes
    member = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
    ends = (member.T @ (graph.adjacency @ member)).toarray()
    return np.asarray(ends / max(1.0, ends.sum()))
