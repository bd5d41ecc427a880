"""Classifiers from class means, in closed form: no iterations, and no class outweighs another."""

from __future__ import annotations

import torch
from torch import Tensor

from imgcl.evaluation.softmax import ABSENT
from imgcl.evaluation.tasks import Bench, Candidates, LinearModel, Task

TEMPERATURES = tuple(2.0**i for i in range(-8, 3))
SHRINKAGES = (0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


def nearest_mean(bench: Bench) -> list[LinearModel]:
    """Assign a node to the class whose mean embedding is nearest.

    Use it with a handful of labels for each class, and as a check of the embedding itself: it has nothing to tune but
    the temperature of its probabilities (squared distance over the temperature), which cannot change a prediction.
    """
    stack = torch.stack([_nearest_mean(task) for task in bench.tasks])
    return bench.choose(Candidates(stack, [{"temperature": value} for value in TEMPERATURES]))


def lda(bench: Bench) -> list[LinearModel]:
    """Linear discriminant analysis with equal class priors and a covariance shrunk towards a multiple of the identity.

    Directions in which all classes scatter count less than for ``nearest-mean``. Use it when rare classes have too few
    labels to fit a boundary of their own: they borrow the covariance of the common ones. Shrinkage by validation.
    """
    stack = torch.stack([_lda(task) for task in bench.tasks])
    return bench.choose(Candidates(stack, [{"shrinkage": value} for value in SHRINKAGES]))


def _nearest_mean(task: Task) -> Tensor:
    means = class_means(task).float()
    # -||x - m||^2 / T without the term that all classes share
    linear = torch.cat([2 * means, -(means * means).sum(dim=1, keepdim=True)], dim=1)
    stack = torch.stack([linear / temperature for temperature in TEMPERATURES])
    return _without_absent(stack, task)


def _lda(task: Task) -> Tensor:
    means = class_means(task)
    scatter = task.x.double() - means[task.y]
    freedom = max(1, len(task.y) - int((task.sizes > 0).sum()))
    covariance = scatter.T @ scatter / freedom
    values, vectors = torch.linalg.eigh(covariance)
    # rows of length 1 in float32 have no smaller variance than their rounding; without a floor, 1 / 0 for equal rows
    scale = values.mean().clamp_min(torch.finfo(torch.float32).eps ** 2 / len(values))
    rotated = means @ vectors
    stack = []
    for shrinkage in SHRINKAGES:
        inverse = 1 / ((1 - shrinkage) * values.clamp_min(0) + shrinkage * scale)
        direction = (rotated * inverse) @ vectors.T
        intercept = -0.5 * (rotated * inverse * rotated).sum(dim=1, keepdim=True)
        stack.append(torch.cat([direction, intercept], dim=1))
    return _without_absent(torch.stack(stack).to(task.x), task)


def class_means(task: Task) -> Tensor:
    """Mean training row of each class (K, d), float64; zero for a class without samples."""
    total = torch.zeros(task.n_classes, task.x.shape[1], dtype=torch.float64)
    total.index_add_(0, task.y, task.x.double())
    return total / task.sizes.clamp_min(1)[:, None]


def _without_absent(stack: Tensor, task: Task) -> Tensor:
    stack[:, task.sizes == 0, -1] = ABSENT
    return stack
