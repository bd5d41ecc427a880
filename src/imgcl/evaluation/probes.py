"""Ways to fit the linear classifiers, all on L2-normalised frozen embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.quiet import without_warning
from imgcl.evaluation.regression import fit_path, follow_stages, side_by_side, switch_off_absent
from imgcl.evaluation.softmax import ABSENT, Problem, SoftmaxStack
from imgcl.evaluation.tasks import Candidates, Probe

PENALTIES = tuple(2.0**i for i in range(-10, 11, 2))
"""The grid of C that validation chooses from, for every probe that has a C."""
MAX_ITER = 5000
STAGE_STEPS = 10  # about as near to the optimum as the Newton step that the batched probe takes in a stage
STEPS = 5000
LEARNING_RATE = 0.01
BETAS = (0.9, 0.999)
EPSILON = 1e-8
EVERY = 20  # steps between two looks at validation


def batched(problems: Sequence[Problem], start: Candidates | None = None) -> Candidates:
    """Fit every problem for every C; problems with stages go on from ``start``, the fits of their first stage."""
    coefficients = fit_path(problems, PENALTIES) if start is None else start.coefficients
    if len(problems[0].weight) > 1:
        coefficients = follow_stages(problems, PENALTIES, coefficients)
    return Candidates(coefficients, [{"C": c} for c in PENALTIES])


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
        with without_warning(category=ConvergenceWarning):  # later stages are meant to stop early
            model.fit(x, y, sample_weight=(weight / weight.mean()).numpy())
    coefficients = torch.zeros(problem.n_classes, x.shape[1] + 1, dtype=torch.float32)
    coefficients[:, -1] = ABSENT
    rows, intercept = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn gives one row for two classes: the log odds of the second
        rows, intercept = np.concatenate([-rows, rows]) / 2, np.concatenate([-intercept, intercept]) / 2
    fitted = np.concatenate([rows, intercept[:, None]], axis=1)
    coefficients[torch.from_numpy(model.classes_)] = torch.from_numpy(fitted).float()
    return coefficients


def pygcl(problems: Sequence[Problem], start: Candidates | None = None) -> Candidates:
    """Train every problem for 5000 full-batch steps of Adam (0.01); a candidate is what stands after every 20th step.

    Problems with stages spend equally many steps in each; ``start`` is not used.
    """
    points = side_by_side(_train, problems, [problem.x for problem in problems])
    coefficients = points.view(len(problems), points.shape[1], problems[0].n_classes, -1)
    settings = [{"step": float(step)} for step in range(EVERY, STEPS + 1, EVERY)]
    return Candidates(switch_off_absent(coefficients, problems), settings)


def _train(problems: list[Problem]) -> Tensor:
    stages = len(problems[0].weight)
    everything = torch.arange(len(problems))
    stack = SoftmaxStack(problems, range(len(problems)))  # its penalty is zero until it is set
    dimension = problems[0].n_classes * (problems[0].x.shape[1] + 1)
    points = torch.zeros(len(problems), dimension, dtype=torch.float32)
    mean, square = torch.zeros_like(points), torch.zeros_like(points)
    snapshots = []
    for step in range(STEPS):
        if step * stages % STEPS < stages:
            stack.set_stage(step * stages // STEPS)
        _, gradient, _ = stack.evaluate(points, everything)
        # Adam as torch's, written out: its first step would import a compiler for seconds
        mean.lerp_(gradient, 1 - BETAS[0])
        square.lerp_(gradient * gradient, 1 - BETAS[1])
        size = LEARNING_RATE / (1 - BETAS[0] ** (step + 1))
        points -= size * mean / ((square / (1 - BETAS[1] ** (step + 1))).sqrt() + EPSILON)
        if (step + 1) % EVERY == 0:
            snapshots.append(points.clone())
    return torch.stack(snapshots, dim=1)


PROBES: dict[str, Probe] = {"batched": batched, "sklearn": sklearn, "pygcl": pygcl}
