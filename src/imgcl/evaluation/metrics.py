"""Metrics of one confusion matrix, and calibration; all are fractions in 0..1.

A confusion matrix has true classes as rows and predicted classes as columns. Every function takes one matrix (K, K) or
a stack of them (..., K, K) and gives one value per matrix. A class without test nodes has no recall (nan) and is left
out of means; a class that is never predicted has precision 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl.evaluation.groups import Groups

Floats = NDArray[np.float64]


def confusion_matrix(y_true: ArrayLike, y_pred: ArrayLike, n_classes: int) -> NDArray[np.int64]:
    """Count (true, predicted) pairs.

    Example:
        >>> confusion_matrix([0, 0, 1], [0, 1, 1], n_classes=2).tolist()
        [[1, 1], [0, 1]]
    """
    pairs = np.asarray(y_true, dtype=np.int64) * n_classes + np.asarray(y_pred, dtype=np.int64)
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def checked_scores(scores: ArrayLike, y_true: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
    """Scores (n, K) and the class 0..K-1 of each row, as arrays.

    Raises:
        InputError: when they are not that.
    """
    values, classes = np.asarray(scores, dtype=np.float64), np.asarray(y_true)
    if values.ndim != 2 or classes.shape != values.shape[:1]:
        raise InputError(
            f"scores have shape {values.shape} and classes {classes.shape}: give scores (n, K), a column for each "
            "class, and n classes"
        )
    if len(classes) and (classes.dtype.kind not in "iub" or classes.min() < 0 or classes.max() >= values.shape[1]):
        raise InputError(f"classes must be integers 0..{values.shape[1] - 1}, the columns of the scores")
    if np.isnan(values).any():
        row = int(np.argwhere(np.isnan(values))[0, 0])
        raise InputError(f"scores have NaN in row {row}: they must be numbers")
    return values, classes.astype(np.int64)


def accuracy(confusion: ArrayLike) -> Floats:
    """Share of nodes that are classified right."""
    c = _counts(confusion)
    return ratio(np.trace(c, axis1=-2, axis2=-1), c.sum(axis=(-2, -1)))


def recall(confusion: ArrayLike) -> Floats:
    """Per class: share of its nodes that were found."""
    c = _counts(confusion)
    return ratio(np.diagonal(c, axis1=-2, axis2=-1), c.sum(axis=-1))


def precision(confusion: ArrayLike) -> Floats:
    """Per class: share of the nodes assigned to it that belong to it."""
    c = _counts(confusion)
    found = ratio(np.diagonal(c, axis1=-2, axis2=-1), c.sum(axis=-2), 0.0)
    return np.asarray(np.where(c.sum(axis=-1) == 0, np.nan, found))


def balanced_accuracy(confusion: ArrayLike) -> Floats:
    """Mean recall over classes."""
    return mean_of_known(recall(confusion))


def macro_f1(confusion: ArrayLike) -> Floats:
    """Mean over classes of the harmonic mean of precision and recall."""
    c = _counts(confusion)
    both = c.sum(axis=-1) + c.sum(axis=-2)
    f1 = ratio(2 * np.diagonal(c, axis1=-2, axis2=-1), both)
    return mean_of_known(np.where(c.sum(axis=-1) == 0, np.nan, f1))


def g_mean(confusion: ArrayLike) -> Floats:
    """Geometric mean of the recalls: 0 as soon as one class is never found."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(mean_of_known(np.log(recall(confusion)))))


def group_recall(confusion: ArrayLike, classes: Sequence[int]) -> Floats:
    """Mean recall of some classes, for example the tail; nan for an empty group."""
    return mean_of_known(recall(confusion)[..., list(classes)])


def expected_calibration_error(probabilities: ArrayLike, y_true: ArrayLike, bins: int = 15) -> float:
    """How far confidence is from accuracy, averaged over equal-width bins of the highest class probability.

    Example:
        >>> expected_calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1])  # 90 % sure, 50 % right
        0.4
    """
    p = np.asarray(probabilities, dtype=np.float64)
    confidence = p.max(axis=1)
    right = p.argmax(axis=1) == np.asarray(y_true)
    which = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gap = np.bincount(which, weights=confidence - right, minlength=bins)
    return float(np.abs(gap).sum() / len(p))


METRICS: dict[str, Callable[[ArrayLike], Floats]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "macro_f1": macro_f1,
    "g_mean": g_mean,
}


def summary_metrics(confusion: ArrayLike, groups: Groups) -> dict[str, Floats]:
    """Every metric that is one number per confusion matrix, by name, in the order of the tables."""
    values = {"accuracy": accuracy(confusion)}
    values |= {name: group_recall(confusion, classes) for name, classes in groups}
    return values | {name: metric(confusion) for name, metric in METRICS.items()}


def _counts(confusion: ArrayLike) -> Floats:
    return np.asarray(confusion, dtype=np.float64)


def ratio(top: Any, bottom: Any, empty: float = np.nan) -> Floats:
    """One over the other; ``empty`` where the other is 0."""
    return np.asarray(np.divide(top, bottom, out=np.full(np.shape(top), empty), where=np.asarray(bottom) > 0))


def mean_of_known(values: Floats) -> Floats:
    """Mean over the last axis without the classes that have no value."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1))
