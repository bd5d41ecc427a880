"""Protocols of papers: who trains, validates and tests."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.evaluation import evaluate
from imgcl.imbalance import make_splits, parse_protocol

Y = np.repeat([0, 1, 2, 3, 4], [900, 150, 800, 120, 700])
SMALLER = [1, 3]  # of five classes the two smaller ones are the minority


def counts(nodes: np.ndarray) -> list[int]:
    return np.bincount(Y[nodes], minlength=5).tolist()


@pytest.mark.parametrize(("name", "many", "few"), [("step:10", 20, 2), ("step:20", 20, 1), ("step:100", 100, 1)])
def test_step_labels(name: str, many: int, few: int) -> None:
    for split in parse_protocol(name).draw(Y, splits=3):
        assert counts(split.train) == [few if k in SMALLER else many for k in range(5)]
        assert (len(split.val), len(split.test)) == (500, 1000)
        shares = np.bincount(Y[split.test]) / 1000
        assert shares == pytest.approx(np.bincount(Y) / len(Y), abs=0.05)


def test_step_on_a_small_graph_has_every_class_everywhere() -> None:
    y = np.repeat([0, 1, 2], [60, 30, 5])
    for split in parse_protocol("step:10").draw(y, splits=5):
        assert np.bincount(y[split.train]).tolist() == [20, 20, 2]
        assert set(y[split.val]) == set(y[split.test]) == {0, 1, 2}
        assert len(np.unique(np.concatenate([split.train, split.val, split.test]))) == 95


def test_a_class_that_is_too_small_is_capped_or_refused() -> None:
    (split,) = parse_protocol("step:2").draw(np.repeat([0, 1], [60, 7]), splits=1)
    assert split.sizes is not None
    assert split.sizes.sizes == (20, 5)
    assert [cap.wanted for cap in split.sizes.caps] == [10]
    with pytest.raises(InputError, match="class 1 has 2 labelled nodes: the protocol step needs 3"):
        parse_protocol("step:2").draw(np.repeat([0, 1], [60, 2]), splits=1)


def test_imgcl_is_the_papers_and_igl_has_its_training_nodes_with_a_natural_test() -> None:
    (ours,), (igl,) = (parse_protocol(name).draw(Y, splits=1) for name in ("imgcl", "igl:100"))
    (expected,) = make_splits(Y, "exp:100", splits=1)
    assert np.array_equal(ours.test, expected.test)
    assert np.array_equal(igl.train, expected.train)
    assert len(set(counts(ours.test))) == len(set(counts(igl.val))) == 1
    assert np.array(counts(igl.test)) / len(igl.test) == pytest.approx(np.bincount(Y) / len(Y), abs=0.01)


def test_a_split_depends_on_seed_and_number_alone() -> None:
    protocol = parse_protocol("step:10")
    one, three = protocol.draw(Y, 1, 7)[0], protocol.draw(Y, 3, 7)
    assert np.array_equal(one.train, three[0].train)
    assert not np.array_equal(three[0].train, three[1].train)
    assert not np.array_equal(one.train, protocol.draw(Y, 1, 8)[0].train)


@pytest.mark.parametrize("wrong", ["step", "step:x", "igl:0.5", "other:3", "", "step:inf"])
def test_a_wrong_name_is_explained(wrong: str) -> None:
    with pytest.raises(InputError, match="write imgcl, step:10"):
        parse_protocol(wrong)


def test_evaluate_takes_a_protocol() -> None:
    Z = np.eye(5)[Y] + np.random.default_rng(0).standard_normal((len(Y), 5))
    result = evaluate(Z, Y, classifier="reweight", splits=2, protocol="step:10")
    assert result.protocol["protocol"] == "step:10"
    assert result.protocol["test"] == "natural"
    assert set(result.groups.tail) <= set(SMALLER)
    assert result.of("reweight").test_nodes.sum(axis=1).tolist() == [1000, 1000]
    for given in ({"test": "natural"}, {"train_fraction": 0.2}, {"splits": make_splits(Y, splits=1)}):
        with pytest.raises(InputError, match="protocol 'step:10' decides"):
            evaluate(Z, Y, protocol="step:10", **given)
