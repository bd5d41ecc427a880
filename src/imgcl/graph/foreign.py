"""Graphs of other libraries, torch_geometric and networkx: their parts as arrays, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.arrays import as_array
from imgcl._core.errors import GraphError
from imgcl._core.extras import need
from imgcl._core.quiet import without_warning
from imgcl._core.unlabelled import label_array
from imgcl.graph.checks import Features

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    from imgcl.graph.graph import Graph


USUAL = {"feature": "x", "label": "y", "weight": "weight"}  # attributes of networkx's graphs that are looked for


def pyg_parts(data: Data, *, weighted: bool) -> dict[str, Any]:
    """What :meth:`imgcl.Graph.from_edges` takes, from a torch_geometric ``Data``."""
    if getattr(data, "edge_index", None) is None:
        hint = "only homogeneous graphs with edges are read"
        if getattr(data, "adj_t", None) is not None:  # of the transform ToSparseTensor
            hint = "it has adj_t in its place; read it before the transform ToSparseTensor"
        raise GraphError(f"the torch_geometric Data has no edge_index: {hint}")
    x, y = getattr(data, "x", None), getattr(data, "y", None)
    return {
        "edges": as_array(data.edge_index),
        "x": x,
        "y": None if y is None else _label_column(y),
        "edge_weight": pyg_weights(data) if weighted else None,
        "n_nodes": data.num_nodes if "num_nodes" in data else None,
    }


def hetero_parts(data: Any, *, weighted: bool) -> dict[str, Any]:
    """What :meth:`imgcl.Graph.from_relations` takes, from a ``HeteroData`` with one type of nodes."""
    if len(data.node_types) != 1:
        kinds = ", ".join(map(repr, data.node_types))
        raise GraphError(
            f"the HeteroData has {len(data.node_types)} types of nodes ({kinds}), a graph has one: link the nodes to "
            "classify directly (torch_geometric's AddMetaPaths), or use `data.to_homogeneous()`"
        )
    nodes, edges = data[data.node_types[0]], {kind[1]: data[kind] for kind in data.edge_types}
    x, y = nodes.get("x"), nodes.get("y")
    return {
        "edges": {name: as_array(store.edge_index) for name, store in edges.items()},
        "x": x,
        "y": None if y is None else _label_column(y),
        "edge_weight": {name: pyg_weights(store) if weighted else None for name, store in edges.items()},
        "n_nodes": nodes.num_nodes,
    }


def _label_column(y: Any) -> NDArray[Any]:
    """Labels, also where they are a matrix of one column."""
    labels = label_array(y)
    return labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels


def pyg_weights(data: Any) -> np.ndarray | None:
    """``edge_weight`` of a torch_geometric ``Data``, or its ``edge_attr`` where that has one column."""
    weights, attributes = (getattr(data, name, None) for name in ("edge_weight", "edge_attr"))
    if weights is not None:
        return as_array(weights)
    if attributes is None or (attributes.ndim == 2 and attributes.shape[1] != 1):
        return None
    values = as_array(attributes)
    if values.dtype.kind not in "fiub" or not (values > 0).all():
        raise GraphError(
            "edge_attr has one column, which is read as weights, and they are not all above 0: pass weighted=False, "
            "or the weights as edge_weight"
        )
    return values


def networkx_parts(
    graph: nx.Graph, x: Any, y: Any, feature: str, label: str, weight: str | None, names: dict[str, Any]
) -> dict[str, Any]:
    """What :meth:`imgcl.Graph.from_edges` takes, from a networkx graph; ``names`` are the caller's."""
    nodes = list(graph.nodes)
    if not nodes:
        raise GraphError("the graph is empty: it has no nodes")
    edges, weights = _networkx_edges(graph, {node: i for i, node in enumerate(nodes)}, weight)
    if weights is None and weight is not None and edges.size:
        _check_usual("weight", weight, "edge")
    if x is None and any(feature in graph.nodes[node] for node in nodes):
        x = _networkx_features(graph, nodes, feature)
    elif x is None:
        _check_usual("feature", feature, "node")
    if y is None and any(label in graph.nodes[node] for node in nodes):
        y = [graph.nodes[node].get(label) for node in nodes]
    elif y is None:
        _check_usual("label", label, "node")
    if names.get("node_names") is None:
        names = {**names, "node_names": _networkx_names(nodes)}
    return {"edges": edges, "x": x, "y": y, "edge_weight": weights, "n_nodes": len(nodes), **names}


def _check_usual(what: str, attribute: str, of: str) -> None:
    """Refuse an attribute that nothing has, unless it is the one that is looked for where none is named."""
    if attribute != USUAL[what]:
        raise GraphError(
            f"no {of} has the attribute {attribute!r} (`{what}`): name one that they have, or leave it out"
        )


def _networkx_edges(
    graph: nx.Graph, position: dict[Any, int], weight: str | None
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Node numbers (2, E) and weights, undirected edges in both directions."""
    found = list(graph.edges(data=weight)) if weight is not None else [(*pair, None) for pair in graph.edges()]
    edges = np.array([(position[u], position[v]) for u, v, _ in found], dtype=np.int64).reshape(-1, 2).T
    weights = None
    if any(value is not None for *_, value in found):
        weights = np.array([_networkx_weight(edge, weight) for edge in found], dtype=np.float64)
    if not graph.is_directed():
        proper = edges[0] != edges[1]
        edges = np.concatenate([edges, edges[::-1, proper]], axis=1)
        weights = None if weights is None else np.concatenate([weights, weights[proper]])
    return edges, weights


def _networkx_weight(edge: tuple[Any, Any, Any], weight: str | None) -> float:
    u, v, value = edge
    if value is None:
        return 1.0
    try:
        return float(value)
    except (TypeError, ValueError):
        raise GraphError(
            f"{weight!r} of edge ({u!r}, {v!r}) is {value!r}: weights must be numbers; pass `weight=None` to use none"
        ) from None


def _networkx_features(graph: nx.Graph, nodes: Sequence[Any], feature: str) -> np.ndarray:
    missing = next((node for node in nodes if feature not in graph.nodes[node]), None)
    if missing is not None:
        raise GraphError(f"node {missing!r} has no attribute {feature!r}: set it on every node, or pass x")
    rows = [np.atleast_1d(graph.nodes[node][feature]) for node in nodes]
    odd = next((i for i, row in enumerate(rows) if row.shape != rows[0].shape), None)
    if odd is not None:
        raise GraphError(
            f"{feature!r} of node {nodes[odd]!r} has shape {rows[odd].shape} but {rows[0].shape} "
            f"at node {nodes[0]!r}: every node needs the same number of features"
        )
    return np.stack(rows)


def _networkx_names(nodes: Sequence[Any]) -> list[str]:
    first: dict[str, Any] = {}
    for node in nodes:
        if first.setdefault(str(node), node) is not node:
            raise GraphError(
                f"nodes {first[str(node)]!r} and {node!r} are both called {str(node)!r}: rename one, or pass node_names"
            )
    return list(first)


def pyg_data(graph: Graph) -> Data:
    """The graph as torch_geometric's ``Data``."""
    need("pyg", "Graph.to_pyg")
    import torch
    from torch_geometric.data import Data

    lists = graph.messages
    rows, seen = np.repeat(np.arange(graph.n_nodes), lists.degree), np.asarray(lists.indices, dtype=np.int64)
    edge_index = torch.from_numpy(np.stack([rows, seen] if graph.received is None else [seen, rows]))
    y = None if graph.y is None else torch.from_numpy(np.array(graph.y))
    data = Data(x=_torch_tensor(graph.x), edge_index=edge_index, y=y, num_nodes=graph.n_nodes)
    if lists.edge_weight is not None:
        data.edge_weight = torch.from_numpy(np.array(lists.edge_weight))
    return data


def _torch_tensor(x: Features) -> Any:
    import torch

    if isinstance(x, np.ndarray):
        return torch.from_numpy(np.array(x, dtype=np.float32))
    with without_warning("Sparse CSR tensor support is in beta"):  # announced once per process
        return torch.sparse_csr_tensor(
            torch.from_numpy(x.indptr.astype(np.int64)),
            torch.from_numpy(x.indices.astype(np.int64)),
            torch.from_numpy(x.data.astype(np.float32)),
            size=x.shape,
            check_invariants=True,
        )
