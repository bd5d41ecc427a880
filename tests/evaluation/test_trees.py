"""Tree ensembles: by hand where that is possible, as an estimator, and as a classifier of an evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone

import imgcl
from imgcl._core.errors import InputError
from imgcl.evaluation import TreesClassifier, trees
from imgcl.evaluation.estimators import choose_classifiers
from imgcl.imbalance import make_splits


@pytest.fixture(scope="module")
def product() -> tuple[Any, Any]:
    """A class that no linear classifier finds: the signs of two columns agree, with a margin."""
    x = np.random.default_rng(0).standard_normal((400, 5)).astype(np.float32)
    return x, (x[:, 0] * x[:, 1] > 0.4).astype(np.int64)


def test_shares_to_the_power_tau_are_divided_out() -> None:
    said = np.array([[0.8, 0.2]])
    np.testing.assert_allclose(trees._adjusted(said, np.array([0.8, 0.2]), 1.0), [[0.5, 0.5]])
    np.testing.assert_allclose(trees._adjusted(said, np.array([0.8, 0.2]), 0.5), [[2 / 3, 1 / 3]])
    np.testing.assert_array_equal(trees._adjusted(said, np.array([0.8, 0.2]), 0.0), said)


def test_quality_counts_classes_alike() -> None:
    said = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.6, 0.4]])
    right, less_loss = trees._quality(said, np.array([0, 0, 0, 1]))
    assert right == 0.5  # three of three, none of one
    assert less_loss == pytest.approx((np.log(0.9) + np.log(0.4)) / 2)


def test_folds_spread_every_class_and_leave_out_single_rows() -> None:
    codes = np.repeat([0, 1, 2], [6, 3, 1])
    fold = trees._folds(codes, seed=0)
    assert np.bincount(fold[:6]).tolist() == [2, 2, 2]
    assert sorted(fold[6:9]) == [0, 1, 2]
    assert fold[9] == -1


@pytest.mark.parametrize("validated", [True, False])
def test_finds_what_linear_classifiers_cannot(product: Any, validated: bool) -> None:
    x, y = product
    extra = (x[150:200], y[150:200]) if validated else ()
    model = TreesClassifier(random_state=0).fit(x[:150], y[:150], *extra)
    recalls = [(model.predict(x[200:])[y[200:] == k] == k).mean() for k in (0, 1)]
    assert np.mean(recalls) > 0.8
    np.testing.assert_allclose(model.predict_proba(x[200:]).sum(axis=1), 1)
    assert set(model.setting_) == {"boosting", "leaf", "tau"}


def test_validation_rows_choose(product: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Validation labels that contradict the training labels prefer the ensemble that learnt less."""
    x, y = product
    agreeing = TreesClassifier(random_state=0).fit(x[:200], y[:200], x[200:], y[200:])
    contrary = TreesClassifier(random_state=0).fit(x[:200], y[:200], x[200:], 1 - y[200:])
    assert agreeing.quality_[0] > 0.8 > 0.5 > contrary.quality_[0]
    assert agreeing.setting_ != contrary.setting_


def test_without_weights_probabilities_are_those_of_the_ensemble(product: Any) -> None:
    x, y = product
    model = TreesClassifier(None, random_state=0).fit(x[:200], y[:200], x[200:], y[200:])
    assert model.setting_["tau"] == 0
    np.testing.assert_allclose(model.predict_proba(x), model.chosen_.predict_proba(x))


def test_classes_keep_their_names_and_a_single_row_is_no_obstacle() -> None:
    x = np.concatenate([np.zeros((20, 1)), np.ones((20, 1)), [[9.0]]])
    y = np.repeat(["tea", "salt", "rice"], [20, 20, 1])
    model = TreesClassifier(None, random_state=0).fit(x, y)
    assert model.classes_.tolist() == ["rice", "salt", "tea"]
    assert model.predict([[0.0], [1.0]]).tolist() == ["tea", "salt"]
    only_singles = TreesClassifier(random_state=0).fit([[0.0], [1.0]], [0, 1])
    assert only_singles.predict_proba([[0.0]]).shape == (1, 2)


def test_repeats_by_seed_for_any_number_of_threads(product: Any) -> None:
    x, y = product
    threads = torch.get_num_threads()
    found = []
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            found.append(TreesClassifier(random_state=3).fit(x[:200], y[:200]).predict_proba(x[200:]))
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(*found)
    assert not hasattr(clone(TreesClassifier(random_state=3)), "classes_")


def test_boosting_has_the_threads_of_torch(product: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from threadpoolctl import threadpool_info

    seen: list[int] = []

    def look(self: Any, x: Any, seed: int) -> Any:
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp")
        return [({"boosting": 0.0, "leaf": 1.0}, trees_of_one())]

    monkeypatch.setattr(TreesClassifier, "_candidates", look)
    TreesClassifier(random_state=0).fit(*product)
    assert seen
    assert set(seen) == {torch.get_num_threads()}


def trees_of_one() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


def test_as_a_classifier_of_an_evaluation(product: Any) -> None:
    x, y = product
    splits = make_splits(y, "natural", 2, train_fraction=0.4)
    result = imgcl.evaluate(x, y, classifier=("plain", "trees"), splits=splits, ceiling=0)
    assert result["trees", "accuracy"].mean > result["plain", "accuracy"].mean + 0.1
    again = imgcl.evaluate(x, y, classifier="trees", splits=splits, ceiling=0)
    np.testing.assert_array_equal(again.of("trees").confusion, result.of("trees").confusion)
    assert all(setting["leaf"] in (3, 10) for setting in result.of("trees").settings)
    assert list(choose_classifiers("plain, trees")) == ["plain", "trees"]


def test_wrong_use(product: Any) -> None:
    with pytest.raises(InputError, match="class_weight is 'even': choose 'balanced' or None"):
        TreesClassifier("even").fit(*product)
    with pytest.raises(InputError, match="is the name of one of ours"):
        choose_classifiers([("trees", TreesClassifier())])
    with pytest.raises(InputError, match="unknown classifier 'tree': did you mean 'trees'"):
        choose_classifiers("tree")
