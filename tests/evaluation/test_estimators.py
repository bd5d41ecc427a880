"""Classifiers of scikit-learn in evaluate and predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import imgcl
from imgcl.evaluation import EvaluationResult, predict
from imgcl.evaluation.estimators import choose_classifiers
from imgcl.imbalance import Split, make_splits

Blobs = tuple[Any, Any]


def normalised(Z: Any) -> Any:
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "classifier",
    [KNeighborsClassifier(), LinearSVC(), make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))],
    ids=lambda each: type(each).__name__,
)
def test_scores_are_those_of_a_fit_by_hand(blobs: Blobs, classifier: Any) -> None:
    Z, y = blobs
    splits = make_splits(y, "exp:20", 3)
    result = imgcl.evaluate(Z, y, classifier=classifier, splits=splits, ceiling=0)
    assert result.classifiers == (type(classifier).__name__,)
    x = normalised(Z)
    for split, accuracy in zip(splits, result.values(result.classifiers[0], "accuracy"), strict=True):
        if "random_state" not in classifier.get_params():
            fitted = clone(classifier).fit(x[split.train], y[split.train])
            assert accuracy == pytest.approx(accuracy_score(y[split.test], fitted.predict(x[split.test])), abs=0.01)
    assert not hasattr(classifier, "classes_")  # the given object is never fitted
    with_probabilities = hasattr(classifier, "predict_proba")
    assert np.isfinite(result.of(result.classifiers[0]).ece).all() == with_probabilities


def test_stands_beside_names_and_under_a_name_of_its_own(blobs: Blobs) -> None:
    mine = [KNeighborsClassifier(), "plain", ("3 neighbours", KNeighborsClassifier(3))]
    result = imgcl.evaluate(*blobs, classifier=mine, splits=2, ceiling=1)
    assert result.classifiers == ("KNeighborsClassifier", "plain", "3 neighbours")
    alone = imgcl.evaluate(*blobs, classifier="plain", splits=2, ceiling=1)
    np.testing.assert_array_equal(result.of("plain").confusion, alone.of("plain").confusion)
    assert EvaluationResult.from_dict(result.to_dict()).classifiers == result.classifiers
    assert "3 neighbours" in str(result)


def test_a_pair_alone_is_one_classifier_and_a_known_name_begins_a_list() -> None:
    assert list(choose_classifiers(("mine", KNeighborsClassifier()))) == ["mine"]
    assert list(choose_classifiers(("plain", KNeighborsClassifier()))) == ["plain", "KNeighborsClassifier"]


def test_open_seeds_are_set_also_inside_a_pipeline(blobs: Blobs) -> None:
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    first, second = (imgcl.evaluate(*blobs, classifier=forest, splits=2, ceiling=0).to_json() for _ in range(2))
    assert first == second
    tree = DecisionTreeClassifier(max_features=1)
    seeds = [imgcl.evaluate(*blobs, classifier=tree, splits=2, random_state=seed, ceiling=0) for seed in (0, 1)]
    split = make_splits(blobs[1], "exp:20", 1)
    same = [
        imgcl.evaluate(*blobs, classifier=tree, splits=split, random_state=seed, ceiling=0).to_json() for seed in (0, 1)
    ]
    assert seeds[0].to_json() != seeds[1].to_json()
    assert same[0] != same[1]
    closed = DecisionTreeClassifier(max_features=1, random_state=3)
    kept = [
        imgcl.evaluate(*blobs, classifier=closed, splits=split, random_state=seed, ceiling=0).to_json()
        for seed in (0, 1)
    ]
    assert kept[0] == kept[1]


def test_a_class_without_training_labels_is_never_predicted(blobs: Blobs) -> None:
    Z, y = blobs
    nodes = [np.flatnonzero(y == k) for k in range(4)]
    parts = [np.concatenate([n[a:b] for n in nodes]) for a, b in ((0, 20), (20, 25), (25, 45))]
    split = Split(parts[0][y[parts[0]] != 2], parts[1], parts[2])
    result = imgcl.evaluate(Z, y, classifier=KNeighborsClassifier(), splits=[split])
    assert result.of("KNeighborsClassifier").confusion[0, :, 2].sum() == 0


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (LogisticRegression, "classifier LogisticRegression is a class: give an instance, LogisticRegression()"),
        (LinearRegression(), "classifier is of type LinearRegression: give a name"),
        (StandardScaler(), "classifier is of type StandardScaler: give a name"),
        (3, "classifier is of type int: give a name"),
        ([3.5], "classifier is of type float"),
        (["plain", lambda bench: []], "classifier is of type function"),
        ([("plain", LogisticRegression())], "'plain' is the name of one of ours"),
        ([("ceiling", LogisticRegression())], "'ceiling' is the name of one of ours"),
        ([LogisticRegression(), LogisticRegression(C=3)], "two classifiers are called 'LogisticRegression'"),
        (["svm", LogisticRegression()], "unknown classifier 'svm'"),
    ],
)
def test_wrong_objects_are_refused(blobs: Blobs, classifier: Any, message: str) -> None:
    with pytest.raises(imgcl.InputError) as caught:
        imgcl.evaluate(*blobs, classifier=classifier, splits=1)
    assert str(caught.value).startswith(message) or message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_predict_takes_one(blobs: Blobs) -> None:
    Z, y = blobs
    labels = np.full(len(y), -1)
    known = np.arange(0, len(y), 7)
    labels[known] = y[known]
    frame = predict(Z, labels, KNeighborsClassifier())
    by_hand = KNeighborsClassifier().fit(normalised(Z)[known], y[known])
    same = frame["class"].astype(int) == by_hand.predict(normalised(Z))
    assert same[labels < 0].mean() > 0.9  # calibration moves nodes between classes that are almost as probable
    assert frame["p_0"].between(0, 1).all()
    assert predict(Z, labels, LinearSVC())["p_0"].isna().all()
    with pytest.raises(imgcl.InputError, match="2 classifiers were named"):
        predict(Z, labels, [KNeighborsClassifier(), "plain"])


def test_predict_with_a_single_label_of_every_class_needs_no_folds(blobs: Blobs) -> None:
    Z, y = blobs
    frame = predict(Z, {int(np.flatnonzero(y == k)[0]): f"class {k}" for k in range(4)}, DummyClassifier())
    assert set(frame["class"]) == {"class 0"}
