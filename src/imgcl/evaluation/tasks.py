"""What a classifier is given: the labelled rows of each split, and a probe that fits linear models to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl.evaluation.softmax import Problem


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

    @property
    def validation_weight(self) -> Tensor:
        """What every validation row counts in a mean over classes; they add up to 1."""
        counts = torch.bincount(self.y_val, minlength=self.n_classes)
        return (1 / counts.to(self.x_val))[self.y_val] / int((counts > 0).sum())


class Classified(NamedTuple):
    """Class of every row, and the class probabilities (n, K) where the classifier gives them."""

    classes: NDArray[np.int64]
    probabilities: NDArray[Any] | None

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Probability of the class of every row; NaN where there are none."""
        if self.probabilities is None:
            return np.full(len(self.classes), np.nan)
        return self.probabilities[np.arange(len(self.classes)), self.classes].astype(np.float64)


def classified(logits: Tensor) -> Classified:
    """The most probable class of every row of logits, and the probabilities of all."""
    probabilities = torch.softmax(logits, dim=1).numpy()
    return Classified(probabilities.argmax(axis=1), probabilities)


class Model(Protocol):
    """A fitted classifier."""

    @property
    def setting(self) -> dict[str, float]:
        """What validation chose."""

    def logits(self, x: Tensor) -> Tensor:
        """Scores (n, K) whose softmax is the class probability; NaN from a classifier without probabilities."""

    def classify(self, x: Tensor) -> Classified:
        """The class of every row, and the class probabilities."""


@dataclass(frozen=True)
class LinearModel:
    """A fitted classifier: the class of x is the argmax of ``x @ coefficients[:, :-1].T + coefficients[:, -1]``.

    Attributes:
        coefficients: (K, d + 1), intercept last.
        setting: what validation chose, for example ``{"C": 4.0}``.
        quality: balanced validation accuracy and, negative, the log loss: what it was chosen by; larger is better.
    """

    coefficients: Tensor
    setting: dict[str, float]
    quality: tuple[float, float] = (0.0, 0.0)

    def logits(self, x: Tensor) -> Tensor:
        """Scores (n, K); their softmax is the class probability."""
        return torch.addmm(self.coefficients[:, -1], x, self.coefficients[:, :-1].T)

    def is_right(self, task: Task) -> Tensor:
        """1 for every validation row of a task that is classified rightly, else 0."""
        return (self.logits(task.x_val).argmax(dim=1) == task.y_val).to(task.x_val)

    def classify(self, x: Tensor) -> Classified:
        """The most probable class of every row, and the probabilities of all."""
        return classified(self.logits(x))


@dataclass(frozen=True)
class Candidates:
    """Models to choose from: coefficients (tasks, candidates, K, d + 1) and the setting of each candidate."""

    coefficients: Tensor
    settings: list[dict[str, float]]


Weighting = Callable[[Task], Problem]
"""How the training samples of a task count."""

Probe = Callable[[Sequence[Problem], "Candidates | None"], Candidates]
"""Fits linear models to problems; the second argument is the solution of the first stage where it is known."""


class Bench:
    """Tasks, and a probe that fits them under several weightings of the training samples.

    Weightings that are known to be needed (``weightings``) are fitted together on first use: the probe saves work on
    problems that share their samples.
    """

    def __init__(self, tasks: Sequence[Task], probe: Probe, weightings: Sequence[Weighting] = ()) -> None:
        self.tasks, self.probe, self.weightings = tasks, probe, tuple(weightings)
        self._wanted = list(dict.fromkeys(weightings))
        self._fitted: dict[Weighting, Candidates] = {}
        self._scaled: dict[bytes, Bench] = {}

    def candidates(self, weighting: Weighting) -> Candidates:
        """Fits of every task under a weighting."""
        if weighting not in self._fitted:
            wanted = [*self._wanted, *([weighting] if weighting not in self._wanted else [])]
            fits = self.probe([kind(task) for task in self.tasks for kind in wanted], None)
            for i, kind in enumerate(wanted):
                self._fitted[kind] = Candidates(fits.coefficients[i :: len(wanted)], fits.settings)
            self._wanted = []
        return self._fitted[weighting]

    def follow(self, weighting: Weighting, start: Candidates) -> Candidates:
        """Fits of a weighting with several stages, from the fits of its first stage."""
        return self.probe([weighting(task) for task in self.tasks], start)

    def choose(self, candidates: Candidates) -> list[LinearModel]:
        """For each task the candidate that is best on its validation rows."""
        models = []
        for task, coefficients in zip(self.tasks, candidates.coefficients, strict=True):
            scores = validation_scores(task, coefficients)
            best = best_candidate(*scores)
            models.append(LinearModel(coefficients[best], dict(candidates.settings[best]), quality(*scores, best)))
        return models

    def chosen_together(self) -> list[list[int]]:
        """Which tasks share their settings: each has its own."""
        return [[i] for i in range(len(self.tasks))]

    def scaled(self, scale: Tensor) -> Bench:
        """The same tasks with every column of their rows multiplied by a factor; classifiers share it.

        Columns with the factor 0 are left out.
        """
        key = scale.numpy().tobytes()
        if key not in self._scaled:
            kept, factor = scale != 0, scale[scale != 0]
            tasks = [
                replace(task, x=task.x[:, kept] * factor, x_val=task.x_val[:, kept] * factor) for task in self.tasks
            ]
            self._scaled[key] = type(self)(tasks, self.probe, self.weightings)
        return self._scaled[key]


class PooledBench(Bench):
    """Tasks that share one setting: the candidate that is best on average over the tasks with validation rows."""

    def chosen_together(self) -> list[list[int]]:
        return [list(range(len(self.tasks)))]

    def choose(self, candidates: Candidates) -> list[LinearModel]:
        pairs = zip(self.tasks, candidates.coefficients, strict=True)
        scores = [validation_scores(task, coefficients) for task, coefficients in pairs if len(task.y_val)]
        right, loss = (torch.stack(values).mean(dim=0) for values in zip(*scores, strict=True))
        best = best_candidate(right, loss)
        setting, found = candidates.settings[best], quality(right, loss, best)
        return [LinearModel(coefficients[best], dict(setting), found) for coefficients in candidates.coefficients]


def validation_scores(task: Task, coefficients: Tensor) -> tuple[Tensor, Tensor]:
    """Balanced validation accuracy and log loss of each candidate.

    Both are averaged over classes, so a validation set that is not balanced chooses as if it were.
    """
    weight = task.validation_weight
    logits = coefficients[:, :, :-1] @ task.x_val.T + coefficients[:, :, -1:]  # (candidates, K, n)
    right = (logits.argmax(dim=1) == task.y_val).to(weight) @ weight
    own = torch.log_softmax(logits, dim=1)[:, task.y_val, torch.arange(len(task.y_val))]
    return right, -(own.clamp_min(-1e3) @ weight)


def quality(right: Tensor, loss: Tensor, candidate: int) -> tuple[float, float]:
    """What a candidate is chosen by; larger is better."""
    # round: shares of a few hundred nodes that are equal must compare equal whatever the order of summation
    return round(right[candidate].item(), 6), -loss[candidate].item()


def best_candidate(right: Tensor, loss: Tensor) -> int:
    """The candidate with the best balanced validation accuracy; of equals the one with the smallest log loss."""
    return max(range(len(right)), key=lambda i: (*quality(right, loss, i), -i))
