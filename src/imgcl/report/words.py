"""Sentences that follow from the numbers."""

from __future__ import annotations

from imgcl._core.words import percent
from imgcl.evaluation import Effects, Estimate, EvaluationResult, estimate


def moved(effect: Estimate) -> str:
    """How an effect moved a result; without a clear difference it says so.

    Example:
        >>> moved(Estimate(0.1, 0.02, (0.05, 0.15)))
        'raised it by +10.0 [+5.0, +15.0] points'
        >>> moved(Estimate(0.01, 0.02, (-0.01, 0.03)))
        'made no clear difference (+1.0 [-1.0, +3.0] points)'
    """
    points = f"{effect.points()} points"
    if effect.mean is None or effect.ci95 is None or effect.ci95[0] <= 0 <= effect.ci95[1]:
        return f"made no clear difference ({points})"
    return f"{'raised' if effect.mean > 0 else 'lowered'} it by {points}"


def tail_conclusion(effects: Effects, classifiers: tuple[str, str] = ("plain", "pbs")) -> str:
    """Which of the two, another classifier or balanced pre-training, helped the rare classes."""
    low, high = classifiers
    other, pretraining = (effects[name, "tail"] for name in ("classifier", "pre-training"))
    return (
        f"Recall of the rare classes: the classifier {high} in place of {low} {moved(other)}; "
        f"balancing the pre-training (ImGCL) {moved(pretraining)}."
    )


def run_conclusion(result: EvaluationResult) -> str:
    """How the rare classes fare in one run, and what the second classifier changes."""
    low, *others = result.classifiers
    rare = "class" if len(result.groups.tail) == 1 else "classes"
    found = "; ".join(f"{name}: {_against_common(result, name)}" for name in result.classifiers[:2])
    if not others:
        return f"Recall of the rare {rare}, {found}."
    high = others[0]
    difference = result.values(high, "tail") - result.values(low, "tail")
    scores = result.of(low)
    effect = estimate(difference, scores.seeds, scores.splits)
    return f"Recall of the rare {rare}, {found}. The classifier {high} in place of {low} {moved(effect)}."


def _against_common(result: EvaluationResult, classifier: str) -> str:
    tail, head = (result[classifier, group].mean for group in ("tail", "head"))
    ones = "one" if len(result.groups.head) == 1 else "ones"
    return f"{percent(tail)} (of the common {ones} {percent(head)})"
