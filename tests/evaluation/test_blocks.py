"""Blocks side by side: what the weights do, and that a useless block costs nothing."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch

from imgcl import InputError, evaluate
from imgcl.evaluation import CLASSIFIERS, predict
from imgcl.evaluation.blocks import Blocks, _average, _gain, _good_choices, fit_blocks
from imgcl.evaluation.classifiers import plain
from imgcl.evaluation.probes import batched
from imgcl.evaluation.tasks import Bench, LinearModel, PooledBench, Task

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], [1200, 600, 240])
TELLING = np.eye(3)[Y] * 2 + RNG.standard_normal((len(Y), 3))
NOISE = RNG.standard_normal((len(Y), 40))


def accuracy(Z, classifier="reweight"):
    result = evaluate(Z, Y, imbalance="exp:10", classifier=classifier, splits=4, ceiling=0, val_per_class=60)
    return result[classifier, "accuracy"].mean


def test_one_block_is_the_array_itself():
    assert accuracy({"only": TELLING}) == accuracy(TELLING)


def test_rows_of_every_block_have_length_one_also_after_other_blocks_changed_scale():
    blocks = Blocks.of({"a": TELLING * 1e-20, "b": NOISE * 1e20})
    assert np.allclose(np.linalg.norm(blocks.rows[:, :3], axis=1), 1)
    assert np.allclose(np.linalg.norm(blocks.rows[:, 3:], axis=1), 1)


def test_a_few_features_are_scaled_as_a_whole():
    own = np.array([[3.0, 4.0], [0.0, 1.0], [0.0, 0.0]])
    blocks = Blocks.of({"own": own, "neighbours:calls": 2 * own, "learned": own})
    assert blocks.scales == pytest.approx({"own": np.sqrt(3 / 26), "neighbours:calls": np.sqrt(3 / 26) / 2})
    expected = own * np.sqrt(3 / 26)
    np.testing.assert_allclose(blocks.rows[:, :2], expected, rtol=1e-6)
    np.testing.assert_allclose(blocks.rows[:, 2:4], expected, rtol=1e-6)
    np.testing.assert_allclose(blocks.rows[:, 4:], [[0.6, 0.8], [0, 1], [0, 0]], rtol=1e-6)
    later = Blocks.of({"own": own[:1] * 7, "neighbours:calls": own[:1], "learned": own[:1]}, scales=blocks.scales)
    np.testing.assert_allclose(later.rows[0, :2], expected[0] * 7, rtol=1e-6)


@pytest.mark.parametrize("size", [1e-35, 1e-20, 1.0, 1e20, 1e35])
def test_the_scale_of_features_does_not_matter(size):
    one, other = (Blocks.of({"own": NOISE * factor}).rows for factor in (1.0, size))
    np.testing.assert_allclose(other, one, rtol=1e-5)


def test_a_new_node_far_outside_stays_finite():
    scales = Blocks.of({"own": NOISE}).scales
    assert np.isfinite(Blocks.of({"own": np.full((1, 40), 1e300)}, scales=scales).rows).all()


def test_weightings_begin_with_all_alike_and_have_every_block_alone():
    found = Blocks.of(dict.fromkeys("abc", np.eye(2))).weightings()
    assert found[0] == {"a": 1.0, "b": 1.0, "c": 1.0}
    assert {"a": 0.0, "b": 0.0, "c": 1.0} in found
    assert len(found) == len({tuple(weights.values()) for weights in found}) == 7
    assert all(max(weights.values()) == 1 for weights in found)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_useless_block_costs_nothing(classifier):
    assert accuracy({"telling": TELLING, "noise": NOISE}, classifier) > accuracy(TELLING, classifier) - 0.02


def test_blocks_that_tell_different_things_are_better_than_each():
    first, second = np.eye(2)[(Y == 0).astype(int)], np.eye(2)[(Y == 1).astype(int)]
    both = accuracy({"first": first, "second": second})
    assert both > 0.99 > max(accuracy(first), accuracy(second))


def test_coefficients_hold_the_weights():
    """The model on unweighted rows equals the mean of those that were fitted on weighted ones."""
    blocks = Blocks.of({"telling": TELLING, "noise": NOISE})
    x, y = torch.from_numpy(blocks.rows), torch.from_numpy(Y)
    bench = Bench([Task(x[::2], y[::2], x[1::2], y[1::2], 3)], batched)
    [model] = fit_blocks(plain, bench, blocks)
    fits = [(plain(bench.scaled(scale))[0], scale) for scale in map(blocks.scale, blocks.weightings())]
    scores = [fitted.logits((x * scale)[:, scale != 0]) for fitted, scale in fits]
    means = [torch.stack(some).mean(dim=0) for n in (1, 2, 3) for some in combinations(scores, n)]
    assert any(torch.allclose(model.logits(x), mean, atol=1e-4) for mean in means)
    assert 0 < model.setting["weight telling"] <= 1


def model_of(right):
    """A model that classifies the four rows of TASK as ``right`` says: its scores are the rows themselves."""
    flipped = torch.where(torch.tensor(right, dtype=torch.bool), 1.0, -1.0)
    return LinearModel(torch.cat([torch.stack([-flipped, flipped]) * SIGN, torch.zeros(2, 1)], dim=1), {"C": 1.0})


SIGN = torch.tensor([-1.0, -1, 1, 1])  # classes 0, 0, 1, 1
TASK = Task(torch.zeros(2, 4), torch.tensor([0, 1]), torch.eye(4), torch.tensor([0, 0, 1, 1]), 2)


def test_gain_and_its_variance_by_hand():
    """Four validation nodes, two a class: one more wrong of four is a loss of 0.25 with a standard error of 0.22."""
    models = [model_of([1, 1, 1, 0]), model_of([1, 1, 1, 1])]
    gain, variance = _gain(TASK, models, best=1)
    assert gain.tolist() == [-0.25, 0]
    assert variance.tolist() == [(3 * 0.25**2 + 0.75**2) / 16, 0]


def test_choices_near_the_best_are_averaged():
    near, best, far = (
        replace(model_of(right), quality=(sum(right) / 4, 0.0), setting={"C": c, "weight own": c})
        for right, c in (([1, 1, 1, 1], 0.0), ([1, 1, 1, 1], 1.0), ([0, 0, 1, 1], 0.5))
    )
    best = replace(best, quality=(1.0, 0.1))
    good = _good_choices([TASK], [0], [[near], [best], [far]])
    assert good == [1, 0]
    assert _average([best, near]).setting == {"C": 1.0, "weight own": 0.5}


def test_tasks_that_share_settings_share_their_blocks():
    blocks = Blocks.of({"telling": TELLING, "noise": NOISE})
    x, y = torch.from_numpy(blocks.rows), torch.from_numpy(Y)
    halves = [Task(x[i::2], y[i::2], x[1 - i :: 2], y[1 - i :: 2], 3) for i in (0, 1)]
    everything = Task(x, y, x[:0], y[:0], 3)
    models = fit_blocks(plain, PooledBench([*halves, everything], batched), blocks)
    assert len({tuple(model.setting.items()) for model in models}) == 1


def test_predict_chooses_weights_by_cross_validation():
    labels = np.where(np.arange(len(Y)) % 3 == 0, Y, -1)
    alone = (predict(TELLING, labels, "reweight")["class"].astype(int) == Y).mean()
    beside = (predict({"telling": TELLING, "noise": NOISE}, labels, "reweight")["class"].astype(int) == Y).mean()
    assert beside > alone - 0.03


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        ({}, "no blocks"),
        ({"a": TELLING, "b": NOISE[:-1]}, "block 'b': the embedding has 2039 rows"),
        ({"a": TELLING * np.nan}, "block 'a': Z\\[0, 0\\] is nan"),
    ],
)
def test_wrong_blocks_are_named(Z, message):
    with pytest.raises(InputError, match=message):
        evaluate(Z, Y, splits=1)


def test_blocks_of_different_lengths_are_refused_without_labels():
    with pytest.raises(InputError, match="different numbers of rows"):
        Blocks.of({"a": TELLING, "b": NOISE[:-1]})


def test_blocks_of_relations_are_chosen_together_all_but_one_or_one():
    eye = np.eye(3)
    names = ("learned", "own", "neighbours", "neighbours:a", "neighbours:b")
    found = [tuple(each.values()) for each in Blocks.of(dict.fromkeys(names, eye)).weightings()]
    assert found[0] == (1, 1, 1, 1, 1)
    assert len(found) == len(set(found)) == 7 + 3 + 3
    assert (1, 1, 0, 1, 1) in found
    assert (1, 1, 0, 0, 1) in found
    assert (0, 0, 1, 1, 1) in found
    assert (0, 0, 0, 0, 1) not in found
    others = Blocks.of({"text:a": eye, "text:b": eye}).weightings()
    assert len(others) == 3  # other names with a colon are blocks like any
