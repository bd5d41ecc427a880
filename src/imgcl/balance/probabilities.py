"""From pseudo-labels and centrality to the probability of every node: Eq. 2, Eq. 3 and Eq. 5."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError


def progressively_balanced(sizes: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Class probabilities of progressively balanced sampling, Eq. 3.

    Args:
        sizes: pseudo-class sizes N_k.
        alpha: 1 keeps the classes as they are, 0 makes them equal.

    Example:
        >>> progressively_balanced([6, 2], alpha=0.5).tolist()
        [0.625, 0.375]
    """
    counts = np.asarray(sizes, dtype=np.float64)
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha is {alpha}: it must be in [0, 1]")
    return np.asarray(alpha * counts / counts.sum() + (1 - alpha) / len(counts))  # Eq. 3


def power(sizes: ArrayLike, q: float) -> NDArray[np.float64]:
    """Class probabilities N_k^q / sum N_i^q, Eq. 2: q = 1 is random sampling, q = 0 mean sampling.

    Example:
        >>> power([9, 1], q=0.5).tolist()
        [0.75, 0.25]
    """
    counts = np.asarray(sizes, dtype=np.float64)
    if not 0 <= q <= 1:
        raise InputError(f"q is {q}: it must be in [0, 1]")
    powers = counts**q
    return np.asarray(powers / powers.sum())  # Eq. 2


def node_probabilities(
    labels: ArrayLike,
    centrality: ArrayLike,
    class_probabilities: ArrayLike,
    *,
    normalise: Literal["class", "global"] = "class",
    floor: Literal["median"] | float = "median",
) -> NDArray[np.float64]:
    """Node probabilities of node-centrality based sampling, Eq. 5; they sum to one.

    ``w_v = max(score_v * p_j, floor)`` for a node v of pseudo-class j, with the min-max score of its centrality. Then

    - ``normalise="class"`` (default): ``P(v) = p_j * w_v / sum of w over class j``. Class j is drawn with probability
      p_j exactly, and centrality decides inside the class.
    - ``normalise="global"``: ``P(v) = w_v / sum of w``, the literal reading, which does not balance: at alpha = 0 a
      class is drawn in proportion to its size again.

    Where the printed equation leaves a case open (choices of this project): scores that are all equal count as 1; a
    class whose weights are all zero is drawn evenly; the share of a class without members goes to the others in
    proportion.

    Args:
        labels: pseudo-labels 0..K-1.
        centrality: one finite score per node.
        class_probabilities: p_j from :func:`progressively_balanced` or :func:`power`.
        normalise: see above.
        floor: the cut-off p_tau. ``"median"``: relative, the median score of the class times p_j, so that half of a
            class is drawn alike and the central half more often (where more than half of a class has score 0, the
            mean score stands in for the median). A number: absolute, the same for all nodes.

    Example:
        >>> p = node_probabilities([0, 0, 0, 1], [1.0, 2.0, 5.0, 5.0], [0.5, 0.5])
        >>> p.round(4).tolist()
        [0.0833, 0.0833, 0.3333, 0.5]
    """
    classes = np.asarray(labels, dtype=np.int64)
    sigma = np.asarray(centrality, dtype=np.float64)
    p_class = np.asarray(class_probabilities, dtype=np.float64)
    k = len(p_class)
    score = _min_max(sigma)
    cut_off = _median_scores(score, classes, k) * p_class if floor == "median" else np.full(k, float(floor))
    weight = np.maximum(score * p_class[classes], cut_off[classes])  # Eq. 5
    totals = np.bincount(classes, weight, minlength=k)
    weight = np.where(totals[classes] > 0, weight, p_class[classes])
    if normalise == "class":
        totals = np.bincount(classes, weight, minlength=k)
        weight = p_class[classes] * weight / np.where(totals > 0, totals, 1.0)[classes]
    total = weight.sum()
    if not total > 0:
        raise InputError("every node has probability 0: no class with members has a positive probability")
    return np.asarray(weight / total)


def _min_max(sigma: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = sigma.min(), sigma.max()
    return (sigma - low) / (high - low) if high > low else np.ones_like(sigma)


def _median_scores(score: NDArray[np.float64], classes: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Median score of each class, or the mean where the median is zero."""
    order = np.lexsort((score, classes))
    sizes = np.bincount(classes, minlength=k)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    present = sizes > 0
    middle = np.zeros(k)
    lower, upper = starts + (sizes - 1) // 2, starts + sizes // 2
    middle[present] = (score[order][lower[present]] + score[order][upper[present]]) / 2
    means = np.bincount(classes, score, minlength=k) / np.maximum(sizes, 1)
    return np.where(middle > 0, middle, means)
