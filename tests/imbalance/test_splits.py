"""Splits: exact, disjoint, balanced where they should be, and a function of their seed and number alone."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from imgcl._core.errors import GraphError, InputError
from imgcl.data import load_graph
from imgcl.imbalance import Cap, Split, default_test_per_class, make_splits, random_splits

COMPUTERS = [5158, 2156, 2142, 1414, 818, 542, 487, 436, 308, 291]
PHOTO = [1941, 1686, 915, 882, 823, 703, 369, 331]
WIKI_CS = [2679, 2153, 1933, 1424, 865, 780, 667, 492, 413, 295]  # published with the data set
DBLP = [7920, 5645, 2169, 1982]


def labels(sizes: list[int], unlabelled: int = 0, seed: int = 0) -> np.ndarray:
    y = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(unlabelled, -1)])
    return np.random.default_rng(seed).permutation(y)


def per_class(y: np.ndarray, nodes: np.ndarray, n_classes: int) -> list[int]:
    return np.bincount(y[nodes], minlength=n_classes).tolist()


@pytest.mark.parametrize(
    ("sizes", "law", "val", "test", "expected"),
    [
        (COMPUTERS, "exp:100", 20, 200, [554, 332, 199, 119, 72, 43, 26, 15, 9, 6]),
        (PHOTO, "exp:100", 20, 200, [371, 192, 99, 51, 27, 14, 7, 4]),
        (WIKI_CS, "exp:100", 20, 200, [471, 283, 169, 102, 61, 36, 22, 13, 8, 5]),
        (DBLP, "exp:100", 150, 1500, [1393, 300, 65, 14]),
        (DBLP, "step:10", 150, 1500, [805, 805, 81, 81]),
        (DBLP, [2, 1, 1, 1], 150, 1500, [720, 360, 360, 332]),  # capped: 1982 - 1650 are left of the last
    ],
)
def test_the_papers_graphs_by_their_class_sizes(
    sizes: list[int], law: str | list[int], val: int, test: int, expected: list[int]
) -> None:
    y = labels(sizes)
    split = make_splits(y, law, splits=1)[0]
    assert per_class(y, split.train, len(sizes)) == expected
    assert len(split.train) == round(0.1 * sum(sizes))
    assert per_class(y, split.val, len(sizes)) == [val] * len(sizes)
    assert per_class(y, split.test, len(sizes)) == [test] * len(sizes)


@pytest.mark.parametrize(("sizes", "test"), [(COMPUTERS, 200), (PHOTO, 200), (WIKI_CS, 200), (DBLP, 1500)])
def test_the_default_rule_gives_the_papers_numbers(sizes: list[int], test: int) -> None:
    assert default_test_per_class(sizes) == test


@pytest.mark.parametrize(
    ("sizes", "test"),
    [([174] * 10, 70), ([1000] * 10, 500), ([3, 3], 1), ([10, 40], 7), ([100, 100], 50), ([0, 50, 50], 20)],
)
def test_the_default_rule_elsewhere(sizes: list[int], test: int) -> None:
    assert default_test_per_class(sizes) == test


def test_sizes_are_mapped_onto_the_graphs_own_class_ids() -> None:
    y = labels([100, 1000, 300])  # order: 1, 2, 0
    split = make_splits(y, "exp:100", splits=1, val_per_class=2, test_per_class=20)[0]
    assert split.sizes is not None
    assert split.sizes.order == (1, 2, 0)
    assert split.sizes.sizes == (1, 126, 13)
    assert split.sizes.in_order == (126, 13, 1)
    assert per_class(y, split.train, 3) == [1, 126, 13]


def test_caps_are_applied_reported_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    y = labels([100, 100, 100])
    with caplog.at_level(logging.WARNING, "imgcl"):
        splits = make_splits(y, "exp:10", splits=3, train_fraction=0.4, val_per_class=10, test_per_class=40)
    # 120 labels: the law asks 85 27 8, but 50 are left of the first; 70 remain for weights 10 : sqrt(10)
    sizes = splits[0].sizes
    assert sizes is not None
    assert sizes.caps == (Cap(class_id=0, wanted=85, available=50),)
    assert sizes.in_order == (50, 50, 20)
    assert sizes.total == 120
    assert "class 0 got 50 of 85" in str(sizes)
    assert [record.getMessage() for record in caplog.records] == [
        "imbalance exp:10, training labels: class 0 got 50 of 85 (no more nodes left)"
    ]


def test_digits_at_exp_100_needs_no_cap() -> None:
    split = make_splits(load_graph("digits").y, "exp:100", splits=1)[0]
    assert split.sizes is not None
    assert split.sizes.in_order == (73, 43, 26, 16, 9, 6, 3, 2, 1, 1)
    assert split.sizes.caps == ()
    assert (len(split.val), len(split.test)) == (70, 700)


@st.composite
def tasks(draw: st.DrawFn) -> tuple[list[int], int]:
    return draw(st.lists(st.integers(12, 120), min_size=2, max_size=6)), draw(st.integers(0, 30))


LAW = st.sampled_from(
    ["natural", "exp:1", "exp:20", "exp:100", "pareto:1", "pareto:2:classic", "pareto:1:rank", "step:5"]
)


@given(tasks(), LAW, st.integers(0, 3), st.integers(1, 3), st.integers(1, 7))
@settings(deadline=None)
def test_every_split_is_exact_disjoint_and_balanced(
    task: tuple[list[int], int], law: str, seed: int, val: int, test: int
) -> None:
    sizes, unlabelled = task
    y, k = labels(sizes, unlabelled), len(sizes)
    total = round(0.1 * sum(sizes))
    assume(total >= k)
    for split in make_splits(y, law, 2, seed, 0.1, val, test):
        together = np.concatenate([split.train, split.val, split.test])
        assert len(np.unique(together)) == len(together)
        assert (y[together] >= 0).all()
        assert len(split.train) == total
        assert per_class(y, split.val, k) == [val] * k
        assert per_class(y, split.test, k) == [test] * k
        got = per_class(y, split.train, k)
        assert split.sizes is not None
        assert tuple(got) == split.sizes.sizes
        assert min(got) >= 1
        assert all(size <= n - val - test for size, n in zip(got, sizes, strict=True))
        for cap in split.sizes.caps:
            assert got[cap.class_id] == cap.available < cap.wanted


@given(st.permutations(range(4)), LAW.filter(lambda law: law != "natural"))
@settings(deadline=None)
def test_numbering_the_classes_otherwise_renumbers_the_sizes(order: list[int], law: str) -> None:
    y = labels([200, 120, 60, 30])
    first = make_splits(y, law, splits=1)[0].sizes
    second = make_splits(np.array(order)[y], law, splits=1)[0].sizes
    assert first is not None
    assert second is not None
    assert [second.sizes[order[k]] for k in range(4)] == list(first.sizes)
    assert first.in_order == second.in_order


def test_a_split_depends_on_seed_and_number_only() -> None:
    y = labels([300, 200, 100])
    many, few = make_splits(y, "exp:10", splits=5, random_state=7), make_splits(y, "exp:10", splits=2, random_state=7)
    for a, b in zip(many[:2], few, strict=True):
        for part in ("train", "val", "test"):
            np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    assert not np.array_equal(many[0].test, many[1].test)
    assert not np.array_equal(many[0].test, make_splits(y, "exp:10", splits=1, random_state=8)[0].test)


def test_laws_share_validation_and_test_and_nest() -> None:
    y = labels([300, 200, 100])
    mild, strong, natural = (make_splits(y, law, splits=1)[0] for law in ("exp:2", "exp:50", "natural"))
    for other in (strong, natural):
        np.testing.assert_array_equal(mild.test, other.test)
        np.testing.assert_array_equal(mild.val, other.val)
    tail_mild, tail_strong = (set(split.train[y[split.train] == 2]) for split in (mild, strong))
    assert tail_strong < tail_mild


def test_natural_is_a_simple_random_sample_that_misses_no_class() -> None:
    y = labels([900, 90, 12])
    splits = make_splits(y, "natural", splits=300, val_per_class=1, test_per_class=1)
    counts = np.array([split.sizes.sizes for split in splits if split.sizes])
    assert counts.sum(axis=1).tolist() == [100] * 300
    assert counts[:, 2].min() == 1
    # hypergeometric: 100 of 1002, 90 of class 1: mean 8.98, sd 2.71, sd of the mean 0.157
    assert counts[:, 1].mean() == pytest.approx(8.98, abs=0.6)
    assert counts[:, 1].std() == pytest.approx(2.71, abs=0.5)


def test_natural_has_the_shares_of_the_graph_whatever_validation_and_test_take() -> None:
    y = labels([800, 200])
    splits = make_splits(y, "natural", splits=200, val_per_class=15, test_per_class=150)
    counts = np.array([split.sizes.sizes for split in splits if split.sizes])
    assert counts[:, 1].mean() == pytest.approx(20, abs=1)  # sd 3.8, of the mean 0.27; 4.2 % of what is left
    many = make_splits(y, "natural@50%", splits=1, val_per_class=15, test_per_class=150)[0].sizes
    assert many is not None
    assert many.sizes == (465, 35)  # all that is left of class 1, the others take its place


def test_classes_without_nodes_are_no_classes() -> None:
    y = labels([100, 100])
    y[y == 1] = 3
    sizes = make_splits(y, "exp:4", splits=1)[0].sizes
    assert sizes is not None
    assert sizes.sizes == (16, 0, 0, 4)


def test_a_law_that_returns_sizes_is_called_with_the_number_of_classes() -> None:
    split = make_splits(labels([100, 100, 100]), lambda k: [2.0] * (k - 1) + [1.0], splits=1)[0]
    assert split.sizes is not None
    assert split.sizes.sizes == (12, 12, 6)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (None, {}, "there are no labels"),
        ([-1, -1], {}, "every node is unlabelled"),
        ([0] * 50, {}, "every labelled node is of class 0: a split needs at least two classes"),
        ([0] * 50 + [1] * 2, {}, "class 1 has 2 labelled nodes, too few for 1 validation, 1 test and at least 1"),
        ([0] * 50 + [1] * 30, {"test_per_class": 29}, "class 1 has 30 labelled nodes, too few for 2 validation, 29"),
        ([0] * 50 + [1] * 30, {"val_per_class": 30}, "too few for 30 validation"),
        ([0] * 50 + [1] * 50, {"train_fraction": 0.01}, "1 training labels are too few for 2 classes"),
        ([0] * 50 + [1] * 50, {"train_fraction": 0.9}, r"90 training labels are more than the 56 nodes left"),
        ([0] * 50 + [1] * 50, {"imbalance": "natural", "train_fraction": 0.9}, "90 training labels are more than"),
        ([0] * 50 + [1] * 50, {"train_fraction": 0}, "train_fraction is 0"),
        ([0] * 50 + [1] * 50, {"splits": 0}, "splits is 0: it must be a whole number"),
        ([0] * 50 + [1] * 50, {"test_per_class": 2.5}, "test_per_class is 2.5"),
        ([0] * 50 + [1] * 50, {"imbalance": "exp:0.1"}, "ratio 0.1"),
        ([0] * 50 + [1] * 50, {"imbalance": [3, 2, 1]}, "has 3 sizes but there are 2 classes"),
    ],
)
def test_bad_requests(y: list[int] | None, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_splits(y, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sizes", "options", "advice"),
    [
        ([50, 2], {}, "a class needs at least 3 labelled nodes: label more, or leave the class out"),
        ([50, 2], {"val_per_class": 1, "test_per_class": 1}, "a class needs at least 3 labelled nodes: label more"),
        ([50, 30], {"test_per_class": 29}, "lower test_per_class, label more, or leave the class out"),
        ([50, 30], {"val_per_class": 30}, "lower val_per_class, label more, or"),
        ([50, 30], {"val_per_class": 9, "test_per_class": 29}, "lower val_per_class and test_per_class, label more"),
    ],
)
def test_a_class_that_is_too_small_brings_advice_that_can_be_followed(
    sizes: list[int], options: dict[str, int], advice: str
) -> None:
    with pytest.raises(InputError, match=f"at least 1 training node: {advice}"):
        make_splits(labels(sizes), **options)  # type: ignore[arg-type]


def test_three_nodes_of_every_class_are_enough() -> None:
    y = labels([3, 3, 3])
    with pytest.raises(InputError, match=r"label more nodes, or ask for more training labels .* ends in @1/class"):
        make_splits(y, "exp:10")
    split = make_splits(y, "exp:10@1/class", splits=1)[0]
    assert (len(split.train), len(split.val), len(split.test)) == (3, 3, 3)


def test_messages_call_classes_by_their_names() -> None:
    names = ["pepper", "salt", "tea"]
    with pytest.raises(InputError, match="class 'pepper' has 1 labelled node, too few"):
        make_splits(labels([1, 2, 5]), class_names=names)
    with pytest.raises(InputError, match="every labelled node is of class 'tea': a split"):
        make_splits([2, 2, -1], class_names=names)


def test_bad_labels_are_the_graphs_own_error() -> None:
    with pytest.raises(GraphError, match=r"labels\[1\] is -2"):
        make_splits([0, -2])


def test_random_splits() -> None:
    y = labels([60, 40], unlabelled=20)
    splits = random_splits(y, splits=3)
    for split in splits:
        assert (len(split.train), len(split.val), len(split.test)) == (10, 10, 80)
        assert sorted(np.concatenate([split.train, split.val, split.test])) == np.flatnonzero(y >= 0).tolist()
        assert split.sizes is None
    np.testing.assert_array_equal(splits[2].test, random_splits(y, splits=4)[2].test)
    with pytest.raises(InputError, match="each set, test included, needs a node"):
        random_splits(y, train=0.5, val=0.5)
    with pytest.raises(InputError, match="between 0 and 1"):
        random_splits(y, train=-0.1)


def test_a_split_is_a_checked_value() -> None:
    split = Split(np.array([3, 1]), np.array([2]), np.array([], dtype=int))
    assert split.train.tolist() == [1, 3]
    with pytest.raises(ValueError, match="read-only"):
        split.train[0] = 5
    with pytest.raises(InputError, match="node 2 is in the split more than once"):
        Split(np.array([1, 2]), np.array([2]), np.array([4]))
    assert repr(split) == "Split(train=2, val=1, test=0)"


@pytest.mark.realdata
def test_exp_100_on_computers() -> None:
    graph = load_graph("amazon-computers")
    split = make_splits(graph.y, "exp:100", splits=1)[0]
    assert split.sizes is not None
    assert split.sizes.in_order == (554, 332, 199, 119, 72, 43, 26, 15, 9, 6)
    assert split.sizes.total == 1375
    assert split.sizes.caps == ()
    assert (len(split.val), len(split.test)) == (200, 2000)


def test_a_law_with_a_number_of_labels() -> None:
    y = np.repeat([0, 1, 2], [500, 300, 200])
    (split,) = make_splits(y, "exp:10@2%", splits=1)
    assert split.sizes is not None
    assert split.sizes.sizes == (14, 5, 1)
    (few,) = make_splits(y, "natural@2/class", splits=1)
    assert len(few.train) == 6
    assert set(y[few.train]) == {0, 1, 2}


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([0.7, 3.2], "train has values of type float64: node numbers are integers"),
        ([np.nan], "node numbers are integers"),
        ([-1], "train has node -1: nodes are numbered from 0"),
        ([True, False], r"train is a mask: give the numbers of the nodes, numpy\.flatnonzero\(train\)"),
        ([[3], [4]], r"train has shape \(2, 1\)"),
    ],
)
def test_a_split_takes_node_numbers_only(nodes, message):
    """numpy would cut fractions off, count from the end, and take a mask for the nodes 0 and 1."""
    with pytest.raises(InputError, match=message):
        Split(np.array(nodes), np.array([5]), np.array([6]))


def test_parts_of_a_split_may_be_empty_or_unsigned():
    split = Split([], np.array([2], dtype=np.uint8), np.array([1]))
    assert (len(split.train), split.val.tolist(), split.val.dtype) == (0, [2], np.int64)


@pytest.mark.parametrize("share", [np.nan, 1.5, -0.1])
def test_shares_of_random_splits_are_shares(share):
    with pytest.raises(InputError, match="between 0 and 1"):
        random_splits([0, 1] * 50, train=share)
