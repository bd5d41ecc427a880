"""``cover``: one typical node of every part of the embedding that has no suggested node yet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl.labelling.task import LabellingTask


def cover(task: LabellingTask) -> NDArray[np.int64]:
    """One typical node of each cluster without a node that was asked about.

    There are as many clusters as nodes asked, this batch included, so a batch of b nodes finds at least b clusters that
    nothing covers, unless rows are equal. The node nearest to the centroid stands for its cluster, as typical nodes
    come first in the paper (Eq. 5); the largest clusters are taken.
    """
    clusters = task.clusters
    covered = np.zeros(len(clusters.sizes), dtype=np.bool_)
    covered[clusters.labels[task.asked]] = True
    free = np.flatnonzero(~covered)[: task.budget]  # clusters are numbered from the largest on
    chosen = clusters.typical[free]
    chosen = chosen[far_and_large(task.rows[chosen], clusters.sizes[free])]
    return fill_up(chosen, task)


def far_and_large(rows: NDArray[np.float32], sizes: NDArray[Any]) -> NDArray[np.int64]:
    """An order whose every beginning covers much: the largest first, then large ones far from those so far.

    Next is always the largest product of size and squared distance from the nearest row so far: what k-means++ draws
    by, without the chance.

    Example:
        >>> far_and_large(np.array([[0.0], [0.1], [5.0]], dtype=np.float32), np.array([9, 8, 2])).tolist()
        [0, 2, 1]
    """
    order = np.empty(len(rows), dtype=np.int64)
    worth = sizes.astype(np.float64)
    distance = np.full(len(rows), np.inf)
    for i in range(len(rows)):
        order[i] = worth.argmax()
        distance = np.minimum(distance, ((rows - rows[order[i]]) ** 2).sum(axis=1, dtype=np.float64))
        worth = sizes * distance
        worth[order[: i + 1]] = -1.0
    return order


def fill_up(chosen: NDArray[np.int64], task: LabellingTask) -> NDArray[np.int64]:
    """The chosen nodes, and where they are too few (equal rows) the most typical ones of the rest."""
    missing = task.budget - len(chosen)
    if missing <= 0:
        return chosen
    left = np.setdiff1d(task.open, chosen)
    return np.concatenate([chosen, left[np.argsort(-task.clusters.typicality(left), kind="stable")][:missing]])
