"""Pseudo-labels by a Gaussian mixture: clusters may differ in size and spread."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from imgcl._core import seeding
from imgcl._core.quiet import without_warning
from imgcl.balance.clusters.kmeans import kmeans, warm_start
from imgcl.balance.clusters.points import dense, each_block
from imgcl.balance.clusters.task import ClusterTask, Labels

FIT_ROWS = 1 << 14  # rows the mixture is fitted on; all rows are labelled
STEPS = 50
LEAST_SPREAD = 1e-3  # of a component, where the data's is 1: a component never shrinks to a point


def gmm(task: ClusterTask) -> Labels:
    """Most probable component of a mixture of Gaussians with diagonal covariances, begun at the k-means clusters.

    A component may lose all its nodes: no minimum size is kept.
    """
    points = task.points()
    start = kmeans(points, task.n_clusters, start=warm_start(points, task), seed=task.seed)
    chosen = np.sort(seeding.generator(task.seed, "mixture").permutation(len(start.labels))[:FIT_ROWS])
    rows, labels = dense(points, chosen).astype(np.float64), start.labels[chosen]
    # In units of the data: scikit-learn's way to variances loses them on rows that hardly differ.
    mean, unit = rows.mean(axis=0), float(np.sqrt(rows.var(axis=0).mean())) or 1.0
    rows = (rows - mean) / unit
    spread = np.full((task.n_clusters, rows.shape[1]), rows.var(axis=0) + LEAST_SPREAD)
    for k in np.unique(labels):
        spread[k] = rows[labels == k].var(axis=0) + LEAST_SPREAD
    mixture = GaussianMixture(
        task.n_clusters,
        covariance_type="diag",
        reg_covar=LEAST_SPREAD,
        max_iter=STEPS,
        weights_init=np.bincount(start.labels, minlength=task.n_clusters) / len(start.labels),
        means_init=(start.centroids - mean) / unit,
        precisions_init=1.0 / spread,
        random_state=task.seed % 2**32,
    )
    with without_warning(category=ConvergenceWarning):  # a few steps from k-means are what is wanted
        mixture.fit(rows)
    result = np.empty(len(start.labels), dtype=np.int64)

    def label(part: slice, block: np.ndarray) -> None:
        result[part] = mixture.predict((block - mean) / unit)

    each_block(points, label)
    return result
