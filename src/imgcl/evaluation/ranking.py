"""How well scores rank the nodes of each class above all others (one-vs-rest), and the Brier score.

Every function takes scores (n, K), one column per class, and the true class 0..K-1 of each row, and gives one value per
class; nan for a class that no row has, or that every row has. Rows with equal scores count as if their order were drawn
at random, except in the average precision, where they are one step of the curve, as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from imgcl.evaluation.metrics import checked_scores, mean_of_known, ratio

Floats = NDArray[np.float64]
RANKING = ("auroc", "auprc", "recall_at_k", "lift", "brier")
"""What :func:`ranking_metrics` gives for every class; k is the number of rows of the class."""


def auroc(scores: ArrayLike, y_true: ArrayLike) -> Floats:
    """Area under the ROC curve: how often a row of the class has a larger score than another row.

    Example:
        >>> auroc([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1]).tolist()
        [0.5, 0.5]
    """
    values, positive = _one_vs_rest(scores, y_true)
    n = positive.sum(axis=0)
    others = len(positive) - n
    above = (rankdata(values, axis=0) * positive).sum(axis=0) - n * (n + 1) / 2
    return ratio(above, n * others)


def average_precision(scores: ArrayLike, y_true: ArrayLike) -> Floats:
    """Area under the precision-recall curve, as scikit-learn's ``average_precision_score``.

    Chance gives the class's share of the rows.

    Example:
        >>> average_precision([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1]).round(3).tolist()
        [0.833, 0.5]
    """
    values, positive = _one_vs_rest(scores, y_true)
    falling, hits = _sorted(values, positive)
    last = _end_of_ties(falling)
    found = np.take_along_axis(hits.cumsum(axis=0), last, axis=0)
    n = positive.sum(axis=0)
    area = (hits * found / (last + 1)).sum(axis=0)
    return np.where(n < len(positive), ratio(area, n), np.nan)


def recall_at(scores: ArrayLike, y_true: ArrayLike, k: ArrayLike | None = None) -> Floats:
    """Share of a class's rows among the k rows with the largest score for it.

    Args:
        scores: (n, K).
        y_true: class of each row.
        k: rows to look at, one number or one per class; by default as many as the class has.

    Example:
        >>> recall_at([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1]).tolist()
        [0.5, 0.0]
        >>> recall_at([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1], k=3).tolist()
        [1.0, 1.0]
    """
    values, positive = _one_vs_rest(scores, y_true)
    n = positive.sum(axis=0)
    return ratio(_hits(values, positive, n if k is None else k), np.where(n < len(positive), n, 0))


def precision_at(scores: ArrayLike, y_true: ArrayLike, k: ArrayLike | None = None) -> Floats:
    """Share of the k rows with the largest score for a class that belong to it.

    With k as by default (the number of rows of the class) it equals :func:`recall_at`.

    Example:
        >>> precision_at([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1], k=1).tolist()
        [1.0, 0.0]
    """
    values, positive = _one_vs_rest(scores, y_true)
    n = positive.sum(axis=0)
    looked = np.minimum(np.broadcast_to(n if k is None else np.asarray(k), n.shape), len(positive))
    return ratio(_hits(values, positive, looked), np.where((n > 0) & (n < len(positive)), looked, 0))


def lift_at(scores: ArrayLike, y_true: ArrayLike, k: ArrayLike | None = None) -> Floats:
    """:func:`precision_at` over the class's share of all rows: how much better than looking at random.

    Example:
        >>> lift_at([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1], k=1).tolist()
        [1.5, 0.0]
    """
    share = _one_vs_rest(scores, y_true)[1].mean(axis=0)
    return ratio(precision_at(scores, y_true, k), share)


def brier_score(probabilities: ArrayLike, y_true: ArrayLike) -> Floats:
    """Mean squared difference between a class's probability and 0 or 1; also known for classes without rows.

    Example:
        >>> brier_score([[0.9, 0.1], [0.6, 0.4]], [0, 1]).round(3).tolist()
        [0.185, 0.185]
    """
    p, positive = _one_vs_rest(probabilities, y_true)
    return np.asarray(((p - positive) ** 2).mean(axis=0))


def ranking_metrics(probabilities: ArrayLike, y_true: ArrayLike) -> dict[str, Floats]:
    """Every metric of :data:`RANKING`, one value per class.

    Example:
        >>> sorted(ranking_metrics([[0.9, 0.1], [0.6, 0.4]], [0, 1]))
        ['auprc', 'auroc', 'brier', 'lift', 'recall_at_k']
    """
    return {
        "auroc": auroc(probabilities, y_true),
        "auprc": average_precision(probabilities, y_true),
        "recall_at_k": recall_at(probabilities, y_true),
        "lift": lift_at(probabilities, y_true),
        "brier": brier_score(probabilities, y_true),
    }


def summary_ranking(per_class: Mapping[str, Floats], tail: tuple[int, ...]) -> dict[str, Floats]:
    """One value per cell from values (cells, K): means over the classes, and over the rare ones.

    ``brier`` is the sum over classes, the usual score of several classes.
    """
    with np.errstate(invalid="ignore"):
        return {
            "auroc": mean_of_known(per_class["auroc"]),
            "auprc": mean_of_known(per_class["auprc"]),
            **{f"tail_{name}": mean_of_known(per_class[name][:, list(tail)]) for name in RANKING[1:4]},
            "brier": per_class["brier"].sum(axis=1),
        }


def _one_vs_rest(scores: ArrayLike, y_true: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    values, classes = checked_scores(scores, y_true)
    return values, classes[:, None] == np.arange(values.shape[1])


def _sorted(values: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """Both with the largest score first in every column."""
    order = np.argsort(-values, axis=0, kind="stable")
    return np.take_along_axis(values, order, axis=0), np.take_along_axis(positive, order, axis=0)


def _end_of_ties(falling: Floats) -> NDArray[np.int64]:
    """For every entry of sorted columns the last position with the same value."""
    n = len(falling)
    ends = np.concatenate([falling[1:] != falling[:-1], np.ones((1, falling.shape[1]), dtype=bool)])
    position = np.where(ends, np.arange(n)[:, None], n)
    return np.asarray(np.minimum.accumulate(position[::-1], axis=0)[::-1])


def _hits(values: Floats, positive: NDArray[np.bool_], k: ArrayLike) -> Floats:
    """Expected positives among the first k rows; of rows that tie at the end each is as likely to be among them."""
    falling, hits = _sorted(values, positive)
    end = _end_of_ties(falling)
    found = np.concatenate([np.zeros((1, hits.shape[1])), hits.cumsum(axis=0)])
    columns = np.arange(hits.shape[1])
    last = np.minimum(np.broadcast_to(np.asarray(k), columns.shape), len(hits)) - 1
    at = np.maximum(last, 0)
    start = (falling > falling[at, columns]).sum(axis=0)
    stop = end[at, columns] + 1
    tied = (found[stop, columns] - found[start, columns]) * (last + 1 - start) / (stop - start)
    return np.asarray(np.where(last < 0, 0.0, found[start, columns] + tied))
