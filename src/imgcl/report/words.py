"""Sentences that follow from the numbers."""

from __future__ import annotations

from imgcl.evaluation import Effects, Estimate


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


def tail_conclusion(effects: Effects, classifier: str = "pbs") -> str:
    """Which of the two balancings helped the rare classes."""
    balanced, pretraining = (effects[name, "tail"] for name in ("classifier", "pre-training"))
    return (
        f"Recall of the rare classes: balancing the classifier ({classifier}) {moved(balanced)}; "
        f"balancing the pre-training (ImGCL) {moved(pretraining)}."
    )
