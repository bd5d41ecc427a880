"""Every metric against values computed by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as reference

from imgcl.evaluation.groups import Groups, class_groups
from imgcl.evaluation.metrics import (
    accuracy,
    balanced_accuracy,
    confusion_matrix,
    expected_calibration_error,
    g_mean,
    group_recall,
    macro_f1,
    precision,
    recall,
    summary_metrics,
)

# true class 0: 8 right, 2 called 1; class 1: 1 called 0, 4 right; class 2: 2 called 0, 1 called 1, 1 right
HAND = np.array([[8, 2, 0], [1, 4, 0], [2, 1, 1]])


def test_hand_made_confusion_matrix_gives_every_metric_its_value() -> None:
    assert accuracy(HAND) == pytest.approx(13 / 19)
    assert recall(HAND) == pytest.approx([8 / 10, 4 / 5, 1 / 4])
    assert precision(HAND) == pytest.approx([8 / 11, 4 / 7, 1.0])
    assert balanced_accuracy(HAND) == pytest.approx((0.8 + 0.8 + 0.25) / 3)
    assert macro_f1(HAND) == pytest.approx((16 / 21 + 8 / 12 + 2 / 5) / 3)
    assert g_mean(HAND) == pytest.approx((0.8 * 0.8 * 0.25) ** (1 / 3))
    groups = Groups(head=(0,), middle=(1,), tail=(2,))
    values = summary_metrics(HAND, groups)
    assert [values[name] for name in ("head", "middle", "tail")] == pytest.approx([0.8, 0.8, 0.25])
    assert group_recall(HAND, (0, 2)) == pytest.approx(0.525)


def test_a_stack_of_matrices_gives_one_value_each() -> None:
    stack = np.stack([HAND, np.diag([1, 2, 3])])
    assert accuracy(stack) == pytest.approx([13 / 19, 1.0])
    assert recall(stack).shape == (2, 3)


def test_classes_without_test_nodes_or_predictions() -> None:
    absent = np.array([[3, 1, 0], [0, 0, 0], [2, 0, 0]])  # class 1 has no test node, class 2 is never predicted
    assert np.isnan(recall(absent)[1])
    assert precision(absent)[2] == 0
    assert np.isnan(precision(absent)[1])
    assert balanced_accuracy(absent) == pytest.approx((0.75 + 0.0) / 2)
    assert macro_f1(absent) == pytest.approx((6 / 9 + 0) / 2)
    assert g_mean(absent) == 0
    assert np.isnan(group_recall(absent, ()))


def test_calibration_by_hand() -> None:
    # bins of width 1/2: {0.6 right, 0.8 wrong} -> |1.4 - 1| = 0.4, over 2 nodes; second bin as one
    probabilities = [[0.6, 0.4], [0.8, 0.2]]
    assert expected_calibration_error(probabilities, [0, 1], bins=2) == pytest.approx(0.2)
    assert expected_calibration_error([[1.0, 0.0]], [0]) == 0
    # separate bins do not cancel: 0.6 right (gap 0.4) and 0.9 wrong (gap 0.9)
    assert expected_calibration_error([[0.6, 0.4], [0.9, 0.1]], [0, 1], bins=10) == pytest.approx(0.65)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=8, max_size=60))
def test_agrees_with_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    pairs = [*pairs, *((k, k) for k in range(4))]  # every class occurs
    truth, predicted = zip(*pairs, strict=True)
    matrix = confusion_matrix(truth, predicted, 4)
    assert matrix.tolist() == reference.confusion_matrix(truth, predicted, labels=range(4)).tolist()
    assert macro_f1(matrix) == pytest.approx(reference.f1_score(truth, predicted, average="macro"))
    assert balanced_accuracy(matrix) == pytest.approx(reference.balanced_accuracy_score(truth, predicted))


@pytest.mark.parametrize(
    ("classes", "sizes"), [(2, (1, 0, 1)), (3, (1, 1, 1)), (4, (1, 2, 1)), (8, (2, 4, 2)), (10, (3, 4, 3))]
)
def test_group_sizes(classes: int, sizes: tuple[int, int, int]) -> None:
    groups = class_groups(np.arange(classes, 0, -1))
    assert tuple(len(members) for _, members in groups) == sizes
    assert groups.head[0] == 0
    assert groups.tail[-1] == classes - 1


def test_groups_follow_size_not_number() -> None:
    groups = class_groups([10, 30, 20])
    assert (groups.head, groups.middle, groups.tail) == ((1,), (2,), (0,))
    assert groups.of_class() == ("tail", "head", "middle")
