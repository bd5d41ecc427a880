"""Tree ensembles as a classifier: the strongest yardstick on tables, and so on features and their neighbours' means.

Gradient boosting and random forests are fitted with class-balanced weights; validation rows choose between them. Grown
trees have pure leaves, which weights hardly change: the forest's probabilities are therefore also tried divided by the
class shares to the power tau, as ``logit-adjust`` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl.evaluation.forest import TreeModel, Trees, boosted_trees, forest_trees

Floats = NDArray[np.float64]

LARGEST_SEED = 2**32  # of numpy's RandomState; larger seeds of ours are taken modulo it
FOREST = 200  # trees of a forest
ROUNDS = 100  # of boosting
LEAVES = (3, 10)  # smallest leaves of the forests that are tried
NARROW = 64  # columns up to which boosting has the usual 255 bins; histograms of wide rows are expensive
WIDE_BINS = 32
TAUS = (0.0, 0.5, 1.0)
FOLDS = 3
SMALLEST = 1e-3  # of a probability in the log loss: a forest may say 0


class TreesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Boosted trees or a random forest, whichever does better on validation rows.

    Better means balanced accuracy, then the log loss averaged over classes.

    Args:
        class_weight: ``"balanced"``: every class has the same total weight; ``None``: every row counts once.
        random_state: seed of the ensembles, and of the folds where there are no validation rows.

    Attributes:
        classes_: the classes seen in fit.
        chosen_: the fitted ensemble.
        setting_: what was chosen: ``boosting`` (1 or 0), the smallest ``leaf``, and ``tau``.
        quality_: balanced accuracy and negative log loss by which it was chosen.

    Example:
        >>> import numpy as np
        >>> x = np.random.default_rng(0).standard_normal((300, 4))
        >>> y = (x[:, 0] * x[:, 1] > 0.5).astype(int)
        >>> trees = TreesClassifier(random_state=0).fit(x[:200], y[:200])
        >>> trees.score(x[200:], y[200:]) > 0.8
        True
    """

    def __init__(self, class_weight: str | None = "balanced", random_state: RandomState = None) -> None:
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None = None, y_val: ArrayLike | None = None
    ) -> TreesClassifier:
        """Fit every ensemble and keep the best; without validation rows, the best by 3-fold cross-validation."""
        if self.class_weight not in ("balanced", None):
            raise InputError(f"class_weight is {self.class_weight!r}: choose 'balanced' or None")
        rows, seed = np.asarray(X), as_seed(self.random_state) % LARGEST_SEED
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.n_features_in_ = rows.shape[1]
        self.shares_ = np.bincount(codes) / len(codes)
        with threads_of_torch():
            if X_val is None or y_val is None or not len(np.asarray(y_val)):
                self._choose_by_folds(rows, codes, seed)
            else:
                self._choose(rows, codes, np.asarray(X_val), np.asarray(y_val), seed)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Class probabilities, columns as ``classes_``."""
        with threads_of_torch():
            return _adjusted(self.chosen_.predict_proba(np.asarray(X)), self.shares_, self.setting_["tau"])

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable class of every row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def model(self, n_classes: int) -> TreeModel:
        """The fitted ensemble as plain arrays; the classes must have been 0, 1, ..., ``n_classes`` - 1."""
        boosting = bool(self.setting_["boosting"])
        trees, base = boosted_trees(self.chosen_) if boosting else _forest(self.chosen_)
        shift = np.zeros(n_classes)
        shift[self.classes_] = self.setting_["tau"] * np.log(self.shares_)
        columns = np.arange(self.n_features_in_)
        kind = "boosting" if boosting else "forest"
        return TreeModel(trees, kind, base, self.classes_, n_classes, columns, shift, dict(self.setting_))

    def _choose(self, x: np.ndarray, codes: np.ndarray, x_val: np.ndarray, y_val: np.ndarray, seed: int) -> None:
        known = np.isin(y_val, self.classes_)
        truth = np.searchsorted(self.classes_, y_val[known])
        tried = [_Tried(setting, _fitted(model, x, codes)) for setting, model in self._candidates(x, seed)]
        scores = [self._scored(each, each.model.predict_proba(x_val[known]), truth) for each in tried]
        self._keep(max(scores, key=lambda each: each.quality))

    def _choose_by_folds(self, x: np.ndarray, codes: np.ndarray, seed: int) -> None:
        fold = _folds(codes, seed)
        validated = np.flatnonzero(fold >= 0)
        scores = []
        for setting, model in self._candidates(x, seed):
            guessed = _out_of_fold(model, x, codes, fold)[validated]
            scores.append(self._scored(_Tried(setting, model), guessed, codes[validated]))
        best = max(scores, key=lambda each: each.quality)
        self._keep(replace(best, model=_fitted(best.model, x, codes)))

    def _keep(self, best: _Tried) -> None:
        self.chosen_, self.setting_, self.quality_ = best.model, best.setting, best.quality

    def _scored(self, tried: _Tried, probabilities: Floats, truth: NDArray[np.int64]) -> _Tried:
        """The ensemble with the tau that is best for it."""
        taus = TAUS if self.class_weight else TAUS[:1]
        options = [(_quality(_adjusted(probabilities, self.shares_, tau), truth), -tau) for tau in taus]
        quality, less = max(options)
        return _Tried({**tried.setting, "tau": -less}, tried.model, quality)

    def _candidates(self, x: np.ndarray, seed: int) -> Iterator[tuple[dict[str, float], Any]]:
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

        yield (
            {"boosting": 1.0, "leaf": 10.0},
            HistGradientBoostingClassifier(
                learning_rate=0.05,
                max_iter=ROUNDS,
                max_leaf_nodes=15,
                min_samples_leaf=10,
                l2_regularization=1.0,
                max_bins=255 if x.shape[1] <= NARROW else WIDE_BINS,
                early_stopping=False,
                class_weight=self.class_weight,
                random_state=seed,
            ),
        )
        for leaf in LEAVES:
            yield (
                {"boosting": 0.0, "leaf": float(leaf)},
                RandomForestClassifier(
                    FOREST, min_samples_leaf=leaf, class_weight=self.class_weight, random_state=seed
                ),
            )


def _fitted(model: Any, x: np.ndarray, codes: np.ndarray) -> Any:
    """The ensemble, fitted with torch's number of threads: a forest is the same whatever their number.

    It predicts with one: the sum over trees would depend on which thread comes first.
    """
    if not hasattr(model, "n_jobs"):
        return model.fit(x, codes)  # boosting has OpenMP's threads
    model.set_params(n_jobs=torch.get_num_threads())
    return model.fit(x, codes).set_params(n_jobs=None)


def _forest(fitted: Any) -> tuple[Trees, Floats]:
    return forest_trees(fitted), np.zeros(len(fitted.classes_))


@dataclass(frozen=True)
class _Tried:
    setting: dict[str, float]
    model: Any
    quality: tuple[float, float] = (0.0, 0.0)


@contextmanager
def threads_of_torch() -> Iterator[None]:
    """Boosting with as many threads as torch has: it would take all cores, whatever a worker was given."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(torch.get_num_threads(), user_api="openmp"):
        yield


def _adjusted(probabilities: Floats, shares: Floats, tau: float) -> Floats:
    """Probabilities divided by the class shares to the power tau, with sum 1."""
    values = probabilities / shares**tau
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def _quality(probabilities: Floats, truth: NDArray[np.int64]) -> tuple[float, float]:
    """Balanced accuracy and negative log loss, both averaged over the classes that occur; larger is better."""
    if not len(truth):
        return 0.0, 0.0
    sizes = np.bincount(truth)
    weight = 1 / (sizes[truth] * np.count_nonzero(sizes))
    own = probabilities[np.arange(len(truth)), truth].clip(SMALLEST)
    # round: equal shares must compare equal whatever the order of summation
    return round(float(((probabilities.argmax(axis=1) == truth) * weight).sum()), 6), float(
        (np.log(own) * weight).sum()
    )


def _folds(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The fold that validates on each row, classes spread evenly; -1 for the only row of a class."""
    rng, fold = generator(seed, "folds of trees"), np.full(len(codes), -1, dtype=np.int64)
    for k, size in enumerate(np.bincount(codes)):
        if size > 1:
            fold[rng.permutation(np.flatnonzero(codes == k))] = (np.arange(size) + k) % FOLDS
    return fold


def _out_of_fold(model: Any, x: np.ndarray, codes: NDArray[np.int64], fold: NDArray[np.int64]) -> Floats:
    """Probabilities of every row by a model that has not seen it; zeros for rows of no fold."""
    from sklearn.base import clone

    found = np.zeros((len(codes), int(codes.max()) + 1))
    for i in range(FOLDS):
        inside = np.flatnonzero(fold == i)
        if len(inside):
            fitted = _fitted(clone(model), x[fold != i], codes[fold != i])
            found[np.ix_(inside, fitted.classes_)] = fitted.predict_proba(x[inside])
    return found
