"""One classifier's results as plain values for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from imgcl.evaluation import Estimate, EvaluationResult
from imgcl.evaluation.metrics import precision, recall
from imgcl.evaluation.render import COLUMNS
from imgcl.report.encoding import number, numbers


def result_entry(result: EvaluationResult, classifier: str) -> dict[str, Any]:
    """Metrics with deviation and interval, recall and precision of every class, and the confusion matrix in counts."""
    scores = result.of(classifier)
    per_class = {}
    for name, metric in (("recall", recall), ("precision", precision)):
        per_class[name] = [_estimate(scores.estimate(values)) for values in metric(scores.confusion).T]
    return {
        "metrics": {metric: _estimate(result[classifier, metric]) for metric in COLUMNS},
        **per_class,
        "confusion": np.asarray(scores.confusion.sum(axis=0)).tolist(),
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "mean": number(found.mean),
        "sd": number(found.sd),
        "ci95": None if found.ci95 is None else numbers(found.ci95),
    }
