import json

import numpy as np
import pytest
from numpy.typing import NDArray

import imgcl
from imgcl._core.errors import InputError
from imgcl.evaluation import CLASSIFIERS, EvaluationResult, evaluate
from imgcl.imbalance import Split, make_splits

Blobs = tuple[NDArray[np.float32], NDArray[np.int64]]


def test_imgcl_evaluate_is_callable_before_and_after_its_package_is_imported(blobs: Blobs) -> None:
    for _ in range(2):
        result = imgcl.evaluate(*blobs, classifier="nearest-mean", splits=1, ceiling=0)
        assert isinstance(result, EvaluationResult)


def test_all_classifiers_on_several_splits(blobs: Blobs) -> None:
    result = evaluate(*blobs, imbalance="exp:20", classifier=tuple(CLASSIFIERS), splits=3)
    assert result.classifiers == tuple(CLASSIFIERS)
    assert result.protocol == {"imbalance": "exp:20", "probe": "batched"}
    assert result.groups.head == (0,)
    assert result.groups.tail == (3,)
    assert result["reweight", "tail"].mean > result["plain", "tail"].mean
    # the test set is balanced, so accuracy, balanced accuracy and the mean over classes are one number
    assert result["pbs", "accuracy"].mean == pytest.approx(result["pbs", "balanced_accuracy"].mean)
    assert result["ceiling", "accuracy"].mean > result["plain", "accuracy"].mean
    assert result["ceiling", "accuracy"].sd is None  # one split by default


def test_same_numbers_on_a_second_run(blobs: Blobs) -> None:
    first, second = (evaluate(*blobs, splits=2, classifier="plain,pbs,logit-adjust").to_json() for _ in range(2))
    assert first == second


def test_probabilities_and_predictions_use_normalised_rows(blobs: Blobs) -> None:
    Z, y = blobs
    scaled = Z * np.random.default_rng(0).uniform(0.1, 10, size=(len(Z), 1))
    a = evaluate(Z, y, classifier="reweight", splits=2, ceiling=0)
    b = evaluate(scaled, y, classifier="reweight", splits=2, ceiling=0)
    assert a.values("reweight", "accuracy") == pytest.approx(b.values("reweight", "accuracy"), abs=0.01)


def test_text_labels_and_unlabelled_nodes(blobs: Blobs) -> None:
    Z, y = blobs
    names = np.array(["d", "c", "b", "a"])[y].astype(object)
    expected = evaluate(Z, y, classifier="reweight", splits=2, ceiling=1)
    more = np.concatenate([Z, Z[:50] + 100])
    for nothing in (None, "", np.nan):
        labels = np.concatenate([names, np.full(50, nothing, dtype=object)])
        result = evaluate(more, labels, classifier="reweight", splits=2, ceiling=1)
        assert result.class_names == ("a", "b", "c", "d")
        assert result.groups.head == (3,)
    unlabelled = evaluate(more, np.append(y, [-1] * 50), classifier="reweight", splits=2, ceiling=1)
    assert unlabelled.to_json() == expected.to_json()


def test_two_classes(blobs: Blobs) -> None:
    Z, y = blobs
    result = evaluate(Z, np.where(y == 0, 0, 1), imbalance="exp:10", classifier=tuple(CLASSIFIERS), splits=1)
    assert result["plain", "middle"].mean is None
    assert "middle" not in str(result)
    assert result["reweight", "accuracy"].mean > 0.6


def given_split(y: NDArray[np.int64], train: tuple[int, ...], test: tuple[int, ...] = (20, 20, 20, 20)) -> Split:
    parts: list[list[NDArray[np.int64]]] = [[], [], []]
    for k in range(4):
        nodes = np.flatnonzero(y == k)
        parts[0].append(nodes[: train[k]])
        parts[1].append(nodes[40:50])
        parts[2].append(nodes[50 : 50 + test[k]])
    return Split(*(np.concatenate(part) for part in parts))


def test_class_missing_from_training_is_handled_and_noted(blobs: Blobs) -> None:
    Z, y = blobs
    result = evaluate(Z, y, splits=[given_split(y, (40, 20, 0, 1))], classifier=tuple(CLASSIFIERS))
    assert result.notes == ("class '2' has no train node in 1 of 1 splits: it is never predicted there",)
    for name in CLASSIFIERS:
        assert result.of(name).confusion[0, :, 2].sum() == 0
    assert "never predicted" in str(result)
    assert result.protocol["imbalance"] == "as given"


def test_class_missing_from_test_is_left_out_of_means(blobs: Blobs) -> None:
    Z, y = blobs
    result = evaluate(Z, y, splits=[given_split(y, (40, 20, 9, 5), (20, 20, 0, 20))], classifier="plain")
    assert "left out of means" in result.notes[0]
    assert json.loads(result.to_json())["plain"]["recall"]["2"]["mean"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classifier": "svm"}, "unknown classifier 'svm': choose from plain, reweight"),
        ({"classifier": ()}, "no classifier was named"),
        ({"probe": "magic"}, "unknown probe 'magic'"),
        ({"splits": []}, "splits is empty"),
        ({"splits": 0}, "splits is 0"),
        ({"splits": 2.5}, "splits is 2.5: give a number of splits to draw, or a list of splits"),
        ({"splits": "two"}, "splits is 'two': give a number"),
        ({"splits": [([0], [1], [2])]}, r"splits\[0\] is of type tuple: give imgcl.imbalance.Split"),
        ({"imbalance": "log:3"}, "unknown imbalance 'log:3'"),
        ({"class_names": ["one", "two"]}, "there are 2 class names"),
        ({"class_names": list("abca")}, r"class_names\[0\] and class_names\[3\] are both 'a'"),
    ],
)
def test_wrong_arguments(change: dict[str, object], message: str, blobs: Blobs) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(*blobs, **change)


def test_wrong_splits(blobs: Blobs) -> None:
    Z, y = blobs
    good = given_split(y, (40, 20, 9, 5))
    hidden = y.copy()
    hidden[good.val[0]] = -1
    with pytest.raises(InputError, match=rf"splits\[0\].val has node {good.val[0]}, which has no label"):
        evaluate(Z, hidden, splits=[good])
    with pytest.raises(InputError, match=r"splits\[0\].test has nodes outside"):
        evaluate(Z, y, splits=[Split(good.train, good.val, np.array([9999]))])
    with pytest.raises(InputError, match=r"splits\[0\].val is empty"):
        evaluate(Z, y, splits=[Split(good.train, np.array([]), good.test)])
    with pytest.raises(InputError, match="single class"):
        evaluate(Z, y, splits=[Split(good.train[:10], good.val, good.test)])
    with pytest.raises(InputError, match="cannot be changed"):
        evaluate(Z, y, splits=[good], train_fraction=0.5)


def test_wrong_embedding(blobs: Blobs) -> None:
    Z, y = blobs
    with pytest.raises(InputError, match="799 rows but there are 800 labels"):
        evaluate(Z[1:], y)
    broken = Z.copy()
    broken[3, 4] = np.inf
    with pytest.raises(InputError, match=r"Z\[3, 4\] is inf"):
        evaluate(broken, y)


def test_class_names_and_split_options(blobs: Blobs) -> None:
    Z, y = blobs
    result = evaluate(Z, y, classifier="lda", splits=1, class_names=list("wxyz"), test_per_class=30, val_per_class=5)
    assert result.class_names == ("w", "x", "y", "z")
    assert result.of("lda").confusion.sum() == 120


@pytest.mark.parametrize(
    ("y", "names", "called"),
    [([5] * 5 + [3] * 2 + [1], ["", "pepper", "", "salt", "", "tea"], "pepper"), (list("ttttttssp"), None, "p")],
)
def test_a_class_with_too_few_labels_is_called_by_its_name(y: list, names: list[str] | None, called: str) -> None:
    with pytest.raises(InputError, match=f"class {called!r} has 1 labelled node, .* needs at least 3 labelled nodes"):
        evaluate(np.eye(len(y)), y, class_names=names)


def test_given_splits_equal_drawn_ones(blobs: Blobs) -> None:
    Z, y = blobs
    drawn = evaluate(Z, y, imbalance="exp:10", splits=2, random_state=5)
    given = evaluate(Z, y, splits=make_splits(y, "exp:10", 2, 5))
    assert given.to_json() == drawn.to_json()
