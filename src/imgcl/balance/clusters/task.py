"""What a clusterer is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imgcl.balance.clusters.points import Points
from imgcl.graph import Graph

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class ClusterTask:
    """Everything a clusterer may look at; it takes what it needs and answers with labels 0..n_clusters-1.

    Attributes:
        graph: the graph (community detection reads its edges).
        points: gives the rows to cluster, embeddings or features; nothing is encoded unless a clusterer calls it.
        n_clusters: number of clusters K.
        min_size: least size of a cluster, for clusterers that can promise one.
        max_size: greatest size of a cluster, likewise.
        previous: the labelling before this one, for a warm start.
        given: labels that the user brought along.
        seed: seed of this labelling.
    """

    graph: Graph
    points: Callable[[], Points]
    n_clusters: int
    min_size: int = 1
    max_size: int | None = None
    previous: Labels | None = None
    given: Labels | None = None
    seed: int = 0


Clusterer = Callable[[ClusterTask], Labels]
