"""Head, middle and tail: which classes count as common and which as rare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

GROUP_NAMES = ("head", "middle", "tail")


@dataclass(frozen=True)
class Groups:
    """Class numbers by group, each from the largest class to the smallest."""

    head: tuple[int, ...]
    middle: tuple[int, ...]
    tail: tuple[int, ...]

    def __iter__(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        return ((name, getattr(self, name)) for name in GROUP_NAMES)

    def of_class(self) -> tuple[str, ...]:
        """The group of class 0, 1, ..."""
        group = {k: name for name, classes in self for k in classes}
        return tuple(group[k] for k in range(len(group)))


def class_groups(sizes: ArrayLike) -> Groups:
    """Split classes by size: h = max(1, K // 3) head and as many tail classes, the rest is middle.

    Classes of equal size keep their order. With two classes there is no middle.

    Args:
        sizes: number of labelled nodes of each class.

    Example:
        >>> class_groups([5, 90, 40, 10, 60])
        Groups(head=(1,), middle=(4, 2, 3), tail=(0,))
    """
    counts = np.asarray(sizes)
    order = [int(k) for k in np.argsort(-counts, kind="stable")]
    h = max(1, len(order) // 3)
    return Groups(tuple(order[:h]), tuple(order[h:-h]), tuple(order[-h:]))
