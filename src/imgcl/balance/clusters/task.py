"""What a clusterer is asked to do, labels that are given, and numbers that stay from one labelling to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from imgcl._core.errors import InputError
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
        given: labels of the user.
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


def given(task: ClusterTask) -> Labels:
    """The given labels, as they are."""
    if task.given is None:
        raise InputError("clusters='given' needs labels: pass labels=, one class 0..K-1 per node")
    return task.given


def match(labels: Labels, previous: Labels, n_clusters: int) -> Labels:
    """Renumber ``labels`` so that as many rows as possible keep their previous label (Hungarian algorithm).

    Example:
        >>> match(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 0]), n_clusters=2).tolist()
        [0, 0, 1, 1]
    """
    shared = np.bincount(labels * n_clusters + previous, minlength=n_clusters**2).reshape(n_clusters, n_clusters)
    new, old = linear_sum_assignment(shared, maximize=True)
    number = np.empty(n_clusters, dtype=np.int64)
    number[new] = old
    return number[labels]
