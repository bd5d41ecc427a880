import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.svm import LinearSVC

from imgcl._core.errors import InputError
from imgcl.evaluation import (
    RANKING,
    EvaluationResult,
    auroc,
    average_precision,
    brier_score,
    combine,
    evaluate,
    lift_at,
    precision_at,
    ranking_metrics,
    recall_at,
)
from imgcl.imbalance import make_splits, natural_test
from imgcl.studies.packing import pack_result, unpack_result

Blobs = tuple[NDArray[np.float32], NDArray[np.int64]]

# for class 1 the rows rank 1, 0, 1, 0, 0: scores 5, 4, 3, 2, 1
FALLING = np.array([[0, 5], [1, 4], [2, 3], [3, 2], [4, 1]])
Y = np.array([1, 0, 1, 0, 0])


def test_by_hand() -> None:
    assert auroc(FALLING, Y)[1] == pytest.approx(5 / 6)  # 3 + 2 of 2 x 3 pairs are in order
    assert average_precision(FALLING, Y)[1] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert [recall_at(FALLING, Y, k)[1] for k in (1, 2, 3, 9)] == [0.5, 0.5, 1, 1]
    assert [precision_at(FALLING, Y, k)[1] for k in (1, 2, 3, 9)] == pytest.approx([1, 1 / 2, 2 / 3, 2 / 5])
    assert lift_at(FALLING, Y, 1)[1] == pytest.approx(1 / (2 / 5))
    assert recall_at(FALLING, Y)[1] == precision_at(FALLING, Y)[1] == 0.5  # k = 2, as many as there are
    assert brier_score([[0.8, 0.2], [0.4, 0.6]], [0, 0])[1] == pytest.approx((0.04 + 0.36) / 2)


def test_rows_that_tie_count_as_if_drawn_at_random() -> None:
    equal = np.ones((4, 2))
    y = np.array([0, 0, 0, 1])
    assert auroc(equal, y).tolist() == [0.5, 0.5]
    assert average_precision(equal, y).tolist() == [0.75, 0.25]  # chance: the share of the class
    assert recall_at(equal, y, k=2).tolist() == pytest.approx([0.5, 0.5])
    assert precision_at(equal, y, k=2).tolist() == pytest.approx([0.75, 0.25])


def test_a_class_without_rows_has_no_value() -> None:
    scores, y = np.random.default_rng(0).random((6, 3)), np.array([0, 0, 1, 1, 0, 1])
    for metric in (auroc, average_precision, recall_at, precision_at, lift_at):
        assert np.isnan(metric(scores, y)).tolist() == [False, False, True]
        assert np.isnan(metric(scores[:2], y[:2])).all()  # one class only
    assert not np.isnan(brier_score(scores, y)).any()


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(2, 30), st.just(3)), elements=st.integers(0, 8)),
    st.integers(0, 1000),
)
def test_areas_are_those_of_scikit_learn(scores: NDArray[np.int64], seed: int) -> None:
    y = np.random.default_rng(seed).integers(0, 3, len(scores))
    areas = auroc(scores, y), average_precision(scores, y)
    for k in range(3):
        if 0 < (y == k).sum() < len(y):
            theirs = roc_auc_score(y == k, scores[:, k]), average_precision_score(y == k, scores[:, k])
            assert [area[k] for area in areas] == pytest.approx(theirs)


def test_natural_test_nodes_have_the_shares_of_the_graph() -> None:
    y = np.concatenate([np.repeat([0, 1, 2], [800, 150, 50]), np.full(100, -1)])
    (split,) = make_splits(y, "exp:4", splits=1)
    natural = natural_test(split, y, random_state=3)
    assert np.array_equal(natural.train, split.train)
    assert np.array_equal(natural.val, split.val)
    sizes = np.bincount(y[natural.test])
    assert sizes / sizes.sum() == pytest.approx([0.8, 0.15, 0.05], abs=0.01)
    assert np.array_equal(natural.test, natural_test(split, y, random_state=3).test)
    assert not np.array_equal(natural.test, natural_test(split, y, random_state=4).test)


def test_natural_and_balanced_test_the_same_classifiers(blobs: Blobs) -> None:
    Z, y = blobs
    balanced, natural = (evaluate(Z, y, "natural", "plain", splits=3, test=test) for test in ("balanced", "natural"))
    assert balanced.of("plain").settings == natural.of("plain").settings
    assert natural.protocol["test"] == "natural"
    assert "test" not in balanced.protocol
    assert natural.ceiling is None
    sizes = natural.of("plain").test_nodes.sum(axis=0)
    assert sizes / sizes.sum() == pytest.approx([0.5, 0.25, 0.15, 0.1], abs=0.01)
    assert f"test nodes: {balanced.of('plain').test_nodes[0, 0]} of each of 4 classes" in str(balanced)
    assert "tail AUPRC" in str(natural)
    with pytest.raises(InputError, match="test is 'real': choose from balanced, natural"):
        evaluate(Z, y, splits=1, test="real")


def test_result_keeps_rankings_through_json_journals_and_seeds(blobs: Blobs) -> None:
    Z, y = blobs
    result = evaluate(Z, y, "natural", "plain", splits=2, test="natural")
    assert {*RANKING} == {*result.of("plain").ranking}
    back = EvaluationResult.from_dict(json.loads(result.to_json()))
    assert back.to_json() == result.to_json()
    assert back["plain", "tail_auprc"] == result["plain", "tail_auprc"]
    packed = unpack_result(json.loads(json.dumps(pack_result(result))))
    assert packed["plain", "auroc"].mean == pytest.approx(result["plain", "auroc"].mean, abs=1e-5)
    both = combine([result, result])
    assert both.of("plain").ranking["auroc"].shape == (4, 4)
    rare = result.class_frame("plain").set_index("class").loc["3"]
    assert rare["auprc"] == pytest.approx(result["plain", "tail_auprc"].mean)
    assert rare["lift"] > 1


def test_journals_of_balanced_tests_stay_as_they_were(blobs: Blobs) -> None:
    packed = pack_result(evaluate(*blobs, "exp:4", "plain", splits=2))
    assert set(packed["scores"]["plain"]) == {"confusion", "ece", "settings"}
    old = unpack_result(packed)
    assert "AUROC" not in str(old)
    with pytest.raises(InputError, match="no metric 'auroc'"):
        old.values("plain", "auroc")
    packed["scores"]["plain"]["ranking"] = {name: [[0.5]] for name in RANKING}
    with pytest.raises(ValueError, match="rankings are not those of its classes"):
        unpack_result(packed)


def test_without_probabilities_there_is_no_ranking(blobs: Blobs) -> None:
    result = evaluate(*blobs, "natural", ("plain", LinearSVC()), splits=1, test="natural")
    assert not result.of("LinearSVC").ranking
    assert "-" in [line.split()[1] for line in str(result).splitlines() if line.startswith("LinearSVC")]


def test_few_test_nodes_are_said() -> None:
    y = np.repeat([0, 1], [60, 5])
    Z = np.random.default_rng(0).standard_normal((65, 3))
    result = evaluate(Z, y, "natural@15%", "plain", splits=2, test="natural", val_per_class=1, test_per_class=1)
    assert any(note.startswith("classes with under 5 test nodes ('1' ") for note in result.notes)


def test_a_class_that_is_rarer_among_training_labels_is_said() -> None:
    y = np.repeat([0, 1], [900, 100])
    Z = np.random.default_rng(0).standard_normal((1000, 3))
    said = "of the training labels, 10.0 % of all labels: equally many nodes of every class are set aside first"
    assert said in str(evaluate(Z, y, "natural@40%", "plain", splits=2, test="natural"))
    assert said not in str(evaluate(Z, y, "natural", "plain", splits=20, test="natural"))
    assert said not in str(evaluate(Z, y, "exp:9", "plain", splits=2))


def test_all_metrics_by_name() -> None:
    assert tuple(ranking_metrics(FALLING / 5, Y)) == RANKING


@pytest.mark.parametrize(
    ("scores", "y", "message"),
    [
        ([0.5, 0.2], [1, 0], r"scores have shape \(2,\) and classes \(2,\): give scores \(n, K\)"),
        ([[0.5, 0.5]], [1, 0], r"shape \(1, 2\) and classes \(2,\)"),
        ([[0.5, 0.5]], ["a"], r"classes must be integers 0..1"),
        ([[0.5, 0.5]], [2], r"classes must be integers 0..1"),
        ([[0.5, np.nan]], [1], "scores have NaN in row 0"),
    ],
)
@pytest.mark.parametrize("metric", [auroc, average_precision, recall_at, precision_at, lift_at, brier_score])
def test_what_is_no_ranking(metric, scores, y, message):
    with pytest.raises(InputError, match=message):
        metric(scores, y)
