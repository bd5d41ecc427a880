"""The evaluator of PyGCL: Adam on the unpenalised loss, and the step that was best on validation."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from imgcl.evaluation.regression import side_by_side, switch_off_absent
from imgcl.evaluation.softmax import Problem, SoftmaxStack
from imgcl.evaluation.tasks import Candidates

STEPS = 5000
LEARNING_RATE = 0.01
BETAS = (0.9, 0.999)
EPSILON = 1e-8
EVERY = 20  # steps between two looks at validation


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
    points = torch.zeros(len(problems), dimension)
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
