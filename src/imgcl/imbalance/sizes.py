"""From a law to whole numbers of training labels per class, and a report of where the law could not be kept."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imgcl._core.apportion import apportion
from imgcl._core.errors import InputError
from imgcl.imbalance.laws import Imbalance

logger = logging.getLogger("imgcl.imbalance")
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Cap:
    """A class that had fewer nodes left than the law requires."""

    class_id: int
    wanted: int
    available: int

    def __str__(self) -> str:
        return f"class {self.class_id} got {self.available} of {self.wanted} (no more nodes left)"


@dataclass(frozen=True)
class ClassSizes:
    """Training labels per class, as drawn.

    Attributes:
        imbalance: the law they follow.
        sizes: number of labels by class id (0 for a class without nodes).
        order: class ids from the largest class of the graph to the smallest, which is the law's order.
        caps: the classes that have fewer labels than the law requires; the others share what was missing.
    """

    imbalance: Imbalance
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    caps: tuple[Cap, ...] = ()

    @property
    def total(self) -> int:
        """Number of training labels."""
        return sum(self.sizes)

    @property
    def in_order(self) -> tuple[int, ...]:
        """Sizes from the graph's largest class to its smallest."""
        return tuple(self.sizes[k] for k in self.order)

    def __str__(self) -> str:
        text = f"{self.imbalance}: {' '.join(map(str, self.in_order))} (total {self.total})"
        return "; ".join([text, *map(str, self.caps)])


def class_order(counts: Ints) -> Ints:
    """Ids of the classes that have nodes, largest first, lower id first among equals.

    Example:
        >>> class_order(np.array([3, 0, 9, 3])).tolist()
        [2, 0, 3]
    """
    order = np.argsort(-counts, kind="stable")
    return order[counts[order] > 0]


def law_sizes(imbalance: Imbalance, total: int, counts: Ints, available: Ints) -> ClassSizes:
    """Labels per class by a law: exactly ``total``, at least 1 per class, at most what the class has left.

    Args:
        imbalance: any law but the natural one.
        total: number of labels.
        counts: nodes per class, which decide the order of the classes.
        available: how many of them can still be labelled.

    Raises:
        InputError: when ``total`` is less than one per class or more than there is.

    Example:
        >>> from imgcl.imbalance import parse_imbalance
        >>> print(law_sizes(parse_imbalance("exp:100"), 111, np.array([50, 9, 500]), np.array([40, 5, 400])))
        exp:100: 100 10 1 (total 111)
    """
    order = class_order(counts)
    check_total(total, len(order), int(available[order].sum()))
    weights = imbalance.weights(len(order))
    shares = apportion(weights, total, least=1, most=available[order])
    wanted = apportion(weights, total, least=1)
    sizes = np.zeros(len(counts), dtype=np.int64)
    sizes[order] = shares
    caps = tuple(
        Cap(int(k), int(ask), int(available[k])) for k, ask in zip(order, wanted, strict=True) if ask > available[k]
    )
    return ClassSizes(imbalance, tuple(sizes.tolist()), tuple(order.tolist()), caps)


def natural_sizes(
    imbalance: Imbalance, total: int, counts: Ints, available: Ints, rng: np.random.Generator
) -> ClassSizes:
    """Labels per class as a simple random sample of all labelled nodes gives them.

    A class with fewer nodes left than that leaves the rest to the others; one that was missed takes a label from the
    largest.
    """
    order = class_order(counts)
    check_total(total, len(order), int(available[order].sum()))
    left = available[order]
    drawn = np.minimum(rng.multivariate_hypergeometric(counts[order], total), left)
    sizes = np.zeros(len(counts), dtype=np.int64)
    sizes[order] = drawn + rng.multivariate_hypergeometric(left - drawn, total - int(drawn.sum()))
    for k in order[sizes[order] == 0]:
        sizes[np.argmax(sizes)] -= 1
        sizes[k] = 1
    return ClassSizes(imbalance, tuple(sizes.tolist()), tuple(order.tolist()))


def check_total(total: int, n_classes: int, available: int) -> None:
    """Refuse totals that no sizes of at least 1 per class can have."""
    if total < n_classes:
        raise InputError(
            f"{total} training labels are too few for {n_classes} classes, one each at least: label more nodes, "
            "or ask for more training labels (an imbalance that ends in @1/class asks for as many as classes)"
        )
    if total > available:
        raise InputError(
            f"{total} training labels are more than the {available} nodes left after validation and test: "
            "ask for fewer, or label more nodes"
        )


def report_caps(sizes: ClassSizes, what: str) -> None:
    """Say on the log (by default: standard error) where the law could not be kept."""
    if sizes.caps:
        logger.warning("imbalance %s, %s: %s", sizes.imbalance, what, "; ".join(map(str, sizes.caps)))
