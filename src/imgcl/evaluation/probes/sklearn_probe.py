"""scikit-learn's own logistic regression, one fit after the other: the reference for the batched probe."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl.evaluation.probes.batched_probe import PENALTIES
from imgcl.evaluation.softmax import ABSENT, Problem
from imgcl.evaluation.tasks import Candidates

MAX_ITER = 5000
STAGE_STEPS = 10  # about as near to the optimum as the Newton step that the batched probe takes in a stage


def sklearn(problems: Sequence[Problem], start: Candidates | None = None) -> Candidates:
    """Fit every problem for every C with ``sklearn.linear_model.LogisticRegression``.

    Slow, and without logit offsets: for ``balanced-softmax`` use another probe. ``start`` is not needed: the first
    stage is fitted again.
    """
    fits = [[_fit(problem, c) for c in PENALTIES] for problem in problems]
    return Candidates(torch.stack([torch.stack(row) for row in fits]), [{"C": c} for c in PENALTIES])


def _fit(problem: Problem, c: float) -> Tensor:
    if problem.offset.any():
        raise InputError("probe 'sklearn' cannot fit 'balanced-softmax' (no logit offsets): use probe='batched'")
    x, y = problem.x.numpy(), problem.y.numpy()
    model = LogisticRegression(C=c, max_iter=MAX_ITER, warm_start=True)
    for stage, weight in enumerate(problem.weight):
        model.set_params(max_iter=MAX_ITER if stage == 0 else STAGE_STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # later stages are meant to stop early
            model.fit(x, y, sample_weight=(weight / weight.mean()).numpy())
    coefficients = torch.zeros(problem.n_classes, x.shape[1] + 1)
    coefficients[:, -1] = ABSENT
    rows, intercept = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn gives one row for two classes: the log odds of the second
        rows, intercept = np.concatenate([-rows, rows]) / 2, np.concatenate([-intercept, intercept]) / 2
    fitted = np.concatenate([rows, intercept[:, None]], axis=1)
    coefficients[torch.from_numpy(model.classes_)] = torch.from_numpy(fitted).float()
    return coefficients
