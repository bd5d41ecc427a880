"""How common the classes are among the nodes that are scored, and probabilities moved from one prior to another.

A classifier's probabilities hold for nodes whose classes are as common as among its training labels. For other nodes
Bayes' rule moves them: p'(k | x) is proportional to p(k | x) prior'(k) / prior(k).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean

Floats = NDArray[np.float64]
NATURAL, BALANCED, LABELS, ESTIMATED = "natural", "balanced", "labels", "estimated"
PRIORS = (NATURAL, BALANCED, LABELS, ESTIMATED)
STEPS, CHANGE = 1000, 1e-7  # of the EM algorithm
UNLIKELY = 1e-3  # probability under which the labels are taken for a biased draw
CLEAR = 0.1  # share of the nodes that must change class: below, the estimate's own error may be larger


@dataclass(frozen=True)
class Prior:
    """Class shares of the nodes that are scored.

    Attributes:
        shares: one per class, sum 1.
        source: where they are from: ``labels``, ``estimated``, ``balanced`` or ``given``.
    """

    shares: tuple[float, ...]
    source: str


def shift_prior(probabilities: ArrayLike, old: ArrayLike, new: ArrayLike) -> Floats:
    """Class probabilities (n, K) at another prior.

    Example:
        >>> shift_prior([[0.5, 0.5]], old=[0.5, 0.5], new=[0.9, 0.1]).round(6).tolist()
        [[0.9, 0.1]]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    before, after = (np.asarray(prior, dtype=np.float64) for prior in (old, new))
    moved = p * np.divide(after, before, out=np.zeros_like(after), where=before > 0)
    total = moved.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(moved, total, out=np.broadcast_to(after, p.shape).copy(), where=total > 0))


def estimate_prior(probabilities: ArrayLike, prior: ArrayLike, weight: float = 0.0) -> Floats:
    """The prior of unlabelled nodes by the EM algorithm of Saerens, Latinne and Decaestecker (2002).

    Args:
        probabilities: of the unlabelled nodes (n, K), calibrated at ``prior``.
        prior: class shares of the training labels.
        weight: of ``prior`` beside the nodes in every step, from 0 to 1. Probabilities that are a little off make a
            rare class vanish, however many nodes there are: the larger the error they may have, the larger the weight.

    Example:
        >>> p = [[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 2
        >>> estimate_prior(p, [0.5, 0.5]).round(3).tolist()
        [0.875, 0.125]
    """
    p, shares = _checked(probabilities, prior)
    old = shares
    for _ in range(STEPS):
        updated = (1 - weight) * shift_prior(p, old, shares).mean(axis=0) + weight * old
        if np.abs(updated - shares).max() < CHANGE:
            return np.asarray(updated)
        shares = updated
    return shares


def estimate_from_labels(probabilities: ArrayLike, counts: ArrayLike) -> Floats:
    """:func:`estimate_prior` with probabilities that labels calibrated: their shares have the weight of one label.

    Args:
        probabilities: of the unlabelled nodes (n, K), calibrated at the labels' shares.
        counts: labels of each class.

    Example:
        >>> p = [[0.75, 0.25]] * 100  # a little too low for a class with 30 % of the labels, at every node
        >>> estimate_prior(p, [0.7, 0.3]).round(3).tolist()
        [1.0, 0.0]
        >>> estimate_from_labels(p, [70, 30]).round(3).tolist()
        [0.987, 0.013]
    """
    labels = np.asarray(counts, dtype=np.float64)
    return estimate_prior(probabilities, labels / labels.sum(), 1 / (1 + labels.sum()))


def _checked(probabilities: ArrayLike, shares: ArrayLike) -> tuple[Floats, Floats]:
    """Both as arrays, after a check that they have the same classes, each with a share above 0."""
    p, numbers = np.asarray(probabilities, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    if p.ndim != 2 or numbers.shape != p.shape[1:] or not (numbers > 0).all():
        raise InputError(
            f"probabilities have shape {p.shape} and the classes' shares are {numbers.tolist()}: give probabilities "
            "(n, K), and for each of the K classes a share above 0"
        )
    if not len(p) or not np.isfinite(p).all():
        raise InputError("probabilities must be finite, of at least one node")
    return p, numbers


def natural_prior(probabilities: ArrayLike, counts: ArrayLike) -> Prior:
    """Class shares of the unlabelled nodes: those of the labels, unless these are clearly another population.

    The shares are estimated by :func:`estimate_from_labels`. They replace those of the labels when the unlabelled nodes
    speak for them, the labels could hardly be a random draw from them (likelihood ratio tests at 0.1 %), and they
    differ for at least 10 % of the nodes: a biased draw misses by more, and the estimate itself may err by half of
    that.

    Args:
        probabilities: of the unlabelled nodes (n, K), calibrated at the labels' shares.
        counts: labels of each class.
    """
    labels, p = np.asarray(counts, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    shares = labels / labels.sum()
    if not len(p):
        return Prior(tuple(shares.tolist()), LABELS)
    found = estimate_from_labels(p, labels)
    if _is_biased(p, labels, found):
        return Prior(tuple(found.tolist()), ESTIMATED)
    return Prior(tuple(shares.tolist()), LABELS)


def _is_biased(p: Floats, counts: Floats, found: Floats) -> bool:
    """Whether unlabelled nodes and labels both contradict that the labels are a random draw."""
    shares, limit = counts / counts.sum(), chi2.ppf(1 - UNLIKELY, len(counts) - 1)
    if np.abs(found - shares).sum() / 2 < CLEAR:
        return False
    ratio = np.divide(found, shares, out=np.ones_like(found), where=shares > 0)
    nodes = 2 * np.log(np.maximum((p * ratio).sum(axis=1), np.finfo(np.float64).tiny)).sum()
    drawn = -2 * (counts * np.log(np.maximum(ratio, np.finfo(np.float64).tiny)))[counts > 0].sum()
    return bool(nodes > limit and drawn > limit)


def parse_prior(prior: Any, class_names: Sequence[str], sizes: Sequence[int] | None = None) -> str | Prior:
    """A prior as users write it: a name of :data:`PRIORS`, or shares by class.

    Args:
        prior: ``natural``, ``balanced``, ``labels``, ``estimated``; a mapping from class to share, also as text
            ``"banned=0.02,ok=0.98"``; or one share per class. Classes that are not named share what is left.
        class_names: of all classes.
        sizes: labels of each class, in proportion to which what is left is shared; by default equally.

    Returns:
        ``natural``, ``labels`` or ``estimated``, which need nodes; otherwise the prior.

    Example:
        >>> parse_prior("banned=2%", ["banned", "ok"])
        Prior(shares=(0.02, 0.98), source='given')
        >>> parse_prior("balanced", ["banned", "ok"]).shares
        (0.5, 0.5)
        >>> parse_prior("banned=0.2", ["banned", "new", "ok"], sizes=[50, 10, 30]).shares
        (0.2, 0.2, 0.6)
    """
    if isinstance(prior, Prior) and len(prior.shares) == len(class_names):
        return prior
    if isinstance(prior, str) and prior in PRIORS:
        return Prior((1 / len(class_names),) * len(class_names), BALANCED) if prior == BALANCED else prior
    if isinstance(prior, str) and "=" not in prior:
        raise InputError(f"`prior` is {prior!r}{did_you_mean(prior, PRIORS, more='or write class=share,class=share')}")
    if isinstance(prior, str | Mapping):
        named = class_values(prior, class_names, "prior")
        return Prior(_completed(named, [1] * len(class_names) if sizes is None else sizes), "given")
    shares = np.asarray(prior)
    if shares.shape != (len(class_names),) or shares.dtype.kind not in "fiu":
        raise InputError(f"`prior` is {prior!r}: give one share for each of the {len(class_names)} classes")
    return Prior(_completed(dict(enumerate(shares.tolist())), [1] * len(class_names)), "given")


def _completed(named: Mapping[int, float], sizes: Sequence[int]) -> tuple[float, ...]:
    """Shares of all classes; what the named ones leave is divided among the others in proportion to their sizes."""
    total, others = sum(named.values()), sum(int(size) for k, size in enumerate(sizes) if k not in named)
    whole = total < 1 if others else abs(total - 1) <= 1e-6
    if not whole or any(not 0 < share < 1 for share in named.values()):
        raise InputError(
            f"the shares of `prior` are {list(named.values())}: each must be above 0 and below 1, and all sum to 1"
        )
    return tuple(named[k] if k in named else (1 - total) * int(size) / others for k, size in enumerate(sizes))


def class_values(given: str | Mapping[Any, float], class_names: Sequence[str], what: str) -> dict[int, float]:
    """Numbers by class, from a mapping or from text such as ``"banned=10,ok=1"``.

    Example:
        >>> class_values("ok=1,banned=10", ["banned", "ok"], "costs")
        {1: 1.0, 0: 10.0}
    """
    listed = _pairs(given, what) if isinstance(given, str) else [(str(key), value) for key, value in given.items()]
    pairs = dict(listed)
    if len(pairs) < len(listed):
        raise InputError(f"`{what}` has {given!r}, a class twice: give one number for each")
    position = {name: k for k, name in enumerate(class_names)}
    unknown = [name for name in pairs if name not in position]
    if unknown:
        hint = did_you_mean(unknown[0], class_names, f"the classes are {', '.join(class_names)}")
        raise InputError(f"`{what}` has class {unknown[0]!r}{hint}")
    return {position[name]: read_number(value, what) for name, value in pairs.items()}


def _pairs(text: str, what: str) -> list[tuple[str, str]]:
    pairs = [part.rpartition("=") for part in text.split(",")]
    if any(not equals or not name.strip() for name, equals, _ in pairs):
        raise InputError(f"`{what}` has {text!r}: write class=number,class=number")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def read_number(value: Any, what: str) -> float:
    """A finite number of at least 0; text may be a percentage.

    Example:
        >>> read_number("2%", "decision")
        0.02
    """
    text = str(value).strip()
    try:
        number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number) or number < 0:
        raise InputError(f"`{what}` has {text!r}: expected a number of at least 0, or a percentage such as 2%")
    return number
