"""What a strategy is given: the nodes, what is labelled, and how many to choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.seeding import derive
from imgcl.evaluation.labels import Labels
from imgcl.graph import Graph
from imgcl.labelling.clusters import Clusters, cluster
from imgcl.labelling.expected import Expected, expect


@dataclass(frozen=True, eq=False)
class LabellingTask:
    """Nodes to choose from; what several strategies need is computed once, when it is first asked for.

    Attributes:
        rows: embedding of the nodes, (N, d), rows of every block of length 1.
        labels: the labels so far.
        asked: nodes that were suggested before, labelled or not: none is chosen again.
        budget: number of nodes to choose.
        seed: of everything random.
        load_graph: the graph, for strategies that look at it; ``None``: there is none.
        n_clusters: pseudo-classes of the strategy ``balanced``; ``None``: chosen from embedding and graph.
    """

    rows: NDArray[np.float32]
    labels: Labels
    asked: NDArray[np.bool_]
    budget: int
    seed: int = 0
    load_graph: Callable[[], Graph] | None = None
    n_clusters: int | None = None

    @property
    def open(self) -> NDArray[np.int64]:
        """Nodes that may be chosen."""
        return np.flatnonzero(~self.asked)

    @cached_property
    def clusters(self) -> Clusters:
        """As many clusters as there will be nodes asked, this batch included."""
        return cluster(self.rows, int(self.asked.sum()) + self.budget, derive(self.seed, "cover"))

    @property
    def can_expect(self) -> bool:
        """Whether labels of at least two classes are known."""
        return self.labels.n_classes > 1

    @cached_property
    def expected(self) -> Expected:
        """What class every node probably has."""
        if not self.can_expect:
            found = f"all labels are {self.labels.names[0]!r}" if self.labels.names else "there are no labels yet"
            raise InputError(f"{found}: this strategy needs labels of two classes; begin with `strategy='cover'`")
        return expect(self.rows, self.labels.codes)

    @cached_property
    def graph(self) -> Graph:
        """The graph of the nodes."""
        if self.load_graph is None:
            raise InputError("this strategy looks at the graph, and there is none: give it (`graph`)")
        graph = self.load_graph()
        if graph.n_nodes != len(self.rows):
            raise InputError(f"the graph has {graph.n_nodes} nodes but the embedding has {len(self.rows)} rows")
        return graph
