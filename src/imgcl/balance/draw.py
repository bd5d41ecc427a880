"""One draw: from pseudo-labels and centrality at some alpha to selected rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl.balance.probabilities import node_probabilities, power, progressively_balanced
from imgcl.balance.selection import SELECTIONS, inclusion_probabilities
from imgcl.balance.settings import BalanceSettings


def draw(
    labels: NDArray[np.int64],
    centrality: NDArray[np.float64],
    n_clusters: int,
    alpha: float,
    settings: BalanceSettings,
    generator: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Select ``round(fraction * N)`` rows.

    Args:
        labels: pseudo-labels 0..n_clusters-1.
        centrality: one score per node.
        n_clusters: number of pseudo-classes K, empty ones included.
        alpha: alpha of Eq. 3.
        settings: sampler, normalisation, floor, kind of selection and fraction.
        generator: source of randomness.

    Returns:
        The selected rows, ascending, and their importance weights 1/pi.

    Example:
        >>> labels = np.repeat([0, 1], [90, 10])
        >>> rows, weights = draw(labels, np.ones(100), 2, 0.0, BalanceSettings(), np.random.default_rng(0))
        >>> np.bincount(labels[rows]).tolist(), np.unique(weights.round(6)).tolist()
        ([5, 5], [2.0, 18.0])
    """
    sizes = np.bincount(labels, minlength=n_clusters)
    by_class = power(sizes, settings.q) if settings.sampler == "power" else progressively_balanced(sizes, alpha)
    by_node = node_probabilities(labels, centrality, by_class, normalise=settings.normalise, floor=settings.floor)
    size = round(settings.fraction * len(labels))
    strata = labels if settings.normalise == "class" else None
    # with replacement pi is the expected number of times, which may pass one
    pi = size * by_node if settings.selection == "replacement" else inclusion_probabilities(by_node, size, strata)
    rows = SELECTIONS[settings.selection](pi, generator, strata)
    return rows, 1.0 / pi[rows]
