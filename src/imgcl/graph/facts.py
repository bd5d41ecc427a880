"""What a graph says of itself: the facts worth printing, and a hash that tells two graphs apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from imgcl.graph.checks import DIRECTIONS

if TYPE_CHECKING:
    from imgcl.graph.graph import Graph
    from imgcl.graph.relations import Relation

AT_ONCE = 1 << 22  # entries


def summary(graph: Graph) -> dict[str, Any]:
    """The facts worth printing, as plain values."""
    isolated = int((graph.degree == 0).sum())
    facts: dict[str, Any] = {
        "name": graph.name,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "mean degree": round(2 * graph.n_edges / graph.n_nodes, 2),
        "isolated nodes": isolated,
        "edge weights": _weight_range(graph),
        "direction": DIRECTIONS["both"],
        **_relation_facts(graph),
        **graph.notes,
        **_time_facts(graph),
        "features": graph.n_features,
        "feature storage": "none" if not graph.n_features else "dense" if isinstance(graph.x, np.ndarray) else "sparse",
        "classes": graph.n_classes,
    }
    if graph.y is not None:
        sizes = graph.class_sizes
        present = sizes[sizes > 0]
        facts["labelled nodes"] = int(sizes.sum())
        facts["class sizes"] = sizes.tolist()
        if len(present):
            facts["class-size ratio"] = round(float(present.max() / present.min()), 2)
    facts["cleaned"] = str(graph.cleaning)
    facts["fingerprint"] = graph.fingerprint
    return facts


def _weight_range(graph: Graph) -> str:
    if graph.edge_weight is None:
        return "none"
    low, high = (float(bound) for bound in (graph.edge_weight.min(), graph.edge_weight.max()))
    return f"{low:g} to {high:g}, mean {float(graph.edge_weight.mean(dtype=np.float64)):.3g}"


def _time_facts(graph: Graph) -> dict[str, str]:
    time = graph.node_time
    return {} if time is None else {"node time": f"{time.range} (column {time.column!r})"}


def _relation_facts(graph: Graph) -> dict[str, str]:
    each = ", ".join(f"{relation.name} ({relation.n_edges:,} edges)" for relation in graph.relations)
    return {"relations": f"side by side: {each}"} if each else {}


def fingerprint(graph: Graph) -> str:
    """Hash of edges, weights, direction, relations, features and labels."""
    digest = hashlib.blake2b(digest_size=16)
    _hash_array(digest, graph.indptr, np.dtype("<i8"))
    _hash_array(digest, graph.indices, np.dtype("<i8"))
    digest.update(repr(tuple(int(size) for size in graph.x.shape)).encode())
    if isinstance(graph.x, np.ndarray):
        _hash_array(digest, graph.x, np.dtype("<f4"))
    else:
        _hash_array(digest, graph.x.indptr, np.dtype("<i8"))
        _hash_array(digest, graph.x.indices, np.dtype("<i8"))
        _hash_array(digest, graph.x.data, np.dtype("<f4"))
    if graph.y is not None:
        _hash_array(digest, graph.y, np.dtype("<i8"))
    _hash_weights(digest, graph.edge_weight)
    for relation in graph.relations:
        digest.update(repr(("relation", relation.name)).encode())
        _hash_edges(digest, relation)
    if graph.received is not None:
        digest.update(b"received")
        _hash_edges(digest, graph.received)
    return digest.hexdigest()


def _hash_edges(digest: Any, edges: Relation) -> None:
    _hash_array(digest, edges.indptr, np.dtype("<i8"))
    _hash_array(digest, edges.indices, np.dtype("<i8"))
    _hash_weights(digest, edges.edge_weight)


def _hash_weights(digest: Any, weights: np.ndarray | None) -> None:
    if weights is not None:
        digest.update(b"edge_weight")
        _hash_array(digest, weights, np.dtype("<f4"))


def _hash_array(digest: Any, array: np.ndarray, dtype: np.dtype[Any]) -> None:
    for chunk in chunks(array):
        digest.update(np.ascontiguousarray(chunk, dtype=dtype).tobytes())


def chunks(array: np.ndarray) -> Iterator[np.ndarray]:
    """An array by rows, a few million entries at once, so that a memory-mapped one is never loaded whole."""
    rows = max(1, AT_ONCE // max(1, int(np.prod(array.shape[1:]))))
    for start in range(0, len(array), rows):
        yield array[start : start + rows]
