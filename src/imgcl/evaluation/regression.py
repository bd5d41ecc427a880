"""Multinomial logistic regression with an L2 penalty, for many training sets and many values of C at once.

For each problem it finds what scikit-learn's ``LogisticRegression(C=C, solver="lbfgs")`` finds: the minimum of
``C * sum_i s_i * cross_entropy_i + ||W||^2 / 2`` with the intercept unpenalised and the weights s scaled to mean 1.
Divided by C * n that is a mean loss with the penalty 1 / (C * n), the form used here.

Why it is fast: problems advance together (:mod:`imgcl.evaluation.newton`), each value of C starts where the solutions
for smaller ones point, the preconditioner is near the Hessian and cheap, and float32 is enough (the
loss is found to 1e-4, relative: see :data:`imgcl.evaluation.newton.GAP`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TypeVar

import torch
from torch import Tensor

from imgcl._core.torch_settings import compute_alone
from imgcl.evaluation.newton import minimise
from imgcl.evaluation.softmax import ABSENT, Problem, SoftmaxStack

Item = TypeVar("Item")

MAX_STEPS = 50  # Newton steps for each C
MEASURE_EVERY = 2  # values of C (or stages) that share a measured curvature: it is expensive and changes slowly
GROUP = 10  # training sets that are solved together, at most: fewer steps through Python
CACHED = 1 << 22  # bytes of samples that stay in the cache: larger training sets are solved in smaller groups


def fit_path(problems: Sequence[Problem], penalties: Sequence[float]) -> Tensor:
    """Solve every problem (at its first stage) for every C.

    Args:
        problems: any number of training sets; they may differ in size but share d and K. Neighbours with the same
            samples (the same tensor ``x``) are solved at a discount.
        penalties: values of C (as scikit-learn's: larger is less penalty), ascending.

    Returns:
        Coefficients (problems, len(penalties), K, d + 1); the last column is the intercept, which is
        :data:`~imgcl.evaluation.softmax.ABSENT` for a class without training samples.

    Example:
        >>> x, y = torch.tensor([[-1.0], [-0.5], [0.5], [1.0]]), torch.tensor([0, 0, 1, 1])
        >>> problem = Problem(x, y, weight=torch.ones(1, 4), offset=torch.zeros(2))
        >>> coefficients = fit_path([problem], penalties=[1.0])
        >>> print([round(value, 2) for value in coefficients[0, 0, :, 0].tolist()])
        [-0.47, 0.47]
    """

    def fit(group: list[Problem]) -> Tensor:
        stack = SoftmaxStack(group, range(len(group)))
        path: list[Tensor] = []
        for i, c in enumerate(penalties):
            start = _extrapolate(path) if path else group[0].x.new_zeros(len(group), stack.classes * stack.width)
            stack.set_penalties([c] * len(group))
            stack.update_preconditioner(start if i % MEASURE_EVERY == 0 else None)
            path.append(minimise(stack, start, MAX_STEPS))
        return torch.stack(path, dim=1)

    return _coefficients(side_by_side(fit, problems, [problem.x for problem in problems]), problems)


def follow_stages(problems: Sequence[Problem], penalties: Sequence[float], start: Tensor) -> Tensor:
    """Go on from ``start``, the solutions of stage 0, through the later stages of the problems' weights.

    Each stage takes one Newton step from where the stage before it stopped.

    Args:
        problems: training sets with equally many stages.
        penalties: values of C.
        start: what :func:`fit_path` gave for the same arguments.

    Returns:
        Coefficients after the last stage, as :func:`fit_path`.
    """

    def fit(group: list[tuple[Problem, Tensor]]) -> Tensor:
        training = [problem for problem, _ in group]
        owner = [i for i in range(len(group)) for _ in penalties]
        points = torch.stack([coefficients for _, coefficients in group]).flatten(2).flatten(0, 1)
        stack = SoftmaxStack(training, owner)
        stack.set_penalties(list(penalties) * len(group))
        for stage in range(1, len(training[0].weight)):
            stack.set_stage(stage)
            stack.update_preconditioner(points if stage % MEASURE_EVERY == 1 else None)
            points = minimise(stack, points, max_steps=1)
        return points.view(len(group), len(penalties), -1)

    pairs = list(zip(problems, start, strict=True))
    return _coefficients(side_by_side(fit, pairs, [problem.x for problem in problems]), problems)


def _extrapolate(path: Sequence[Tensor]) -> Tensor:
    """Where the solutions, which move along a smooth curve in log C, should be next.

    Midway between the line and the parabola through the last points: the line undershoots, the parabola overshoots.
    """
    if len(path) == 1:
        return path[0]
    if len(path) == 2:
        return 2 * path[1] - path[0]
    return 2.5 * path[-1] - 2 * path[-2] + 0.5 * path[-3]


def side_by_side(fit: Callable[[list[Item]], Tensor], items: Sequence[Item], samples: Sequence[Tensor]) -> Tensor:
    """Fit groups of problems in threads of their own, each group small enough to stay in the cache.

    The products are too small to gain from threads inside them, and would pay for waking those: so each gets one
    thread, and whole groups run next to each other. Groups do not depend on the number of threads, nor do results.

    Args:
        fit: from the problems of a group to a tensor with one row for each.
        items: problems.
        samples: what each problem's products are made with; neighbours with the same tensor stay in one group.
    """
    runs = [[i for i, _ in run] for _, run in groupby(enumerate(samples), key=lambda pair: id(pair[1]))]
    largest = max(x.nbytes for x in samples)
    size = max(1, min(GROUP, CACHED // max(1, largest)))
    groups = [[items[i] for run in runs[at : at + size] for i in run] for at in range(0, len(runs), size)]

    with ThreadPoolExecutor(min(torch.get_num_threads(), len(groups)), initializer=_alone) as pool:
        return torch.cat(list(pool.map(fit, groups)))


def _alone() -> None:
    compute_alone()
    torch.set_flush_denormal(True)  # in this thread; probabilities below 1e-38 would slow products tenfold


def switch_off_absent(coefficients: Tensor, problems: Sequence[Problem]) -> Tensor:
    """Coefficients (problems, candidates, K, d + 1) under which classes without samples are never predicted."""
    for i, problem in enumerate(problems):
        coefficients[i, :, ~problem.present, :-1] = 0
        coefficients[i, :, ~problem.present, -1] = ABSENT
    return coefficients


def _coefficients(points: Tensor, problems: Sequence[Problem]) -> Tensor:
    """Points (problems, C, K * (d + 1)) as coefficients."""
    return switch_off_absent(points.view(*points.shape[:2], problems[0].n_classes, -1), problems)
