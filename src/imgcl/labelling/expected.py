"""What class every node is expected to have, from the labels so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.quiet import without_warning

STRENGTH = 10.0  # C of the logistic regression; chosen on Photo, Cora and tolokers, where 1 and 100 do about as well
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Expected:
    """The classifier's view of every node.

    Attributes:
        classes: most probable class.
        probability: of that class, every class counting alike.
        margin: probability of the most probable class less that of the second.
    """

    classes: NDArray[np.int64]
    probability: NDArray[np.float32]
    margin: NDArray[np.float32]


def fit(rows: NDArray[np.float32], codes: NDArray[np.int64]) -> Any:
    """Class-weighted logistic regression on labelled rows of at least two classes.

    Its products are small. With several threads of BLAS, which wait by spinning, it took fifty times as long on a busy
    machine; with one it loses nothing on an idle one.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=1000)
    with (
        without_warning("The number of unique classes", UserWarning),  # a label or two of each is how it begins
        threadpool_limits(1, user_api="blas"),  # after the lock of warnings: what is restored must be what was there
    ):
        return model.fit(rows, codes)


def expect(rows: NDArray[np.float32], codes: NDArray[np.int64]) -> Expected:
    """Classify every row by the labelled ones, block by block.

    Args:
        rows: (N, d).
        codes: class of each row, -1 for unlabelled; at least two classes.

    Example:
        >>> found = expect(np.array([[0.0], [1.0], [0.9]], dtype=np.float32), np.array([0, 1, -1]))
        >>> found.classes.tolist()
        [0, 1, 1]
    """
    known = codes >= 0
    model = fit(rows[known], codes[known])
    parts = [_first_two(model.predict_proba(rows[begin : begin + BLOCK])) for begin in range(0, len(rows), BLOCK)]
    best, first, second = (np.concatenate(values) for values in zip(*parts, strict=True))
    return Expected(model.classes_[best], first, first - second)


def _first_two(probabilities: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
    """The most probable class of each row, its probability, and that of the second."""
    two = np.partition(probabilities, -2, axis=1)[:, -2:].astype(np.float32)
    return probabilities.argmax(axis=1), two[:, 1], two[:, 0]


def class_probability(rows: NDArray[np.float32], codes: NDArray[np.int64], wanted: int) -> NDArray[np.float32]:
    """Probability of one class for every row, block by block.

    Example:
        >>> rows = np.array([[0.0], [1.0], [0.9]], dtype=np.float32)
        >>> class_probability(rows, np.array([0, 1, -1]), wanted=1).argsort().tolist()
        [0, 2, 1]
    """
    known = codes >= 0
    model = fit(rows[known], codes[known])
    column = int(np.searchsorted(model.classes_, wanted))
    parts = [model.predict_proba(rows[begin : begin + BLOCK])[:, column] for begin in range(0, len(rows), BLOCK)]
    return np.concatenate(parts).astype(np.float32)
