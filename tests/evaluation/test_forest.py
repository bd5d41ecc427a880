"""Trees as arrays: what they say equals scikit-learn, and arrays that lead astray are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from imgcl.evaluation import TreesClassifier
from imgcl.evaluation.forest import LEAF, TreeModel, Trees, boosted_trees, forest_trees

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 5)).astype(np.float32)
THREE = (X[:, 0] * X[:, 1] > 0).astype(np.int64) + (X[:, 2] > 0.8)


def model_of(found: Trees, base: Any, kind: str, classes: list[int], n_classes: int = 3) -> TreeModel:
    none = np.zeros(n_classes)
    return TreeModel(found, kind, np.asarray(base), np.array(classes), n_classes, np.arange(5), none)


@pytest.mark.parametrize("y", [THREE, THREE.clip(0, 1)], ids=["three classes", "two classes"])
def test_boosting_says_what_scikit_learn_says(y: np.ndarray) -> None:
    fitted = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, random_state=0).fit(X[:200], y[:200])
    classes = list(range(int(y.max()) + 1))
    model = model_of(*boosted_trees(fitted), "boosting", classes, len(classes))
    p = torch.softmax(model.logits(torch.from_numpy(X)).double(), dim=1)
    np.testing.assert_allclose(p.numpy(), fitted.predict_proba(X), atol=1e-6)


def test_forests_say_what_scikit_learn_says() -> None:
    fitted = RandomForestClassifier(30, min_samples_leaf=3, random_state=0, class_weight="balanced").fit(X, THREE)
    model = model_of(forest_trees(fitted), np.zeros(3), "forest", [0, 1, 2])
    p = torch.softmax(model.logits(torch.from_numpy(X)).double(), dim=1)
    np.testing.assert_allclose(p.numpy(), fitted.predict_proba(X), atol=1e-5)


def test_a_class_that_was_not_seen_has_probability_zero() -> None:
    fitted = HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(X, THREE.clip(0, 1))
    model = model_of(*boosted_trees(fitted), "boosting", [0, 2])
    assert (model.classify(torch.from_numpy(X)).probabilities[:, 1] == 0).all()
    assert set(model.classify(torch.from_numpy(X)).classes) == {0, 2}


STUMP = Trees(
    root=np.array([0]),
    output=np.array([0]),
    column=np.array([1, LEAF, LEAF]),
    threshold=np.array([0.5, 0.0, 0.0]),
    left=np.array([1, 0, 0]),
    right=np.array([2, 0, 0]),
    value=np.array([[0.25], [-1.0], [4.0]]),
)


def test_sums_and_changes_by_hand() -> None:
    x = np.array([[9.0, 0.5], [9.0, 0.6]])
    assert STUMP.sums(x, 1).tolist() == [[-1.0], [4.0]]
    assert STUMP.changes(x, 1)[:, :, 0].tolist() == [[0.0, -1.25], [0.0, 3.75]]


def test_changes_and_the_mean_of_the_roots_add_up_to_the_logits() -> None:
    fitted = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8, random_state=0).fit(X, THREE)
    found, base = boosted_trees(fitted)
    x = X.astype(np.float64)
    roots = np.zeros(3)
    np.add.at(roots, found.output, found.value[found.root, 0])
    np.testing.assert_allclose(roots + found.changes(x, 3).sum(axis=1), found.sums(x, 3), atol=1e-9)
    # the values of inner nodes are means of what was trained on: so is that of the roots
    np.testing.assert_allclose(roots, found.sums(x, 3).mean(axis=0), atol=1e-9)
    assert base.shape == (3,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"column": np.array([2, LEAF, LEAF])}, "a column that is not there"),
        ({"column": np.array([-2, LEAF, LEAF])}, "a column that is not there"),
        ({"left": np.array([0, 0, 0])}, "from its root to leaves"),
        ({"right": np.array([3, 0, 0])}, "from its root to leaves"),
        ({"root": np.array([3])}, "no root"),
        ({"output": np.array([1])}, "a class that is not there"),
        ({"output": np.array([0, 0])}, "different lengths"),
        ({"threshold": np.array([0.5])}, "different lengths"),
        ({"value": np.array([[0.0], [np.inf], [0.0]])}, "not finite"),
    ],
)
def test_trees_that_lead_astray_are_refused(change: dict[str, Any], message: str) -> None:
    STUMP.check(2, 1)
    with pytest.raises(ValueError, match=message):
        STUMP._replace(**change).check(2, 1)


@pytest.mark.parametrize("validation", [THREE, 2 - THREE], ids=["agrees", "contradicts"])
def test_the_chosen_ensemble_keeps_its_probabilities(validation: np.ndarray) -> None:
    fitted = TreesClassifier(random_state=0).fit(X[:200], THREE[:200], X[200:], validation[200:])
    said = fitted.model(3).classify(torch.from_numpy(X)).probabilities
    np.testing.assert_allclose(said, fitted.predict_proba(X), atol=1e-5)


def test_changes_of_a_forest_add_up_to_its_logits() -> None:
    fitted = RandomForestClassifier(30, min_samples_leaf=3, random_state=0).fit(X, THREE)
    model = replace(model_of(forest_trees(fitted), np.zeros(3), "forest", [0, 1, 2]), smallest=1e-3)
    x = torch.from_numpy(X)
    start = np.log(np.maximum(model.trees.value[model.trees.root].mean(axis=0), 1e-3))
    np.testing.assert_allclose(model.changes(x).sum(axis=1) + start, model.logits(x).numpy(), atol=1e-5)


def test_changes_of_a_forest_by_hand() -> None:
    stump = STUMP._replace(value=np.array([[0.5, 0.5], [0.8, 0.2], [0.0, 1.0]]))
    model = TreeModel(stump, "forest", np.zeros(2), np.array([0, 1]), 2, np.arange(2), np.zeros(2), smallest=0.1)
    changes = model.changes(torch.tensor([[9.0, 0.4], [9.0, 0.6]]))
    assert (changes[:, 0] == 0).all()  # a column that no branch looks at
    expected = [[np.log(0.8 / 0.5), np.log(0.2 / 0.5)], [np.log(0.1 / 0.5), np.log(1.0 / 0.5)]]
    np.testing.assert_allclose(changes[:, 1], expected)
