"""Multinomial logistic regression with an L2 penalty, for many training sets and many values of C at once.

For each problem it finds what scikit-learn's ``LogisticRegression(C=C, solver="lbfgs")`` finds: the minimum of
``C * sum_i s_i * cross_entropy_i + ||W||^2 / 2`` with the intercept unpenalised and the weights s scaled to mean 1.
Divided by C * n that is a mean loss with the penalty 1 / (C * n), the form used here.

Why it is fast: problems advance together (:mod:`imgcl.evaluate.lbfgs`), each value of C starts where the line through
the two previous solutions points, the Hessian averaged over classes is the preconditioner, and float32 is enough (the
loss is found to about 5e-5, relative).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from imgcl.evaluate.lbfgs import minimise
from imgcl.evaluate.softmax import ABSENT, Problem, SoftmaxStack

TOLERANCE = 1e-6
MAX_ITER = 1000
STAGE_STEPS = 5  # solver steps in each stage of a schedule of weights


def fit_path(problems: Sequence[Problem], penalties: Sequence[float], tolerance: float = TOLERANCE) -> Tensor:
    """Solve every problem (at its first stage) for every C.

    Args:
        problems: any number of training sets; they may differ in size but share d and K.
        penalties: values of C (as scikit-learn's: larger is less penalty), ascending.
        tolerance: see :func:`imgcl.evaluate.lbfgs.minimise`.

    Returns:
        Coefficients (problems, len(penalties), K, d + 1); the last column is the intercept, which is
        :data:`~imgcl.evaluate.softmax.ABSENT` for a class without training samples.

    Example:
        >>> x, y = torch.tensor([[-1.0], [-0.5], [0.5], [1.0]]), torch.tensor([0, 0, 1, 1])
        >>> problem = Problem(x, y, weight=torch.ones(1, 4), offset=torch.zeros(2))
        >>> coefficients = fit_path([problem], penalties=[1.0])
        >>> print([round(value, 2) for value in coefficients[0, 0, :, 0].tolist()])
        [-0.47, 0.47]
    """

    def fit(group: list[Problem]) -> Tensor:
        before = here = group[0].x.new_zeros(len(group), group[0].n_classes * (group[0].x.shape[1] + 1))
        solutions: list[Tensor] = []
        for c in penalties:
            stack = SoftmaxStack(group, range(len(group)), [c] * len(group))
            # solutions move along a smooth curve in log C: start where its chord points
            start = 2 * here - before if len(solutions) > 1 else here
            stack.set_preconditioner(start)
            before = here
            here, _ = minimise(stack.objective, start, stack.precondition, tolerance=tolerance, max_iter=MAX_ITER)
            solutions.append(here)
        return torch.stack(solutions, dim=1)

    return _coefficients(side_by_side(fit, problems), problems)


def follow_stages(problems: Sequence[Problem], penalties: Sequence[float], start: Tensor) -> Tensor:
    """Go on from ``start``, the solutions of stage 0, through the later stages of the problems' weights.

    Each stage takes :data:`STAGE_STEPS` solver steps from where the stage before it stopped.

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
        for stage in range(1, len(training[0].weight)):
            stack = SoftmaxStack(training, owner, list(penalties) * len(group), stage)
            stack.set_preconditioner(points)
            points, _ = minimise(stack.objective, points, stack.precondition, tolerance=TOLERANCE, max_iter=STAGE_STEPS)
        return points.view(len(group), len(penalties), -1)

    return _coefficients(side_by_side(fit, list(zip(problems, start, strict=True))), problems)


def side_by_side(fit: Callable[[list], Tensor], items: Sequence) -> Tensor:  # type: ignore[type-arg]
    """Fit groups of problems in threads of their own.

    The products are too small to gain from threads inside them, and would pay for waking those: so torch gets one
    thread, and whole groups run next to each other. A problem's result does not depend on its group.
    """
    threads = torch.get_num_threads()
    groups = [list(items[i::threads]) for i in range(min(threads, len(items)))]

    def alone(group: list) -> Tensor:  # type: ignore[type-arg]
        torch.set_num_threads(1)  # OpenMP keeps the number per thread
        torch.set_flush_denormal(True)  # likewise per thread; probabilities below 1e-38 would slow products tenfold
        return fit(group)

    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(len(groups)) as pool:
            parts = list(pool.map(alone, groups))
    finally:
        torch.set_num_threads(threads)
    result = parts[0].new_empty(len(items), *parts[0].shape[1:])
    for i, part in enumerate(parts):
        result[i::threads] = part
    return result


def switch_off_absent(coefficients: Tensor, problems: Sequence[Problem]) -> Tensor:
    """Coefficients (problems, candidates, K, d + 1) under which classes without samples are never predicted."""
    for i, problem in enumerate(problems):
        coefficients[i, :, ~problem.present, :-1] = 0
        coefficients[i, :, ~problem.present, -1] = ABSENT
    return coefficients


def _coefficients(points: Tensor, problems: Sequence[Problem]) -> Tensor:
    """Points (problems, C, K * (d + 1)) as coefficients."""
    return switch_off_absent(points.view(*points.shape[:2], problems[0].n_classes, -1), problems)
