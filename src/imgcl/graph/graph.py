"""The one graph type of the package.

A :class:`Graph` is an immutable view on arrays, which may be memory-mapped: a symmetric CSR adjacency without
self-loops or duplicates, features (dense or sparse), optional edge weights, labels and names. The ``from_*``
constructors validate data from outside, clean it, and count what they cleaned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import GraphError
from imgcl.graph.checks import (
    DIRECTIONS,
    Cleaning,
    Features,
    check_edges,
    check_feature_names,
    check_features,
    check_labels,
    check_names,
    check_nodes,
    check_weights,
    no_features,
    read_only,
    symmetric_csr,
)
from imgcl.graph.facts import fingerprint, summary
from imgcl.graph.foreign import hetero_parts, networkx_parts, pyg_data, pyg_parts
from imgcl.graph.frames import FromFrames
from imgcl.graph.given import as_adjacency
from imgcl.graph.relations import Relation, joined_edges, received_lists, side_by_side
from imgcl.graph.time import NodeTime

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data, HeteroData


@dataclass(frozen=True, eq=False)
class Graph(FromFrames):
    """A simple undirected graph with features and, perhaps, edge weights and labels.

    The constructor trusts its arguments (it is what memory-mapped stores use); build a graph from your own
    data with one of the ``from_*`` methods.

    Attributes:
        indptr: CSR row pointers, length N + 1.
        indices: CSR column indices, sorted within each row; every edge appears in both directions.
        x: features, a float array (N, F) or a ``scipy.sparse.csr_array``; F is 0 where the nodes have none.
        y: labels 0..K-1, or -1 where unknown; ``None`` when there are none at all.
        name: what to call the graph in tables and files.
        node_names: one name per node, or ``None``.
        feature_names: one name per feature, or ``None``.
        class_names: one name per class, or ``None``.
        cleaning: what the constructor cleaned.
        edge_weight: positive weight of every entry of ``indices``, equal in both directions; ``None``: all weigh 1.
        relations: kinds of edges, kept side by side as well (:meth:`from_relations`); ``indices`` has those of all.
        node_time: when every node came into being, where that is known.
        received: the nodes whose features each node sees, where ``directed_as`` is one way; ``None``: all neighbours.
        notes: what else is known, by what it is about, for :meth:`summary`.

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
    edge_weight: NDArray[np.float32] | None = None
    relations: tuple[Relation, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    node_time: NodeTime | None = None
    received: Relation | None = None

    def __post_init__(self) -> None:
        for name in ("indptr", "indices", "x", "y", "edge_weight"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        object.__setattr__(self, "relations", tuple(each.frozen() for each in self.relations))
        object.__setattr__(self, "received", None if self.received is None else self.received.frozen())

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
    def n_occurring_classes(self) -> int:
        """Number of classes that at least one node has, 0 without labels."""
        return 0 if self.y is None else int((self.class_sizes > 0).sum())

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """Number of labelled nodes per class."""
        if self.y is None:
            raise GraphError(f"graph {self.name!r} has no labels")
        return np.bincount(self.y[self.y >= 0], minlength=self.n_classes)

    @property
    def direction(self) -> str:
        """How edges pass features: ``in`` or ``out``, see ``directed_as``, or ``both`` ways, as ``mutual`` ones do."""
        one = "out" if self.notes.get("direction") == DIRECTIONS["out"] else "in"
        return "both" if self.received is None else one

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """Number of neighbours of every node."""
        return np.diff(self.indptr).astype(np.int64)

    @cached_property
    def weighted_degree(self) -> NDArray[np.float64]:
        """Sum of the weights of every node's edges; without weights its number of neighbours.

        Example:
            >>> Graph.from_edges([[0, 1], [1, 2]], edge_weight=[0.5, 2.0]).weighted_degree.tolist()
            [0.5, 2.5, 2.0]
        """
        if self.edge_weight is None:
            return self.degree.astype(np.float64)
        sums = np.zeros(self.n_nodes)
        occupied = np.flatnonzero(self.degree)  # reduceat gives an empty row the next one's first value
        if len(occupied):
            sums[occupied] = np.add.reduceat(self.edge_weight, self.indptr[:-1][occupied], dtype=np.float64)
        return sums

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """The adjacency as a scipy matrix of weights, or of ones (shares the arrays)."""
        values = np.ones(len(self.indices), dtype=np.float32) if self.edge_weight is None else self.edge_weight
        return sp.csr_array((values, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    @cached_property
    def fingerprint(self) -> str:
        """Hash of edges, weights, relations, features and labels, the same on every machine and index width."""
        return fingerprint(self)

    def summary(self) -> dict[str, Any]:
        """The facts worth printing, as plain values."""
        return summary(self)

    def __repr__(self) -> str:
        return (
            f"Graph({self.name!r}, nodes={self.n_nodes}, edges={self.n_edges}, "
            f"features={self.n_features}, classes={self.n_classes})"
        )

    def subgraph(self, nodes: ArrayLike) -> Graph:
        """The graph induced by ``nodes`` (distinct node numbers, or a mask), in that order."""
        keep = check_nodes(nodes, self.n_nodes)
        adjacency = self.adjacency[keep][:, keep].tocsr()
        adjacency.sort_indices()
        return replace(
            self,
            indptr=adjacency.indptr,
            indices=adjacency.indices,
            x=self.x[keep],
            y=None if self.y is None else self.y[keep],
            node_names=None if self.node_names is None else tuple(self.node_names[i] for i in keep),
            cleaning=Cleaning(),
            edge_weight=None if self.edge_weight is None else adjacency.data,
            relations=tuple(relation.subgraph(keep) for relation in self.relations),
            node_time=None if self.node_time is None else self.node_time.subset(keep),
            received=None if self.received is None else self.received.subgraph(keep),
        )

    @cached_property
    def messages(self) -> Graph:
        """What features pass along: the graph itself, or with ``received`` one-directional lists as its edges."""
        return self if self.received is None else self._along(self.received)

    def _along(self, edges: Relation) -> Graph:
        return replace(
            self,
            indptr=edges.indptr,
            indices=edges.indices,
            edge_weight=edges.edge_weight,
            relations=(),
            received=None,
            cleaning=Cleaning(),
        )

    def relation(self, name: str) -> Graph:
        """The same nodes with the edges of one relation alone.

        Raises:
            GraphError: when there is none of that name.
        """
        found = next((each for each in self.relations if each.name == name), None)
        if found is None:
            known = ", ".join(repr(each.name) for each in self.relations) or "none"
            raise GraphError(f"graph {self.name!r} has no relation {name!r} side by side: it has {known}")
        return self._along(found)

    def with_labels(self, y: ArrayLike | None, class_names: Sequence[str] | None = None) -> Graph:
        """The same graph with other labels."""
        names = check_names("class_names", class_names)
        labels = None if y is None else check_labels(y, self.n_nodes, names, self.node_names)
        return replace(self, y=labels, class_names=names)

    @classmethod
    def from_scipy(
        cls, adjacency: Any, x: Any = None, y: ArrayLike | None = None, *, weighted: bool = False, **names: Any
    ) -> Graph:
        """Build a graph from an adjacency matrix; entries other than zero are edges.

        Args:
            adjacency: square, sparse or dense.
            x: see :meth:`from_edges`.
            y: likewise.
            weighted: the entries are edge weights; by default their values are not used.
            **names: likewise.

        Example:
            >>> Graph.from_scipy([[0, 3], [3, 0]], weighted=True).edge_weight.tolist()
            [3.0, 3.0]
        """
        matrix = as_adjacency(adjacency)
        weights = matrix.data if weighted else None
        return cls.from_edges(np.stack(matrix.coords), x, y, edge_weight=weights, n_nodes=matrix.shape[0], **names)

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        x: Any = None,
        y: ArrayLike | None = None,
        *,
        edge_weight: ArrayLike | None = None,
        directed_as: str = "both",
        n_nodes: int | None = None,
        name: str = "graph",
        node_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
    ) -> Graph:
        """Build a graph from an edge list.

        Args:
            edges: integer array (2, E); direction, duplicates and self-loops do not matter and are cleaned.
            x: features, (N, F), dense or scipy sparse; without them ``load_graph`` makes some from the edges.
            y: labels, integers 0..K-1; -1, None, NaN and the like (``docs/own_graph.md``) for unlabelled.
            edge_weight: weight of every edge of the list, positive. Weights of duplicates are summed; an edge that is
                given in both directions has the mean of its two weights. By default all edges weigh 1.
            directed_as: ``both``: an edge in either direction links both its ends; ``mutual``: only nodes that point at
                each other are linked; ``in``, ``out``: a node sees the features of the nodes that point at it, or that
                it points at, while centrality, communities and walks take edges as with ``both``.
            n_nodes: number of nodes; by default the number of feature rows, or the largest node number and one.
            name: what to call the graph.
            node_names: one per node.
            feature_names: one per feature; by default the columns of an ``x`` that is a pandas ``DataFrame``.
            class_names: one per class.
        """
        features = no_features(edges, n_nodes) if x is None else check_features(x, node_names)
        n = int(features.shape[0]) if n_nodes is None else int(n_nodes)
        if n < 1:
            raise GraphError("the graph is empty: it has no nodes")
        if features.shape[0] != n:
            raise GraphError(f"x has {features.shape[0]} rows but the graph has {n} nodes: give one row per node")
        classes = check_names("class_names", class_names)
        labels = None if y is None else check_labels(y, n, classes, node_names)
        checked = check_edges(edges, n)
        given = None if edge_weight is None else check_weights(edge_weight, checked.shape[1])
        indptr, indices, weights, cleaning = symmetric_csr(checked, n, given, directed_as)
        return cls(
            indptr,
            indices,
            features,
            labels,
            name,
            check_names("node_names", node_names, n),
            check_feature_names(feature_names, x, int(features.shape[1])),
            classes,
            cleaning,
            weights,
            notes={"direction": DIRECTIONS[directed_as]} if directed_as != "both" else {},
            received=received_lists(checked, n, given, directed_as),
        )

    @classmethod
    def from_relations(
        cls,
        edges: Mapping[str, ArrayLike],
        x: Any = None,
        y: ArrayLike | None = None,
        *,
        edge_weight: Mapping[str, ArrayLike | None] | None = None,
        relations: str = "union",
        **names: Any,
    ) -> Graph:
        """Build a graph from edges of several kinds.

        Args:
            edges: name and edges (2, E) of every kind.
            x: see :meth:`from_edges`.
            y: likewise.
            edge_weight: weights by name, for the kinds that have some; weights of all kinds are summed.
            relations: ``union``: an edge is an edge, whatever its kind; ``side-by-side``: the kinds are kept as
                well, and each gives an embedding a block ``neighbours:NAME``.
            **names: likewise.

        Example:
            >>> kinds = {"product": [[0, 1], [1, 2]], "star": [[0], [2]]}
            >>> graph = Graph.from_relations(kinds, x=np.eye(3), relations="side-by-side")
            >>> graph.n_edges, graph.relation("star").n_edges
            (3, 1)
        """
        if relations not in ("union", "side-by-side"):
            raise GraphError(f"relations is {relations!r}: choose union or side-by-side")
        joined, weights = joined_edges(edges, edge_weight)
        graph = cls.from_edges(joined, x, y, edge_weight=weights, **names)
        if relations == "union":
            return replace(graph, notes={**graph.notes, "relations": f"union of {', '.join(map(str, edges))}"})
        directed_as = names.get("directed_as", "both")
        return replace(graph, relations=side_by_side(edges, edge_weight, graph.n_nodes, directed_as))

    @classmethod
    def from_pyg(
        cls, data: Data | HeteroData, *, weighted: bool = True, relations: str = "union", **names: Any
    ) -> Graph:
        """Build a graph from a ``torch_geometric.data.Data``, or a ``HeteroData`` with one type of nodes.

        Args:
            data: ``x``, ``edge_index`` and ``y`` are read, tensors or arrays, and as weights ``edge_weight``, or an
                ``edge_attr`` of one column.
            weighted: whether to use the weights.
            relations: of a ``HeteroData``, whose types of edges are relations (:meth:`from_relations`).
            **names: see :meth:`from_edges`.
        """
        if hasattr(data, "edge_types"):
            return cls.from_relations(**hetero_parts(data, weighted=weighted), relations=relations, **names)
        return cls.from_edges(**pyg_parts(data, weighted=weighted), **names)

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph,
        x: Any = None,
        y: ArrayLike | None = None,
        *,
        feature: str = "x",
        label: str = "y",
        weight: str | None = "weight",
        **names: Any,
    ) -> Graph:
        """Build a graph from networkx; nodes keep networkx's order and their keys become node names.

        Args:
            graph: any networkx graph; direction and multiplicity are cleaned.
            x: features in node order; by default the node attribute ``feature``, where nodes have it.
            y: labels in node order; by default the node attribute ``label`` where present (-1 elsewhere).
            feature: name of the node attribute with the feature vector.
            label: name of the node attribute with the label.
            weight: name of the edge attribute with the weight, 1 for edges without it; ``None``: no weights.
            **names: see :meth:`from_edges`.
        """
        return cls.from_edges(**networkx_parts(graph, x, y, feature, label, weight, names))

    def to_pyg(self) -> Data:
        """The graph as ``torch_geometric.data.Data``, weights as ``edge_weight``.

        Sparse features become a torch sparse CSR tensor.

        Raises:
            InputError: when torch_geometric is not installed (``pip install 'imgcl[pyg]'``).
        """
        return pyg_data(self)
