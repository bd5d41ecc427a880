"""``balanced``: the paper's selection of rows to contrast, spent on nodes to label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl._core import seeding
from imgcl.balance import BalanceSettings, centrality, choose_n_clusters, draw, kmeans
from imgcl.labelling.task import LabellingTask

ALPHA = 0.0  # Eq. 3 at the end of its schedule: every pseudo-class alike


def balanced(task: LabellingTask) -> NDArray[np.int64]:
    """Nodes drawn evenly over pseudo-classes (Eq. 3, alpha 0), central ones more often (Eq. 5).

    The code is that of the pre-training: constrained k-means, PageRank, systematic draw. In the result the
    pseudo-classes take turns, and each begins with its most central node.
    """
    settings = BalanceSettings(fraction=task.budget / len(task.open))
    k = task.n_clusters or choose_n_clusters(task.rows, task.graph, seed=seeding.derive(task.seed, "n_clusters"))
    least, most = settings.cluster_bounds(len(task.rows), k)
    seed = seeding.derive(task.seed, "balanced")
    pseudo = kmeans(task.rows, k, min_size=least, max_size=most, seed=seed).labels[task.open]
    scores = centrality(task.graph, settings.centrality, damping=settings.damping)[task.open]
    drawn, _ = draw(pseudo, scores, k, ALPHA, settings, seeding.generator(task.seed, "draw"))
    return task.open[drawn[_in_turns(pseudo[drawn], scores[drawn])]]


def _in_turns(groups: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """An order in which groups take turns, each with its largest scores first.

    Example:
        >>> _in_turns(np.array([0, 0, 1]), np.array([1.0, 2.0, 3.0])).tolist()
        [1, 2, 0]
    """
    order = np.lexsort((-scores, groups))
    first = np.searchsorted(groups[order], groups[order])
    turn = np.arange(len(order)) - first
    return order[np.lexsort((groups[order], turn))]
