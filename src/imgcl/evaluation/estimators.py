"""Classifiers of scikit-learn, and of everybody who follows its conventions, beside the named ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from sklearn.base import clone, is_classifier
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl._core.progress import tracked
from imgcl._core.seeding import derive
from imgcl._core.words import did_you_mean
from imgcl.evaluation.blocks import Blocks, fit_blocks
from imgcl.evaluation.ensemble import Ensemble
from imgcl.evaluation.forest import SMALLEST
from imgcl.evaluation.names import CLASSIFIERS, Classifier
from imgcl.evaluation.results import CEILING
from imgcl.evaluation.tasks import Bench, Classified, Model, Task
from imgcl.evaluation.transductive import TRANSDUCTIVE, Transductive
from imgcl.evaluation.trees import LARGEST_SEED, TreesClassifier


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """An estimator after its fit to one task.

    Attributes:
        estimator: fitted on class numbers.
        n_classes: K; the estimator may have seen fewer.
        setting: what validation chose; nothing for a user's estimator.
    """

    estimator: Any
    n_classes: int
    setting: dict[str, float] = field(default_factory=dict)

    def classify(self, x: Tensor) -> Classified:
        """What ``predict`` and, if there is one, ``predict_proba`` say."""
        rows = x.numpy()
        classes = np.asarray(self.estimator.predict(rows)).astype(np.int64)
        if not hasattr(self.estimator, "predict_proba"):
            return Classified(classes, None)
        probabilities = np.zeros((len(rows), self.n_classes))
        probabilities[:, np.asarray(self.estimator.classes_, dtype=np.int64)] = self.estimator.predict_proba(rows)
        return Classified(classes, probabilities)

    def logits(self, x: Tensor) -> Tensor:
        """Logarithms of the probabilities; NaN where there are none."""
        probabilities = self.classify(x).probabilities if len(x) else None
        if probabilities is None:
            return torch.full((len(x), self.n_classes), torch.nan, dtype=torch.float32)
        return torch.from_numpy(np.log(np.maximum(probabilities, SMALLEST)))


@dataclass(frozen=True, eq=False)
class EstimatorClassifier:
    """A classifier of scikit-learn: a clone of it is fitted to the training rows of each task.

    Args:
        estimator: is never fitted itself.

    Example:
        >>> import torch
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from imgcl.evaluation import PROBES
        >>> task = Task(torch.eye(2), torch.tensor([0, 1]), torch.eye(2), torch.tensor([0, 1]), n_classes=2)
        >>> bench = Bench([task], PROBES["batched"])
        >>> [fitted] = EstimatorClassifier(KNeighborsClassifier(1)).fit(bench, 0, Blocks.of(np.eye(2)))
        >>> fitted.classify(torch.eye(2)).classes.tolist()
        [0, 1]
    """

    estimator: Any

    def fit(self, bench: Bench, seed: int, blocks: Blocks) -> Sequence[Model]:
        """One fitted clone for each task; validation rows are not used."""
        tasks = enumerate(tracked(bench.tasks, "", "fit"))
        return [self._fit(task, derive(seed, "classifier", i) % LARGEST_SEED) for i, task in tasks]

    def _fit(self, task: Task, seed: int) -> Model:
        estimator = clone(self.estimator)
        open_seeds = [name for name, value in estimator.get_params().items() if _is_open_seed(name, value)]
        estimator.set_params(**dict.fromkeys(open_seeds, seed))
        return FittedEstimator(estimator.fit(task.x.numpy(), task.y.numpy()), task.n_classes)


@dataclass(frozen=True, eq=False)
class ValidatedTrees(EstimatorClassifier):
    """``trees``: as any estimator, except that the validation rows choose the ensemble."""

    estimator: Any = field(default_factory=TreesClassifier)

    def _fit(self, task: Task, seed: int) -> Model:
        model: TreesClassifier = clone(self.estimator).set_params(random_state=seed)
        model.fit(task.x.numpy(), task.y.numpy(), task.x_val.numpy(), task.y_val.numpy())
        return model.model(task.n_classes)


ESTIMATORS: dict[str, EstimatorClassifier | Ensemble] = {"trees": ValidatedTrees(), "ensemble": Ensemble()}
"""Classifiers by name that are not linear."""
COSTS = {"pbs": 3.0, "ensemble": 2.0, "trees": 4.0, **dict.fromkeys(TRANSDUCTIVE, 3.0)}

Inductive = Classifier | EstimatorClassifier | Ensemble
AnyClassifier = Inductive | Transductive


def classifier_names() -> tuple[str, ...]:
    """Names that :func:`choose_classifiers` knows."""
    return (*CLASSIFIERS, *ESTIMATORS, *TRANSDUCTIVE)


def cost(name: str) -> float:
    """About how many times as long as a linear classifier one takes, for estimates of the time left."""
    return COSTS.get(name, 1.0)


def _is_open_seed(name: str, value: Any) -> bool:
    return value is None and (name == "random_state" or name.endswith("__random_state"))


def choose_classifiers(given: Any) -> dict[str, AnyClassifier]:
    """Classifiers by what they are called in a result.

    Args:
        given: a name of :data:`CLASSIFIERS` or ``trees`` (or several with commas), a classifier of scikit-learn, or a
            sequence of names, classifiers and pairs ``("name", classifier)``. Without a name it is called as its class.

    Raises:
        InputError: when something is neither, or two have one name.

    Example:
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> list(choose_classifiers(["plain", KNeighborsClassifier(), ("3 neighbours", KNeighborsClassifier(3))]))
        ['plain', 'KNeighborsClassifier', '3 neighbours']
    """
    if isinstance(given, str):
        return _by_name([name.strip() for name in given.split(",")])
    listed = _listed(given)
    if not listed:
        return _by_name([])
    found: dict[str, AnyClassifier] = {}
    for each in listed:
        if isinstance(each, str):
            found |= _by_name([each])
            continue
        name, estimator = _named(each)
        if name in found:
            raise InputError(f"two classifiers are called {name!r}: give pairs, such as [('mine', {name}(...))]")
        found[name] = EstimatorClassifier(estimator)
    return found


def choose_inductive(given: Any) -> dict[str, Inductive]:
    """As :func:`choose_classifiers`, without those that need the graph.

    Raises:
        InputError: when one of them is named.
    """
    found: dict[str, Inductive] = {}
    for name, each in choose_classifiers(given).items():
        if isinstance(each, Transductive):
            raise InputError(f"classifier {name!r} is one to evaluate alone: use another, such as 'ensemble'")
        found[name] = each
    return found


def _by_name(names: Sequence[str]) -> dict[str, AnyClassifier]:
    unknown = [name for name in names if name not in classifier_names()]
    if unknown or not names:
        what = f"unknown classifier {unknown[0]!r}" if unknown else "no classifier was named"
        raise InputError(f"{what}{did_you_mean(unknown[0] if unknown else '', classifier_names())}")
    known: dict[str, AnyClassifier] = {**CLASSIFIERS, **ESTIMATORS, **TRANSDUCTIVE}
    return {name: known[name] for name in names}


def _listed(given: Any) -> list[Any]:
    """The parts of a sequence; a classifier (a pipeline has parts, too) and a pair are one part."""
    if not isinstance(given, Iterable) or isinstance(given, type) or hasattr(given, "fit"):
        return [given]
    parts = list(given)
    return [tuple(parts)] if _is_pair(given) and parts[0] not in classifier_names() else parts


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) and not isinstance(given[1], str)


def _named(given: Any) -> tuple[str, Any]:
    """The name and the estimator, checked."""
    name, estimator = given if _is_pair(given) else (type(given).__name__, given)
    if isinstance(estimator, type):
        raise InputError(f"classifier {estimator.__name__} is a class: give an instance, {estimator.__name__}()")
    if not all(hasattr(estimator, part) for part in ("fit", "predict", "get_params")) or not _is_classifier(estimator):
        raise InputError(
            f"classifier is of type {type(estimator).__name__}: give a name ({', '.join(classifier_names())}), a "
            "classifier of scikit-learn, or a list of those and of pairs ('name', classifier)"
        )
    if name in (*classifier_names(), CEILING):
        raise InputError(f"classifier {name!r} is the name of one of ours: give yours another name")
    return name, estimator


def _is_classifier(estimator: Any) -> bool:
    try:
        return bool(is_classifier(estimator))
    except AttributeError:  # without scikit-learn's tags
        return False


def fit_classifier(classifier: Inductive, bench: Bench, seed: int, blocks: Blocks) -> Sequence[Model]:
    """Models of a classifier for the tasks of a bench."""
    if isinstance(classifier, EstimatorClassifier | Ensemble):
        return classifier.fit(bench, seed, blocks)
    return fit_blocks(classifier, bench, blocks)
