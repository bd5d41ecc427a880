"""``uncertain``: nodes that the classifier hesitates about and whose likely class has few labels, far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl._core.seeding import derive
from imgcl.labelling.clusters import cluster
from imgcl.labelling.cover import far_and_large
from imgcl.labelling.task import LabellingTask

CANDIDATES = 10  # times the budget: the pool that is spread by clustering
RARITY = 0.5  # exponent of the labels of the likely class; 0 and 1 are worse on Photo, Cora and tolokers


def uncertain(task: LabellingTask) -> NDArray[np.int64]:
    """The typical nodes of clusters among the most useful candidates, the most useful cluster first.

    A node's usefulness is ``(1 - margin) / sqrt(labels of its likely class)``; the ten times ``budget`` most useful
    nodes are clustered, so that the batch does not ask the same question many times.
    """
    score = usefulness(task)
    pool = task.open[np.argsort(-score[task.open], kind="stable")[: CANDIDATES * task.budget]]
    clusters = cluster(task.rows[pool], min(task.budget, len(pool)), derive(task.seed, "uncertain"))
    chosen = pool[clusters.typical]
    # pools of equal rows have fewer clusters: the next most useful nodes take the free places
    more = pool[~np.isin(pool, chosen)][: task.budget - len(chosen)]
    total = np.bincount(clusters.labels, score[pool])
    return np.concatenate([chosen[far_and_large(task.rows[chosen], total)], more])


def usefulness(task: LabellingTask) -> NDArray[np.float64]:
    """How much the label of each node would tell: the doubt, divided by the root of the likely class's labels."""
    expected, counts = task.expected, task.labels.sizes
    return np.asarray((1.0 - expected.margin) * counts[expected.classes] ** -RARITY)
