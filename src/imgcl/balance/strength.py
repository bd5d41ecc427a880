"""How strongly augmentation touches the edges of a pseudo-class (ours): a rare class has few to lose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def tail_aware(labels: NDArray[np.int64]) -> NDArray[np.float32]:
    """Factor of every node for the probability of dropping its edges: its pseudo-class's size over the largest.

    Example:
        >>> tail_aware(np.array([0, 0, 0, 0, 1])).tolist()
        [1.0, 1.0, 1.0, 1.0, 0.25]
    """
    sizes = np.bincount(labels)
    return np.asarray((sizes / sizes.max())[labels], dtype=np.float32)


def curriculum(labels: NDArray[np.int64], progress: float) -> NDArray[np.float32]:
    """The same at the beginning of training, 1 for everybody at its end: small classes learn from easy views first.

    Args:
        labels: pseudo-labels.
        progress: t/T, from 0 to 1.

    Example:
        >>> curriculum(np.array([0, 0, 0, 0, 1]), 0.5).tolist()
        [1.0, 1.0, 1.0, 1.0, 0.625]
    """
    start = tail_aware(labels)
    return (start + (1 - start) * np.float32(progress)).astype(np.float32)
