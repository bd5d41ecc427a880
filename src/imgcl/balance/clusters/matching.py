"""Pseudo-classes keep their number from one labelling to the next."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from imgcl.balance.clusters.task import Labels


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
