"""Nodes of a graph as scikit-learn cuts data: what ``GridSearchCV`` and others need to cross-validate on a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed
from imgcl.data import load_graph
from imgcl.evaluation.fitting import make_folds
from imgcl.evaluation.labels import encode_labels
from imgcl.graph import Graph
from imgcl.graph.checks import check_nodes

Ints = NDArray[np.int64]


class GraphNodes:
    """Some nodes of a graph, which keep the whole graph with them: a part of them is still in its neighbourhood.

    Args:
        graph: a graph, or anything ``load_graph`` takes.
        nodes: numbers of different nodes, or a mask; by default all.

    Raises:
        GraphError: when a number is not that of a node, or is given twice.

    Example:
        >>> import imgcl
        >>> nodes = GraphNodes(imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1))
        >>> len(nodes), nodes[[3, 7]].nodes.tolist()
        (80, [3, 7])
    """

    def __init__(self, graph: Any, nodes: Any = None) -> None:
        self.graph: Graph = load_graph(graph)
        n = self.graph.n_nodes
        self.nodes: Ints = np.arange(n) if nodes is None else check_nodes(nodes, n)

    @classmethod
    def of(cls, X: Any) -> GraphNodes:
        """The nodes themselves, or all nodes of a graph."""
        return X if isinstance(X, cls) else cls(X)

    @property
    def names(self) -> list[str] | None:
        """Names of the nodes, where the graph has some."""
        names = self.graph.node_names
        return None if names is None else [names[i] for i in self.nodes]

    @property
    def shape(self) -> tuple[int]:
        return (len(self.nodes),)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, key: Any) -> GraphNodes:
        return GraphNodes(self.graph, self.nodes[key[0] if isinstance(key, tuple) else key])

    def __repr__(self) -> str:
        return f"GraphNodes({len(self)} of {self.graph!r})"


@dataclass(frozen=True)
class LabelledFolds:
    """Splitter for cross-validation on a graph: labelled nodes in folds, unlabelled ones in no fold.

    Every class is spread evenly over the folds; a class's only node stays in every training set. Nodes outside the
    training set are unlabelled for the fit, but present: encoders see the whole graph.

    Args:
        n_splits: number of folds.
        random_state: the seed of the folds.

    Example:
        >>> folds = LabelledFolds(2)
        >>> [test.tolist() for _, test in folds.split(None, ["a", "b", None, "a", "b"])]
        [[0, 1], [3, 4]]
    """

    n_splits: int = 5
    random_state: RandomState = 0

    def __post_init__(self) -> None:
        given: Any = self.n_splits
        if not isinstance(given, Integral) or given < 2:
            raise InputError(f"n_splits is {given!r}: give a whole number of at least 2")

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Positions of training and test nodes, for each fold."""
        labels = encode_labels(y)
        fold = make_folds(labels, as_seed(self.random_state), self.n_splits)
        if fold.max() + 1 < self.n_splits:
            largest = int(labels.sizes.max())
            raise InputError(f"n_splits is {self.n_splits}, but no class has more than {largest} labels: use fewer")
        for i in range(self.n_splits):
            yield np.flatnonzero((labels.codes >= 0) & (fold != i)), np.flatnonzero(fold == i)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits
