"""Several kinds of edges between the same nodes: users linked by product, by star rating, by text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import GraphError
from imgcl.graph.checks import ONE_WAY, check_edges, check_weights, directed_csr, read_only, symmetric_csr

BOTH_WAYS = "a relation's edges link both their ends; use directed_as both or mutual, or the union of the relations"
LONGEST_NAME = 60  # characters: names become parts of names of files
MOST_RELATIONS = 16  # kept side by side: each is a block of its own


@dataclass(frozen=True, eq=False)
class Relation:
    """The edges of one kind, as a graph has them: symmetric, sorted, without loops or duplicates.

    Attributes:
        name: what they are called.
        indptr: CSR row pointers.
        indices: CSR column indices.
        edge_weight: weight of every entry, or ``None``.
    """

    name: str
    indptr: NDArray[np.integer[Any]]
    indices: NDArray[np.integer[Any]]
    edge_weight: NDArray[np.float32] | None = None

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return len(self.indices) // 2

    def subgraph(self, nodes: NDArray[np.int64]) -> Relation:
        """The edges among these nodes, in their order."""
        n, values = len(self.indptr) - 1, self.edge_weight
        data = np.ones(len(self.indices), dtype=np.float32) if values is None else values
        kept = sp.csr_array((data, self.indices, self.indptr), shape=(n, n))[nodes][:, nodes].tocsr()
        kept.sort_indices()
        return Relation(self.name, kept.indptr, kept.indices, None if values is None else kept.data)

    def frozen(self) -> Relation:
        """The same over arrays that cannot be written."""
        return replace(self, **{name: read_only(getattr(self, name)) for name in ("indptr", "indices", "edge_weight")})


def check_relation_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of relations that are kept side by side: some, distinct, not too long.

    Example:
        >>> check_relation_names(["product", "star"])
        ('product', 'star')
    """
    given = tuple(str(name) for name in names)
    if len(given) > MOST_RELATIONS:
        raise GraphError(f"there are {len(given)} relations: at most {MOST_RELATIONS} are kept side by side")
    for name in given:
        if not name or len(name) > LONGEST_NAME or given.count(name) > 1:
            raise GraphError(
                f"{name!r} is no name of a relation: a name has 1 to {LONGEST_NAME} characters and is there once"
            )
    return given


def joined_edges(
    relations: Mapping[str, ArrayLike], edge_weight: Mapping[str, ArrayLike | None] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """The edges of all relations one after the other, and their weights (1 where a relation has none)."""
    if not isinstance(relations, Mapping):
        raise GraphError(
            f"edges is a {type(relations).__name__}: give a mapping from names of relations to their edges"
        )
    if not relations:
        raise GraphError("there are no relations: give at least one, a name and its edges")
    edges = {name: _edge_array(name, given) for name, given in relations.items()}
    weights = {name: values for name, values in (edge_weight or {}).items() if values is not None}
    unknown = [name for name in weights if name not in edges]
    if unknown:
        raise GraphError(f"edge_weight names the relation {unknown[0]!r}: there are {', '.join(map(repr, edges))}")
    joined = np.concatenate(list(edges.values()), axis=1)
    if not weights:
        return joined, None
    every = [check_weights(weights.get(name, np.ones(part.shape[1])), part.shape[1]) for name, part in edges.items()]
    return joined, np.concatenate(every)


def side_by_side(
    relations: Mapping[str, ArrayLike], edge_weight: Mapping[str, ArrayLike | None] | None, n: int, directed_as: str
) -> tuple[Relation, ...]:
    """Every relation by itself, over n nodes."""
    check_relation_names(list(relations))
    if directed_as in ONE_WAY:
        raise GraphError(f"`directed_as={directed_as!r}` and relations side by side exclude each other: {BOTH_WAYS}")
    found = []
    for name, given in relations.items():
        edges = check_edges(_edge_array(name, given), n)
        values = (edge_weight or {}).get(name)
        weights = None if values is None else check_weights(values, edges.shape[1])
        found.append(Relation(str(name), *symmetric_csr(edges, n, weights, directed_as)[:3]))
    return tuple(found)


def received_lists(
    edges: NDArray[np.int64], n: int, weights: NDArray[np.float64] | None, directed_as: str
) -> Relation | None:
    """The nodes that each node sees, where ``directed_as`` is one direction."""
    return Relation("received", *directed_csr(edges, n, weights, directed_as)) if directed_as in ONE_WAY else None


def _edge_array(name: str, given: ArrayLike) -> NDArray[np.int64]:
    edges = np.asarray(given)
    if edges.size == 0:
        return np.zeros((2, 0), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise GraphError(f"edges of the relation {name!r} have shape {edges.shape}: they must be (2, E)")
    return edges
