"""The default probe: all splits and all values of C in one batched solver."""

from __future__ import annotations

from collections.abc import Sequence

from imgcl.evaluation.regression import fit_path, follow_stages
from imgcl.evaluation.softmax import Problem
from imgcl.evaluation.tasks import Candidates

PENALTIES = tuple(2.0**i for i in range(-10, 11, 2))
"""The grid of C that validation chooses from, for every probe that has a C."""


def batched(problems: Sequence[Problem], start: Candidates | None = None) -> Candidates:
    """Fit every problem for every C; problems with stages go on from ``start``, the fits of their first stage."""
    coefficients = fit_path(problems, PENALTIES) if start is None else start.coefficients
    if len(problems[0].weight) > 1:
        coefficients = follow_stages(problems, PENALTIES, coefficients)
    return Candidates(coefficients, [{"C": c} for c in PENALTIES])
