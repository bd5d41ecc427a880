"""How far am I."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl import InputError
from imgcl.evaluation.intervals import Estimate
from imgcl.labelling import Progress, progress
from imgcl.labelling.progress import gain
from imgcl.labelling.validation import CrossValidated, cross_validate, stands_for


def test_counts_come_first_and_largest_first(groups):
    rows, group = groups
    found = progress(rows, {i: f"c{group[i]}" for i in range(40)} | {50: None}, batch=20)
    assert found.asked == 41
    assert found.labels == 40
    assert list(found.counts.values()) == sorted(found.counts.values(), reverse=True)
    assert found.recall.mean == pytest.approx(1.0)
    assert found.gain == 0.0
    assert "40 labels of 6 classes (1 left open): c0" in str(found)


def test_without_two_labels_of_two_classes_nothing_is_claimed(groups):
    rows, _ = groups
    for labels in (None, {0: "a"}, {0: "a", 1: "b"}):
        found = progress(rows, labels)
        assert found.recall.mean is None
        assert found.worth_it is None
        assert "cannot be estimated yet" in str(found)


@pytest.mark.parametrize("batch", [0, -50, 2.5, "10"])
def test_a_batch_is_a_number_of_labels(groups, batch):
    with pytest.raises(InputError, match="give a whole number of labels, at least 1"):
        progress(groups[0], {0: "a"}, batch=batch)


def test_recall_counts_labels_by_the_nodes_they_stand_for():
    rows = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [0.3]], dtype=np.float32)
    codes = np.array([0, 0, 0, 1, 1, 1])
    even = cross_validate(rows, codes, folds=3)
    weighted = cross_validate(rows, codes, folds=3, weights=np.array([1.0, 1, 1, 10, 10, 1]))
    assert even.recall[1] == pytest.approx(2 / 3)  # the node at 0.3 is taken for class 0
    assert weighted.recall[1] == pytest.approx(20 / 21)
    assert weighted.labels[1] == pytest.approx(21**2 / 201)


def test_noise_is_not_told_apart_and_the_interval_holds_a_half():
    rng = np.random.default_rng(0)
    found = cross_validate(rng.standard_normal((60, 4)).astype(np.float32), np.arange(60) % 2)
    low, high = found.estimate().ci95
    assert low < 0.5 < high


def test_a_single_label_is_never_left_out():
    rows = np.array([[0.0], [0.1], [1.0]], dtype=np.float32)
    found = cross_validate(rows, np.array([0, 0, 1]))
    assert np.isnan(found.recall[1])
    assert found.macro == 1.0
    assert CrossValidated(np.array([1.0, np.nan]), np.array([2.0, 1.0])).estimate().mean == 1.0


def test_gain_is_per_doubling_and_within_what_is_left():
    curve = ((25.0, 0.6), (50.0, 0.7))
    assert gain(curve, 50, 50) == pytest.approx(0.1)
    assert gain(curve, 50, 150) == pytest.approx(0.2)
    assert gain(((25.0, 0.90), (50.0, 0.95)), 50, 350) == pytest.approx(0.05)  # no more than perfect
    assert gain(((25.0, 0.7), (50.0, 0.6)), 50, 50) == 0.0


def test_more_labels_pay_while_classes_have_single_labels(groups):
    rows, group = groups
    firsts = [int(np.flatnonzero(group == k)[0]) for k in range(6)]
    labels = {i: int(group[i]) for i in firsts} | {int(np.flatnonzero(group == 0)[1]): 0}
    found = progress(rows, labels, batch=10)
    assert found.unseen == pytest.approx(5 / 7)
    assert found.worth_it is True
    assert "cross-validated over these labels (1 of 6 classes: the others have one label)" in str(found)


@pytest.mark.parametrize("batch", [1, 10, 50])
def test_small_batches_are_not_told_to_stop_before_large_ones(batch):
    curve = ((25.0, 0.47), (50.0, 0.5))
    recall = Estimate(0.5, 0.05, (0.4, 0.6))
    found = Progress({"a": 40, "b": 10}, 50, recall, curve, batch, gain(curve, 50, batch), 0.0)
    assert (found.gain < 0.01) == (batch < 50)
    assert found.worth_it


def test_a_sample_says_how_many_a_label_stands_for(monkeypatch):
    rows = np.repeat(np.array([[0.0], [1.0]], dtype=np.float32), [300, 100], axis=0)
    assert stands_for(rows, np.array([0, 399])).tolist() == [300, 100]
    monkeypatch.setattr("imgcl.labelling.validation.SAMPLE", 100)
    sampled = stands_for(rows, np.array([0, 399]))
    assert sampled.sum() == pytest.approx(400)
    assert sampled[0] == pytest.approx(300, abs=60)


def test_very_many_labels_are_judged_by_some(monkeypatch, groups):
    rows, group = groups
    monkeypatch.setattr("imgcl.labelling.validation.MOST", 40)
    found = progress(rows, group)
    assert found.labels == 110
    assert found.curve[0][0] == 20.0  # two folds of forty
    assert found.recall.mean > 0.9
