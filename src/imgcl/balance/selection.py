"""Which rows to contrast: inclusion probabilities, three ways to draw rows by them, and one draw of a training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl.balance.probabilities import node_probabilities, power, progressively_balanced
from imgcl.balance.settings import BalanceSettings

CERTAIN = 1 - 1e-9  # an inclusion probability that rounding kept below one
EXPECTED = 1e-6  # by which rounding may have changed an expected number of rows


def inclusion_probabilities(
    probabilities: ArrayLike, size: int, strata: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Probability of each row to be among ``size`` distinct rows drawn in proportion to ``probabilities``.

    ``pi_v = min(1, c * P(v))`` with c solved so that the pi sum to ``size``. With ``strata`` the same is solved twice:
    once for the classes, whose places are proportional to their total probability and at most their members (a class
    that cannot fill its share gives the rest back), and then inside each class, so that a few very central nodes do
    not cost their class its share.

    Args:
        probabilities: P(v), non-negative; need not sum to one.
        size: number of rows to draw.
        strata: class of each row, or ``None`` to treat all rows as one class.

    Example:
        >>> inclusion_probabilities([0.7, 0.1, 0.1, 0.1], 2).round(4).tolist()
        [1.0, 0.3333, 0.3333, 0.3333]
        >>> inclusion_probabilities([0.5, 0.25, 0.05, 0.2], 2, strata=[0, 1, 1, 1]).round(4).tolist()
        [1.0, 0.5, 0.1, 0.4]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    classes = np.zeros(len(p), dtype=np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
    possible = int(np.count_nonzero(p))
    if not 1 <= size <= possible:
        raise InputError(
            f"cannot select {size} distinct rows: {possible} of {len(p)} rows have a positive probability; "
            "select a fraction with 1 <= fraction * N <= that number, or raise the floor"
        )
    members = np.bincount(classes[p > 0], minlength=int(classes.max()) + 1).astype(np.float64)
    places = _fill(np.asarray(np.bincount(classes, p), dtype=np.float64), members, float(size))
    order = np.argsort(classes, kind="stable")
    ends = np.cumsum(np.bincount(classes))
    pi = np.zeros(len(p))
    for stop, count, room in zip(ends, np.diff(ends, prepend=0), places, strict=True):
        rows = order[stop - count : stop]
        pi[rows] = _fill(p[rows], (p[rows] > 0).astype(np.float64), room)
    return pi


def _fill(shares: NDArray[np.float64], capacity: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """``min(capacity, c * shares)`` with c such that it sums to ``total`` (at most the whole capacity)."""
    filled = np.zeros_like(shares)
    open_ = shares > 0
    left = min(total, float(capacity[open_].sum()))
    while left > 0 and open_.any():
        # raising c only ever fills more entries up, so each round either settles the rest or closes some for good
        wanted = shares * (left / shares[open_].sum())
        over = open_ & (wanted >= capacity)
        if not over.any():
            filled[open_] = wanted[open_]
            break
        filled[over] = capacity[over]
        open_ &= ~over
        left -= float(capacity[over].sum())
    return filled


def systematic(pi: ArrayLike, generator: np.random.Generator, strata: ArrayLike | None = None) -> NDArray[np.int64]:
    """Systematic (Madow) sampling: exactly ``sum(pi)`` distinct rows, each with its inclusion probability.

    The rows lie on a line in random order, class after class; a comb with teeth at distance one picks them. Each class
    therefore gets its expected number of rows, rounded up or down.

    Args:
        pi: inclusion probabilities that sum to a whole number.
        generator: source of randomness.
        strata: class of each row.

    Returns:
        The selected rows, ascending.

    Example:
        >>> rows = systematic([0.5, 0.5, 0.5, 0.5], np.random.default_rng(0), strata=[0, 0, 1, 1])
        >>> len(rows), int((rows < 2).sum())
        (2, 1)
    """
    chance = np.asarray(pi, dtype=np.float64)
    certain = np.flatnonzero(chance >= CERTAIN)
    maybe = np.flatnonzero((chance > 0) & (chance < CERTAIN))
    places = round(float(chance[maybe].sum()))
    if places == 0:
        return certain
    order = generator.permutation(maybe)
    if strata is not None:
        order = order[np.argsort(np.asarray(strata)[order], kind="stable")]
    line = np.cumsum(chance[order])
    line *= places / line[-1]
    comb = generator.random() + np.arange(places)
    drawn = order[np.searchsorted(line, comb, side="right")]
    return np.sort(np.concatenate([certain, drawn]))


def poisson(pi: ArrayLike, generator: np.random.Generator, strata: ArrayLike | None = None) -> NDArray[np.int64]:
    """The paper's "sample each node independently": a random number of rows, ``sum(pi)`` on average.

    A draw that cannot be contrasted is repeated: one without any row, and one of a single row where at least two are
    expected. The same generator gives the same rows, repetitions included.

    Example:
        >>> poisson([1.0, 0.0, 1.0], np.random.default_rng(0)).tolist()
        [0, 2]
    """
    chance = np.asarray(pi, dtype=np.float64)
    if not (chance > 0).any():
        raise InputError("no row has a positive probability: there is nothing to select")
    least = 2 if chance.sum() > 2 - EXPECTED else 1  # with two expected, more than half of the draws have them
    rows = np.flatnonzero(generator.random(len(chance)) < chance)
    while len(rows) < least:
        rows = np.flatnonzero(generator.random(len(chance)) < chance)
    return rows


def replacement(pi: ArrayLike, generator: np.random.Generator, strata: ArrayLike | None = None) -> NDArray[np.int64]:
    """Independent draws with replacement: ``sum(pi)`` rows, a row may come more than once (``pi`` may pass one).

    Example:
        >>> replacement([0.0, 3.0], np.random.default_rng(0)).tolist()
        [1, 1, 1]
    """
    expected = np.asarray(pi, dtype=np.float64)
    drawn = generator.multinomial(round(float(expected.sum())), expected / expected.sum())
    return np.repeat(np.arange(len(expected)), drawn)


Draw = Callable[[ArrayLike, np.random.Generator, ArrayLike | None], NDArray[np.int64]]
SELECTIONS: dict[str, Draw] = {"systematic": systematic, "poisson": poisson, "replacement": replacement}


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
