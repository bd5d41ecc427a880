"""Graphs as users have them: a Graph, a torch_geometric edge_index or Data, a scipy matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl.graph import Graph
from imgcl.graph.foreign import pyg_weights


def as_graph(source: Any, n_nodes: int | None = None) -> Graph:
    """The graph of ``source``; features are placeholders where the source has none.

    Args:
        source: a :class:`imgcl.graph.Graph`, an ``edge_index`` tensor or array (2, E), a ``torch_geometric.data.Data``,
            or a square scipy matrix.
        n_nodes: number of nodes of an ``edge_index``; by default its largest node number + 1, which misses isolated
            nodes at the end.

    Example:
        >>> as_graph(torch.tensor([[0, 1], [1, 2]]), n_nodes=4).n_nodes
        4
    """
    if isinstance(source, Graph):
        return _checked(source, n_nodes)
    sparse = sp.issparse(source)
    if sparse:
        return _checked(Graph.from_scipy(source, x=_placeholder(source.shape[0])), n_nodes)
    edges = getattr(source, "edge_index", source)
    weights = None if edges is source else pyg_weights(source)
    if n_nodes is None and edges is not source:
        n_nodes = source.num_nodes
    if isinstance(edges, torch.Tensor):
        edges = edges.detach().cpu().numpy()
    if not isinstance(edges, np.ndarray):
        raise InputError(
            f"cannot read a graph from {type(source).__name__}: pass an imgcl Graph, an edge_index (2, E), "
            "a torch_geometric Data or a scipy matrix"
        )
    n = int(edges.max(initial=-1)) + 1 if n_nodes is None else int(n_nodes)
    return Graph.from_edges(edges, x=_placeholder(n), edge_weight=weights, n_nodes=n)


def as_labels(labels: Any, n_nodes: int, what: str = "labels") -> NDArray[np.int64]:
    """Class numbers 0..K-1, one for each node, checked.

    Example:
        >>> as_labels(torch.tensor([0, 2, 1]), n_nodes=3).tolist()
        [0, 2, 1]
    """
    if isinstance(labels, torch.Tensor):
        labels = labels.detach().cpu().numpy()
    array = np.asarray(labels)
    if array.shape != (n_nodes,):
        raise InputError(f"{what} have shape {array.shape}, expected ({n_nodes},): one class per node")
    if array.dtype.kind not in "iu":
        raise InputError(f"{what} have dtype {array.dtype}: classes must be integers 0..K-1")
    bad = np.flatnonzero(array < 0)
    if len(bad):
        raise InputError(f"{what}[{bad[0]}] is {array[bad[0]]}: every node needs a class 0..K-1 here")
    return array.astype(np.int64)


def _checked(graph: Graph, n_nodes: int | None) -> Graph:
    if n_nodes is not None and graph.n_nodes != n_nodes:
        raise InputError(f"n_nodes is {n_nodes}, but the graph has {graph.n_nodes} nodes: leave n_nodes out")
    return graph


def _placeholder(n: int) -> NDArray[np.float32]:
    return np.zeros((n, 1), dtype=np.float32)
