"""From probabilities to a class: which errors matter, and how many nodes somebody can look at.

=================================  ====================================================================
``argmax``                         the most probable class
``balanced``                       the class whose probability exceeds its share the most
``cost:banned=10,ok=1``            missing a node of class banned costs ten times as much as missing one of class ok
``flag-rate:2%``                   the 2 % of the nodes with the largest score for the rare class
``min-precision:0.8``              as many nodes as possible while four of five flagged ones are right
``min-recall:0.9``                 as few nodes as possible while nine of ten nodes of the rare class are flagged
=================================  ====================================================================

The last three flag the class with the fewest labels, or a named one (``min-recall:banned=0.9``); nodes that are not
flagged get the most probable of the other classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.evaluation.metrics import confusion_matrix
from imgcl.evaluation.priors import class_values, read_number

Floats = NDArray[np.float64]
PLAIN_RULES = ("argmax", "balanced")
FLAG_RULES = ("flag-rate", "min-precision", "min-recall")
RULES = (*PLAIN_RULES, "cost", *FLAG_RULES)
FEWEST_FLAGGED = 5  # a precision of fewer nodes is chance
DRAWS = 2000  # of the rates, for intervals


@dataclass(frozen=True)
class Rule:
    """A decision rule as it was written.

    Attributes:
        kind: ``argmax``, ``balanced``, ``cost``, ``flag-rate``, ``min-precision`` or ``min-recall``.
        values: costs by class; or the rate to reach, by the class that is flagged (-1: the rarest).
        text: the rule.
    """

    kind: str
    values: Mapping[int, float]
    text: str


@dataclass(frozen=True)
class Decision:
    """A rule with its numbers chosen; plain values.

    Attributes:
        rule: as it was written.
        weights: a node gets the class with the largest product of weight and probability.
        target: the class that is flagged by a threshold instead; ``None`` without one.
        threshold: nodes whose score for ``target`` is at least this are flagged.
        expected: what it will give: ``precision``, ``recall`` and ``flag_rate`` of each class, each with its 95 %
            interval (``value``, ``ci95``).
    """

    rule: str
    weights: tuple[float, ...]
    target: int | None = None
    threshold: float | None = None
    expected: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def classes(self, probabilities: ArrayLike, scores: ArrayLike) -> NDArray[np.int64]:
        """Class number of every node.

        Args:
            probabilities: (n, K).
            scores: log odds of every class (n, K), before calibration.

        Example:
            >>> decision = Decision("cost:0=10,1=1", (10.0, 1.0))
            >>> decision.classes([[0.2, 0.8], [0.05, 0.95]], [[-1, 1], [-3, 3]]).tolist()
            [0, 1]
        """
        weighted = np.asarray(probabilities, dtype=np.float64) * np.array(self.weights)
        if self.target is None or self.threshold is None:
            return np.asarray(weighted.argmax(axis=1), dtype=np.int64)
        weighted[:, self.target] = -1
        flagged = np.asarray(scores)[:, self.target] >= self.threshold
        return np.where(flagged, self.target, weighted.argmax(axis=1)).astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "weights": list(self.weights)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Decision:
        """Read back what :meth:`to_dict` wrote."""
        target, threshold = values["target"], values["threshold"]
        return cls(
            rule=str(values["rule"]),
            weights=tuple(map(float, values["weights"])),
            target=None if target is None else int(target),
            threshold=None if threshold is None else float(threshold),
            expected=dict(values["expected"]),
        )


def parse_rule(text: str, class_names: Sequence[str]) -> Rule:
    """A decision rule from text.

    Raises:
        InputError: when the rule, a class or a number is wrong.

    Example:
        >>> parse_rule("cost:banned=10,ok=1", ["banned", "ok"]).values
        {0: 10.0, 1: 1.0}
        >>> parse_rule("flag-rate:2%", ["banned", "ok"]).values
        {-1: 0.02}
    """
    kind, _, rest = str(text).strip().partition(":")
    if kind in PLAIN_RULES and not rest:
        return Rule(kind, {}, kind)
    if kind == "cost" and rest:
        costs = class_values(rest, class_names, "decision")
        if len(costs) == len(class_names) and not any(costs.values()):
            raise InputError(f"`decision` is {text!r}: at least one class must cost something")
        return Rule(kind, costs, text)
    if kind in FLAG_RULES and rest:
        return Rule(kind, _rate(rest, class_names), text)
    every = "choose argmax, balanced, cost:CLASS=10,OTHER=1, flag-rate:2%, min-precision:0.8 or min-recall:0.9"
    known = [] if kind in RULES else RULES  # else it is the rest that is wrong
    raise InputError(f"`decision` is {text!r}{did_you_mean(kind, known, every)}")


def _rate(text: str, class_names: Sequence[str]) -> dict[int, float]:
    found = class_values(text, class_names, "decision") if "=" in text else {-1: read_number(text, "decision")}
    if len(found) != 1 or not all(0 < rate <= 1 for rate in found.values()):
        raise InputError(f"`decision` has {text!r}: give one rate above 0 and at most 1, such as 0.8 or 80%")
    return found


def check_target(rule: Rule, sizes: NDArray[np.int64]) -> None:
    """Refuse to flag a class with a single label: no node is left to choose the threshold on.

    Args:
        rule: see :func:`parse_rule`.
        sizes: labels of each class.
    """
    for k in rule.values if rule.kind in FLAG_RULES else ():
        if sizes[np.argmin(sizes) if k < 0 else k] < 2:
            raise _too_few(rule)


def _too_few(rule: Rule) -> InputError:
    return InputError(
        f"`decision` is {rule.text!r}, but the class has fewer than two labels to choose it on: label more"
    )


def choose_decision(
    rule: Rule,
    probabilities: Floats,
    scores: Floats,
    y: NDArray[np.int64],
    prior: ArrayLike,
    class_names: Sequence[str],
    rng: np.random.Generator,
    rarest: int = 0,
) -> Decision:
    """Choose the numbers of a rule on nodes outside the classifier's training, and say what it will give.

    Args:
        rule: see :func:`parse_rule`.
        probabilities: of the nodes (n, K), at ``prior``.
        scores: their log odds (n, K), before calibration.
        y: their classes.
        prior: class shares of the nodes that will be scored; classes of the labelled nodes count accordingly.
        class_names: of all classes.
        rng: draws the rates for the intervals.
        rarest: class that is flagged where the rule names none.
    """
    shares = np.asarray(prior, dtype=np.float64)
    target, threshold = None, None
    if rule.kind in FLAG_RULES:
        ((named, rate),) = rule.values.items()
        target = rarest if named < 0 else named
        threshold = _threshold(rule, rate, scores[:, target], y == target, _node_weights(y, shares))
    chosen = Decision(rule.text, _weights(rule, shares), target, threshold)
    confusion = confusion_matrix(y, chosen.classes(probabilities, scores), len(shares))
    expected = expected_rates(confusion, shares, rng)
    return Decision(rule.text, chosen.weights, target, threshold, dict(zip(class_names, expected, strict=True)))


def _weights(rule: Rule, shares: Floats) -> tuple[float, ...]:
    if rule.kind == "cost":
        return tuple(rule.values.get(k, 1.0) for k in range(len(shares)))
    if rule.kind == "balanced":
        return tuple((1 / np.maximum(shares, 1e-12)).tolist())
    return (1.0,) * len(shares)


def _node_weights(y: NDArray[np.int64], shares: Floats) -> Floats:
    """Weights of labelled nodes under which their classes are as common as the shares say; their sum is 1."""
    counts = np.bincount(y, minlength=len(shares))
    weights = (shares / np.maximum(counts, 1))[y]
    return np.asarray(weights / weights.sum())


def _threshold(rule: Rule, rate: float, scores: Floats, positive: NDArray[np.bool_], weights: Floats) -> float:
    """The score from which nodes are flagged."""
    if not positive.any():
        raise _too_few(rule)
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    flagged, hits = weights[order].cumsum(), (weights * positive)[order].cumsum()
    whole = np.append(falling[1:] < falling[:-1], True)  # nodes with one score are flagged together
    if rule.kind == "min-precision":
        whole[: min(FEWEST_FLAGGED, len(whole)) - 1] = False
        reached = np.flatnonzero(whole & (hits >= rate * flagged - 1e-12))
        if not len(reached):
            best = (hits / flagged)[whole].max()
            raise InputError(
                f"`decision` is {rule.text!r}, but the precision is at most {best:.2f} with {FEWEST_FLAGGED} or more "
                "labelled nodes flagged: ask for less, or label more"
            )
        last = int(reached[-1])
    else:
        reach = flagged if rule.kind == "flag-rate" else hits / max(hits[-1], 1e-12)
        last = int(np.flatnonzero(whole & (reach >= rate - 1e-9))[0])
    return float(falling[last] if last + 1 == len(falling) else (falling[last] + falling[last + 1]) / 2)


def expected_rates(
    confusion: NDArray[np.int64], prior: ArrayLike, rng: np.random.Generator
) -> list[dict[str, dict[str, Any]]]:
    """Precision, recall and share of the nodes of every class at a prior, with 95 % intervals.

    The rate at which nodes of class j are assigned to class k is drawn from its posterior under Perks' prior (of two
    classes Jeffreys'), independently for each j. The rates of a class without a node
    have an interval and no value; in those of the others its nodes get any class equally often.

    Args:
        confusion: nodes by true and assigned class (K, K).
        prior: class shares of the nodes that will be scored.
        rng: of the draws.
    """
    shares, n_classes = np.asarray(prior, dtype=np.float64), len(confusion)
    sizes = confusion.sum(axis=1)
    observed = np.where(sizes[:, None] > 0, confusion / np.maximum(sizes, 1)[:, None], 1 / n_classes)
    found = []
    for k in range(n_classes):
        counts = confusion[:, k]
        drawn = rng.beta(counts + 1 / n_classes, sizes - counts + 1 - 1 / n_classes, (DRAWS, n_classes))
        points, draws = _rates(observed[:, k], shares, k), _rates(drawn, shares, k)
        known = points if sizes[k] else dict.fromkeys(points, np.array(np.nan))
        found.append({name: _interval(known[name], draws[name]) for name in points})
    return found


def _rates(assigned: Floats, shares: Floats, k: int) -> dict[str, Floats]:
    """Rates of class k from the rate at which each class is assigned to it (..., K)."""
    flag_rate = assigned @ shares
    hits = assigned[..., k] * shares[k]
    precision = np.divide(hits, flag_rate, out=np.full(np.shape(hits), np.nan), where=np.asarray(flag_rate) > 0)
    return {"precision": precision, "recall": assigned[..., k], "flag_rate": np.asarray(flag_rate)}


def _interval(value: Floats, draws: Floats) -> dict[str, Any]:
    """A rate and its interval, which reaches to a rate that was observed to be 0 or 1: no draw is quite that."""
    low, high = np.nanquantile(draws, [0.025, 0.975])
    low, high = np.fmin(low, value), np.fmax(high, value)
    known = None if np.isnan(value) else round(float(value), 6)
    return {"value": known, "ci95": [round(float(low), 6), round(float(high), 6)]}
