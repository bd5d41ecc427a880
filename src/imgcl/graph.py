"""The one graph type of the package.

A :class:`Graph` is an immutable view on arrays: a symmetric CSR adjacency without self-loops or duplicates,
features (dense or sparse), optional labels and names. The arrays may be memory-mapped; nothing here copies
them. Constructors that take other people's data (:meth:`Graph.from_scipy`, :meth:`Graph.from_edges`,
:meth:`Graph.from_pyg`, :meth:`Graph.from_networkx`) validate it, clean it, and count what they cleaned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from imgcl.errors import GraphError

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

Features = np.ndarray | sp.csr_array
HASH_CHUNK = 1 << 22  # entries hashed at once, so that a memory-mapped array is never loaded whole


@dataclass(frozen=True)
class Cleaning:
    """What was removed or added to make an edge list a simple undirected graph."""

    self_loops: int = 0
    duplicates: int = 0
    one_directional: int = 0

    def __str__(self) -> str:
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (self.self_loops, "self-loops removed"),
                (self.duplicates, "duplicate edges merged"),
                (self.one_directional, "one-directional edges mirrored"),
            )
            if count
        ]
        return ", ".join(parts) or "nothing to clean"


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple undirected graph with features and, perhaps, labels.

    The constructor trusts its arguments (it is what memory-mapped stores use); build a graph from your own
    data with one of the ``from_*`` methods.

    Attributes:
        indptr: CSR row pointers, length N + 1.
        indices: CSR column indices, sorted within each row; every edge appears in both directions.
        x: features, a float array (N, F) or a ``scipy.sparse.csr_array``.
        y: labels 0..K-1, or -1 where unknown; ``None`` when there are none at all.
        name: what to call the graph in tables and files.
        node_names: one name per node, or ``None``.
        feature_names: one name per feature, or ``None``.
        class_names: one name per class, or ``None``.
        cleaning: what the constructor cleaned.

    Example:
        >>> import numpy as np
        >>> graph = Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3), y=[0, 1, -1])
        >>> graph.n_nodes, graph.n_edges, graph.n_classes
        (3, 2, 2)
    """

    indptr: NDArray[np.integer[Any]]
    indices: NDArray[np.integer[Any]]
    x: Features
    y: NDArray[np.int64] | None = None
    name: str = "graph"
    node_names: Sequence[str] | None = None
    feature_names: Sequence[str] | None = None
    class_names: Sequence[str] | None = None
    cleaning: Cleaning = field(default_factory=Cleaning)

    def __post_init__(self) -> None:
        for array in (self.indptr, self.indices, self.x, self.y):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    # ------------------------------------------------------------------ sizes

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return len(self.indices) // 2

    @property
    def n_features(self) -> int:
        return int(self.x.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, 0 without labels."""
        if self.y is None or not len(self.y):
            return 0
        return max(int(self.y.max()) + 1, len(self.class_names or ()))

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """Number of labelled nodes per class."""
        if self.y is None:
            raise GraphError(f"graph {self.name!r} has no labels")
        return np.bincount(self.y[self.y >= 0], minlength=self.n_classes)

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        return np.diff(self.indptr).astype(np.int64)

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """The adjacency as a scipy matrix of ones (shares the index arrays)."""
        ones = np.ones(len(self.indices), dtype=np.float32)
        return sp.csr_array((ones, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    # ------------------------------------------------------------------ identity

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content (edges, features, labels), the same on every machine and index width."""
        digest = hashlib.blake2b(digest_size=16)
        _hash_array(digest, self.indptr, np.dtype("<i8"))
        _hash_array(digest, self.indices, np.dtype("<i8"))
        digest.update(repr(tuple(int(size) for size in self.x.shape)).encode())
        if isinstance(self.x, np.ndarray):
            _hash_array(digest, self.x, np.dtype("<f4"))
        else:
            _hash_array(digest, self.x.indptr, np.dtype("<i8"))
            _hash_array(digest, self.x.indices, np.dtype("<i8"))
            _hash_array(digest, self.x.data, np.dtype("<f4"))
        if self.y is not None:
            _hash_array(digest, self.y, np.dtype("<i8"))
        return digest.hexdigest()

    def summary(self) -> dict[str, Any]:
        """The facts worth printing, as plain values."""
        isolated = int((self.degree == 0).sum())
        facts: dict[str, Any] = {
            "name": self.name,
            "nodes": self.n_nodes,
            "edges": self.n_edges,
            "mean degree": round(2 * self.n_edges / self.n_nodes, 2),
            "isolated nodes": isolated,
            "features": self.n_features,
            "feature storage": "dense" if isinstance(self.x, np.ndarray) else "sparse",
            "classes": self.n_classes,
        }
        if self.y is not None:
            sizes = self.class_sizes
            present = sizes[sizes > 0]
            facts["labelled nodes"] = int(sizes.sum())
            facts["class sizes"] = sizes.tolist()
            if len(present):
                facts["class-size ratio"] = round(float(present.max() / present.min()), 2)
        facts["cleaned"] = str(self.cleaning)
        facts["fingerprint"] = self.fingerprint
        return facts

    def __repr__(self) -> str:
        return (
            f"Graph({self.name!r}, nodes={self.n_nodes}, edges={self.n_edges}, "
            f"features={self.n_features}, classes={self.n_classes})"
        )

    # ------------------------------------------------------------------ derived graphs

    def subgraph(self, nodes: ArrayLike) -> Graph:
        """The graph induced by ``nodes`` (indices), in that order."""
        keep = np.asarray(nodes, dtype=np.int64)
        if not len(keep):
            raise GraphError(f"a subgraph of {self.name!r} needs at least one node")
        adjacency = self.adjacency[keep][:, keep].tocsr()
        adjacency.sort_indices()
        names = None if self.node_names is None else [self.node_names[i] for i in keep]
        return replace(
            self,
            indptr=adjacency.indptr,
            indices=adjacency.indices,
            x=self.x[keep],
            y=None if self.y is None else self.y[keep],
            node_names=names,
        )

    def with_labels(self, y: ArrayLike | None, class_names: Sequence[str] | None = None) -> Graph:
        """The same graph with other labels."""
        labels = None if y is None else _check_labels(y, self.n_nodes, class_names)
        return replace(self, y=labels, class_names=class_names)

    # ------------------------------------------------------------------ from other people's data

    @classmethod
    def from_scipy(
        cls, adjacency: sp.sparray | sp.spmatrix | np.ndarray, x: Any, y: ArrayLike | None = None, **names: Any
    ) -> Graph:
        """Build a graph from an adjacency matrix; entries other than zero are edges."""
        matrix = sp.coo_array(adjacency)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(
                f"adjacency has shape {matrix.shape}: it must be square, one row and one column per node"
            )
        present = matrix.data != 0
        edges = np.stack([matrix.coords[0][present], matrix.coords[1][present]])
        return cls.from_edges(edges, x, y, n_nodes=matrix.shape[0], **names)

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        x: Any,
        y: ArrayLike | None = None,
        *,
        n_nodes: int | None = None,
        name: str = "graph",
        node_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
    ) -> Graph:
        """Build a graph from an edge list.

        Args:
            edges: integer array (2, E); direction, duplicates and self-loops do not matter and are cleaned.
            x: features, (N, F), dense or scipy sparse.
            y: labels, 0..K-1 or -1 for unlabelled.
            n_nodes: number of nodes; by default the number of feature rows.
            name: what to call the graph.
            node_names: one per node.
            feature_names: one per feature.
            class_names: one per class.
        """
        if x is None:
            raise GraphError(
                "the graph has no features: pass x with one row per node "
                "(scipy.sparse.eye_array(n_nodes) gives every node a feature of its own)"
            )
        features = _check_features(x)
        n = int(features.shape[0]) if n_nodes is None else int(n_nodes)
        if n == 0:
            raise GraphError("the graph is empty: it has no nodes")
        if features.shape[0] != n:
            raise GraphError(f"x has {features.shape[0]} rows but the graph has {n} nodes: give one row per node")
        labels = None if y is None else _check_labels(y, n, class_names)
        for what, given, size in (
            ("node_names", node_names, n),
            ("feature_names", feature_names, int(features.shape[1])),
        ):
            if given is not None and len(given) != size:
                raise GraphError(f"{what} has length {len(given)}, expected {size}")
        indptr, indices, cleaning = _symmetric_csr(_check_edges(edges, n), n)
        return cls(
            indptr, indices, features, labels, name, node_names, feature_names, class_names, cleaning=cleaning
        )

    @classmethod
    def from_pyg(cls, data: Data, **names: Any) -> Graph:
        """Build a graph from a ``torch_geometric.data.Data`` (``x``, ``edge_index``, ``y``)."""
        if data.edge_index is None:
            raise GraphError("the torch_geometric Data has no edge_index")
        x = None if data.x is None else data.x
        if x is not None:
            x = _torch_to_scipy(x) if x.layout is not _strided() else x.detach().cpu().numpy()
        y = None
        if data.y is not None:
            y = data.y.detach().cpu().numpy()
            y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        return cls.from_edges(data.edge_index.detach().cpu().numpy(), x, y, n_nodes=data.num_nodes, **names)

    @classmethod
    def from_networkx(
        cls, graph: nx.Graph, x: Any = None, y: ArrayLike | None = None, *, feature: str = "x", label: str = "y", **names: Any
    ) -> Graph:
        """Build a graph from networkx; nodes keep networkx's order and their keys become node names.

        Args:
            graph: any networkx graph; direction and multiplicity are cleaned.
            x: features in node order; by default the node attribute ``feature``.
            y: labels in node order; by default the node attribute ``label`` where present (-1 elsewhere).
            feature: name of the node attribute with the feature vector.
            label: name of the node attribute with the label.
            **names: see :meth:`from_edges`.
        """
        nodes = list(graph.nodes)
        position = {node: i for i, node in enumerate(nodes)}
        pairs = [(position[u], position[v]) for u, v in graph.edges()]
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        if not graph.is_directed():
            edges = np.concatenate([edges, edges[::-1, edges[0] != edges[1]]], axis=1)
        if x is None and nodes:
            missing = next((node for node in nodes if feature not in graph.nodes[node]), None)
            if missing is not None:
                raise GraphError(f"node {missing!r} has no attribute {feature!r}: set it on every node, or pass x")
            x = np.stack([np.atleast_1d(np.asarray(graph.nodes[node][feature], dtype=np.float32)) for node in nodes])
        if y is None and any(label in graph.nodes[node] for node in nodes):
            y = [graph.nodes[node].get(label, -1) for node in nodes]
        names.setdefault("node_names", [str(node) for node in nodes])
        return cls.from_edges(edges, np.zeros((0, 1)) if x is None else x, y, n_nodes=len(nodes), **names)

    def to_pyg(self) -> Data:
        """The graph as ``torch_geometric.data.Data``; sparse features become a torch sparse CSR tensor."""
        import torch
        from torch_geometric.data import Data

        rows = np.repeat(np.arange(self.n_nodes), self.degree)
        edge_index = torch.from_numpy(np.stack([rows, np.asarray(self.indices, dtype=np.int64)]))
        if isinstance(self.x, np.ndarray):
            x = torch.from_numpy(np.array(self.x, dtype=np.float32))
        else:
            x = torch.sparse_csr_tensor(
                torch.from_numpy(self.x.indptr.astype(np.int64)),
                torch.from_numpy(self.x.indices.astype(np.int64)),
                torch.from_numpy(self.x.data.astype(np.float32)),
                size=self.x.shape,
            )
        y = None if self.y is None else torch.from_numpy(np.array(self.y))
        return Data(x=x, edge_index=edge_index, y=y, num_nodes=self.n_nodes)


def _symmetric_csr(edges: NDArray[np.int64], n: int) -> tuple[NDArray[Any], NDArray[Any], Cleaning]:
    """Sorted CSR of the simple undirected graph, and what was cleaned on the way."""
    loops = edges[0] == edges[1]
    source, target = edges[0][~loops], edges[1][~loops]
    ones = np.ones(len(source), dtype=np.int8)
    directed = sp.coo_array((ones, (source, target)), shape=(n, n)).tocsr()  # merges duplicates
    directed.data = np.ones(directed.nnz, dtype=np.int8)
    both = (directed + directed.T).tocsr()
    both.sort_indices()
    cleaning = Cleaning(
        self_loops=int(loops.sum()),
        duplicates=len(source) - int(directed.nnz),
        one_directional=int(both.nnz) - int(directed.nnz),
    )
    return both.indptr, both.indices, cleaning


def _check_edges(edges: ArrayLike, n: int) -> NDArray[np.int64]:
    array = np.asarray(edges)
    if array.size == 0:
        return np.zeros((2, 0), dtype=np.int64)
    if array.ndim != 2 or array.shape[0] != 2:
        raise GraphError(f"edges has shape {array.shape}: it must be (2, E), one column per edge")
    if array.dtype.kind not in "iu":
        raise GraphError(f"edges has dtype {array.dtype}: node numbers must be integers")
    outside = (array < 0) | (array >= n)
    if outside.any():
        column = int(np.flatnonzero(outside.any(axis=0))[0])
        raise GraphError(
            f"edge {column} is ({array[0, column]}, {array[1, column]}): node numbers must be 0..{n - 1} "
            f"for {n} nodes"
        )
    return array.astype(np.int64, copy=False)


def _check_features(x: Any) -> Features:
    if sp.issparse(x):
        matrix = sp.csr_array(x, dtype=np.float32)
        matrix.sum_duplicates()
        values: np.ndarray = matrix.data
    else:
        dense = np.asarray(x)
        if dense.ndim != 2:
            raise GraphError(f"x has shape {dense.shape}: it must be (nodes, features)")
        if dense.dtype.kind not in "fiub":
            raise GraphError(f"x has dtype {dense.dtype}: features must be numbers")
        if dense.dtype == np.float16:
            matrix = dense  # half precision is a storage choice of large graphs: keep it
        else:
            matrix = np.ascontiguousarray(dense, dtype=np.float32)
        values = matrix
    if matrix.shape[1] == 0:
        raise GraphError("x has no columns: give at least one feature")
    bad = ~np.isfinite(values)
    if bad.any():
        where = np.argwhere(bad)[0]
        if sp.issparse(matrix):
            row = int(np.searchsorted(matrix.indptr, where[0], side="right")) - 1
            column = int(matrix.indices[where[0]])
            value = matrix.data[where[0]]
        else:
            row, column = int(where[0]), int(where[1])
            value = matrix[row, column]
        raise GraphError(
            f"x[{row}, {column}] is {value} ({int(bad.sum())} such values): features must be finite; "
            "fill or drop missing values first"
        )
    return matrix


def _check_labels(y: ArrayLike, n: int, class_names: Sequence[str] | None) -> NDArray[np.int64]:
    array = np.asarray(y)
    if array.ndim != 1 or len(array) != n:
        raise GraphError(f"labels have shape {array.shape}, expected ({n},): one label per node, -1 for unlabelled")
    if array.dtype.kind == "f" and np.all(array == np.floor(array)):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise GraphError(f"labels have dtype {array.dtype}: labels must be integers 0..K-1, or -1 for unlabelled")
    negative = np.flatnonzero(array < -1)
    if len(negative):
        first = int(negative[0])
        raise GraphError(f"labels[{first}] is {array[first]}: labels must be 0..K-1, or -1 for unlabelled")
    if class_names is not None and len(array) and array.max() >= len(class_names):
        first = int(np.argmax(array >= len(class_names)))
        raise GraphError(f"labels[{first}] is {array[first]} but there are {len(class_names)} class names")
    return array.astype(np.int64)


def _torch_to_scipy(x: Any) -> sp.csr_array:
    csr = x.detach().cpu().to_sparse_csr()
    return sp.csr_array(
        (csr.values().numpy(), csr.col_indices().numpy(), csr.crow_indices().numpy()), shape=tuple(csr.shape)
    )


def _strided() -> Any:
    import torch

    return torch.strided


def _hash_array(digest: Any, array: np.ndarray, dtype: np.dtype[Any]) -> None:
    for chunk in _chunks(array):
        digest.update(np.ascontiguousarray(chunk, dtype=dtype).tobytes())


def _chunks(array: np.ndarray) -> Iterator[np.ndarray]:
    rows = max(1, HASH_CHUNK // max(1, int(np.prod(array.shape[1:]))))
    for start in range(0, len(array), rows):
        yield array[start : start + rows]
