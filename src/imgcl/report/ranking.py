"""What somebody who looks for one class needs: scores of every node, and what any threshold would give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl.evaluation.decisions import Decision
from imgcl.evaluation.fitting import DEFAULT, Fitted, fit_all
from imgcl.evaluation.labels import Labels
from imgcl.evaluation.scorer import log_odds, ranks
from imgcl.report.encoding import array, classes

MOST = 8  # classes that a reader can choose from, the rarest first
STEPS = 10_000  # of a probability


def ranking_entry(
    Z: ArrayLike | Mapping[str, ArrayLike], labels: Labels, shown: NDArray[np.int64], decision: str, seed: int
) -> dict[str, Any] | None:
    """Ranks, probabilities and their quality for the rarest classes; ``None`` with too few labels to hold some out.

    Every labelled node is scored by a model that was not trained on its label.

    Args:
        Z: embedding, or blocks by name.
        labels: of all nodes.
        shown: nodes of the map; only these are learned from and scored.
        decision: a rule of :mod:`imgcl.evaluation.decisions`.
        seed: of the folds.
    """
    blocks = Z if isinstance(Z, Mapping) else {"learned": Z}
    rows = {name: np.asarray(block)[shown] for name, block in blocks.items()}
    codes, names = labels.codes[shown], labels.names
    try:
        fitted = fit_all(rows, codes, DEFAULT, "natural", decision, names, "batched", seed)
    except InputError:
        if decision != "argmax":
            raise
        return None
    return _entry(fitted, labels)


def _entry(fitted: Fitted, labels: Labels) -> dict[str, Any]:
    scorer, quality = fitted.scorer, fitted.scorer.quality
    probabilities, scores = scorer.probabilities(fitted.logits), log_odds(fitted.logits)
    rarest = np.argsort(scorer.labels, kind="stable")[:MOST].tolist()
    numbers = {k: labels.names.index(scorer.class_names[k]) for k in rarest}  # a class may be missing from the sample
    assigned = scorer.decision.classes(probabilities, scores)
    shares = np.array(scorer.labels) / sum(scorer.labels)
    weight = {
        labels.names.index(n): p / s for n, p, s in zip(scorer.class_names, scorer.prior.shares, shares, strict=True)
    }
    return {
        "prior": {"source": scorer.prior.source, "weight": [weight.get(k, 0.0) for k in range(labels.n_classes)]},
        "rule": scorer.decision.rule,
        "calibration": scorer.calibration.kind,
        "ece": quality["ece"],
        "classes": [
            {
                "class": numbers[k],
                "share": scorer.prior.shares[k],
                "p": array(np.round(STEPS * probabilities[:, k]), "int16"),
                "rank": classes(ranks(scores[:, k])),
                "threshold": _threshold(probabilities[:, k], scorer.decision, k, assigned == k),
                "expected": scorer.decision.expected.get(scorer.class_names[k]),
                **quality["classes"][scorer.class_names[k]],
            }
            for k in rarest
        ],
    }


def _threshold(probability: NDArray[np.float64], decision: Decision, k: int, assigned: NDArray[np.bool_]) -> float:
    """The probability from which the rule flags the class, one half for rules without a threshold for it."""
    if decision.target != k:
        return 0.5
    return round(float(probability[assigned].min()), 4) if assigned.any() else 1.0
