"""Splits by time: trained on earlier nodes, tested on those of the next period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl.imbalance.splits import Split, check_labelled

PERIODS = 5
VALIDATION = 0.2  # share of the earlier nodes of every class that choose settings


@dataclass(frozen=True, eq=False)
class Period:
    """A period and its split.

    Attributes:
        first: the first time of a test node.
        last: the last one.
        split: earlier nodes train and validate, those of the period test.
    """

    first: float
    last: float
    split: Split


def time_splits(times: ArrayLike, y: ArrayLike, periods: int = PERIODS, random_state: RandomState = 0) -> list[Period]:
    """One split for every period but the first: labelled nodes before it train, its own are the test.

    Periods have about as many labelled nodes each; nodes of the same time are in the same period. 20 % of the earlier
    nodes of every class, drawn at random, validate. Nodes without a label or a time are in no set.

    Args:
        times: a number per node; nan where there is none.
        y: labels, -1 for unlabelled nodes.
        periods: how many.
        random_state: seed of the validation nodes.

    Raises:
        InputError: when there are too few times or labels for two periods.

    Example:
        >>> y = np.tile([0, 1], 50)
        >>> for period in time_splits(np.arange(100), y, periods=4):
        ...     print(period.first, period.last, period.split)
        25.0 49.0 Split(train=20, val=5, test=25)
        50.0 74.0 Split(train=40, val=10, test=25)
        75.0 99.0 Split(train=60, val=15, test=25)
    """
    labels, moments = check_labelled(y), np.asarray(times, dtype=np.float64)
    if moments.shape != labels.shape:
        raise InputError(f"times have shape {moments.shape}, labels {labels.shape}: give one time per node")
    if periods < 2:
        raise InputError(f"periods is {periods}: it must be 2 or more, for the first one is only trained on")
    known = np.flatnonzero((labels >= 0) & np.isfinite(moments))
    bounds = _bounds(moments[known], periods)
    if len(bounds) < 2:
        raise InputError(f"the {len(known):,} labelled nodes with a time have too few different times for two periods")
    number = np.searchsorted(bounds, moments[known], side="right") - 1
    rng = generator(as_seed(random_state), "time split")
    return [_period(known[number < k], known[number == k], labels, moments, rng) for k in range(1, len(bounds))]


def _bounds(moments: NDArray[np.float64], periods: int) -> NDArray[np.float64]:
    """The first time of every period."""
    if not len(moments):
        return np.empty(0)
    ordered = np.sort(moments)
    return np.unique(ordered[[len(ordered) * k // periods for k in range(periods)]])


def _period(
    earlier: NDArray[np.int64],
    own: NDArray[np.int64],
    labels: NDArray[np.int64],
    moments: NDArray[np.float64],
    rng: np.random.Generator,
) -> Period:
    parts: list[NDArray[np.int64]] = []
    for k in np.unique(labels[earlier]):
        mine = rng.permutation(earlier[labels[earlier] == k])
        parts.append(mine[: max(1, round(VALIDATION * len(mine))) if len(mine) > 1 else 0])
    val = np.concatenate(parts)
    if len(parts) < 2 or not len(val):
        raise InputError(
            f"the {len(earlier):,} earliest labelled nodes have fewer than two classes to learn from: use fewer "
            "periods, or label more early nodes"
        )
    split = Split(np.setdiff1d(earlier, val), val, own)
    return Period(float(moments[own].min()), float(moments[own].max()), split)
