"""What a classifier is given: the labelled rows of each split, and a probe that fits linear models to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from imgcl.evaluate.softmax import Problem


@dataclass(frozen=True)
class Task:
    """The labelled rows of one split.

    Attributes:
        x: training rows (n, d), L2-normalised.
        y: their classes (n,).
        x_val: validation rows, which choose settings.
        y_val: their classes.
        n_classes: K; a class may be missing from training.
    """

    x: Tensor
    y: Tensor
    x_val: Tensor
    y_val: Tensor
    n_classes: int

    @property
    def sizes(self) -> Tensor:
        """Training samples per class (K,)."""
        return torch.bincount(self.y, minlength=self.n_classes)


@dataclass(frozen=True)
class LinearModel:
    """A fitted classifier: the class of x is the argmax of ``x @ coefficients[:, :-1].T + coefficients[:, -1]``.

    Attributes:
        coefficients: (K, d + 1), intercept last.
        setting: what validation chose, for example ``{"C": 4.0}``.
    """

    coefficients: Tensor
    setting: dict[str, float]

    def logits(self, x: Tensor) -> Tensor:
        """Scores (n, K); their softmax is the class probability."""
        return torch.addmm(self.coefficients[:, -1], x, self.coefficients[:, :-1].T)


@dataclass(frozen=True)
class Candidates:
    """Models to choose from: coefficients (tasks, candidates, K, d + 1) and the setting of each candidate."""

    coefficients: Tensor
    settings: list[dict[str, float]]


Probe = Callable[[Sequence[Problem], "Candidates | None"], Candidates]
"""Fits linear models to problems; the second argument is the solution of the first stage where it is known."""


@dataclass
class Bench:
    """Tasks and a probe; fits that several classifiers need are made once."""

    tasks: Sequence[Task]
    probe: Probe
    _plain: list[Candidates] = field(default_factory=list)

    def plain_candidates(self) -> Candidates:
        """Fits with every training sample counted once."""
        if not self._plain:
            self._plain.append(self.fit([torch.ones(1, len(task.y)) for task in self.tasks]))
        return self._plain[0]

    def fit(
        self, weights: Sequence[Tensor], offsets: Sequence[Tensor] | None = None, start: Candidates | None = None
    ) -> Candidates:
        """Fits with sample weights (stages, n) and logit offsets (K,) for each task."""
        zero = [torch.zeros(task.n_classes) for task in self.tasks]
        problems = [
            Problem(task.x, task.y, weight, offset)
            for task, weight, offset in zip(self.tasks, weights, offsets or zero, strict=True)
        ]
        return self.probe(problems, start)

    def choose(self, candidates: Candidates) -> list[LinearModel]:
        """For each task the candidate that is best on its validation rows."""
        models = []
        for task, coefficients in zip(self.tasks, candidates.coefficients, strict=True):
            best = best_candidate(*validation_scores(task, coefficients))
            models.append(LinearModel(coefficients[best], dict(candidates.settings[best])))
        return models


class PooledBench(Bench):
    """Tasks that share one setting: the candidate that is best on average over the tasks with validation rows."""

    def choose(self, candidates: Candidates) -> list[LinearModel]:
        pairs = zip(self.tasks, candidates.coefficients, strict=True)
        scores = [validation_scores(task, coefficients) for task, coefficients in pairs if len(task.y_val)]
        right, loss = (torch.stack(values).mean(dim=0) for values in zip(*scores, strict=True))
        best = best_candidate(right, loss)
        setting = candidates.settings[best]
        return [LinearModel(coefficients[best], dict(setting)) for coefficients in candidates.coefficients]


def validation_scores(task: Task, coefficients: Tensor) -> tuple[Tensor, Tensor]:
    """Balanced validation accuracy and log loss of each candidate.

    Both are averaged over classes, so a validation set that is not balanced chooses as if it were.
    """
    counts = torch.bincount(task.y_val, minlength=task.n_classes)
    weight = (1 / counts.to(task.x_val))[task.y_val] / int((counts > 0).sum())
    logits = coefficients[:, :, :-1] @ task.x_val.T + coefficients[:, :, -1:]  # (candidates, K, n)
    right = (logits.argmax(dim=1) == task.y_val).to(weight) @ weight
    own = torch.log_softmax(logits, dim=1)[:, task.y_val, torch.arange(len(task.y_val))]
    return right, -(own.clamp_min(-1e3) @ weight)


def best_candidate(right: Tensor, loss: Tensor) -> int:
    """The candidate with the best balanced validation accuracy; of equals the one with the smallest log loss."""
    # round: shares of a few hundred nodes that are equal must compare equal whatever the order of summation
    return min(range(len(right)), key=lambda i: (-round(right[i].item(), 6), loss[i].item(), i))
