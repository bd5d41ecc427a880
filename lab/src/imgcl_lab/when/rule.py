"""A plain rule: at most two questions about a graph, found on half of the settings and checked on the other half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from imgcl.evaluation.intervals import Estimate, estimate
from imgcl_lab.when.design import KNOBS
from imgcl_lab.when.effects import SettingEffect

DEPTH = 2
LEAST_SHARE = 1 / 8  # of the settings in an answer of the rule
USE, AVOID, EITHER = "use ImGCL", "leave it off", "no difference"


@dataclass(frozen=True)
class Condition:
    """One question about a knob."""

    knob: str
    above: bool
    threshold: float

    def holds(self, knobs: Mapping[str, float]) -> bool:
        """Whether it is so."""
        return (knobs[self.knob] > self.threshold) == self.above

    def __str__(self) -> str:
        return f"{KNOBS[self.knob].title} {'above' if self.above else 'at most'} {self.threshold:.3g}"


@dataclass(frozen=True)
class Answer:
    """The settings that meet some conditions, and what ImGCL does there.

    Attributes:
        conditions: all of them hold.
        found: mean effect over the settings that the rule was made from.
        checked: the same over the other settings.
        sizes: numbers of both.
    """

    conditions: tuple[Condition, ...]
    found: Estimate
    checked: Estimate
    sizes: tuple[int, int]

    def holds(self, knobs: Mapping[str, float]) -> bool:
        """Whether a graph with these knobs is one of them."""
        return all(condition.holds(knobs) for condition in self.conditions)

    @property
    def advice(self) -> str:
        """What both halves say; where they do not agree, nothing."""
        ends = [each.ci95 or (0.0, 0.0) for each in (self.found, self.checked)]
        if all(low > 0 for low, _ in ends):
            return USE
        return AVOID if all(high < 0 for _, high in ends) else EITHER

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions)) or "every graph"


def find_rule(effects: Sequence[SettingEffect], metric: str) -> list[Answer]:
    """A regression tree of the effect, made from the settings with even numbers, checked on the odd ones."""
    halves = [[each for each in effects if each.setting.number % 2 == odd] for odd in (0, 1)]
    if not halves[0]:
        return []
    knobs = [name for name, knob in KNOBS.items() if knob.seen]
    x = np.array([[each.setting.knobs[name] for name in knobs] for each in halves[0]])
    y = np.array([each.mean(metric) for each in halves[0]])
    least = max(1, round(LEAST_SHARE * len(y)))
    tree = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=least, random_state=0).fit(x, y).tree_
    return [_answer(conditions, halves, metric) for conditions in _leaves(tree, knobs)]


def _leaves(tree: object, knobs: Sequence[str]) -> list[tuple[Condition, ...]]:
    left, right = tree.children_left, tree.children_right  # type: ignore[attr-defined]
    found: list[tuple[Condition, ...]] = []

    def walk(node: int, path: tuple[Condition, ...]) -> None:
        if left[node] == right[node]:
            found.append(path)
            return
        knob = knobs[tree.feature[node]]  # type: ignore[attr-defined]
        threshold = float(f"{tree.threshold[node]:.3g}")  # type: ignore[attr-defined]
        walk(left[node], (*path, Condition(knob, False, threshold)))
        walk(right[node], (*path, Condition(knob, True, threshold)))

    walk(0, ())
    return found


def _answer(conditions: tuple[Condition, ...], halves: Sequence[Sequence[SettingEffect]], metric: str) -> Answer:
    inside = [
        [each.mean(metric) for each in half if all(c.holds(each.setting.knobs) for c in conditions)] for half in halves
    ]
    found, checked = (estimate(values) for values in inside)
    return Answer(conditions, found, checked, (len(inside[0]), len(inside[1])))
