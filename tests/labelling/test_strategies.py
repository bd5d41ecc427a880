"""Each strategy chooses what it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import imgcl
from imgcl.graph import Graph
from imgcl.labelling import STRATEGIES
from imgcl.labelling.auto import covered_first
from imgcl.labelling.clusters import cluster, nearest
from imgcl.labelling.cover import far_and_large
from imgcl.labelling.inputs import read_source
from imgcl.labelling.task import LabellingTask


def ring(n: int) -> Graph:
    return Graph.from_edges(np.stack([np.arange(n), (np.arange(n) + 1) % n]), x=np.eye(n))


def task(rows: np.ndarray, labels: object = None, budget: int = 2) -> LabellingTask:
    known, asked = read_source(rows).read_labels(labels)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return LabellingTask(unit.astype(np.float32), known, asked, budget)


@pytest.mark.parametrize("strategy", [*STRATEGIES, "search:a"])
def test_every_strategy_chooses_different_open_nodes_by_seed(groups, strategy):
    rows, group = groups
    given_labels = {i: "abcdef"[group[i]] for i in range(25)} | {25: None}

    def batch(seed: int) -> list[int]:
        options = {"graph": ring(len(rows)), "n_clusters": 6} if strategy == "balanced" else {}
        found = imgcl.suggest(rows, 12, given_labels, strategy, seed, **options)
        return found["node"].tolist()

    chosen = batch(3)
    assert len(set(chosen)) == 12
    assert min(chosen) > 25  # what was asked about is not suggested again, labelled or not
    assert batch(3) == chosen
    if strategy == "random":
        assert batch(4) != chosen


def test_cover_takes_a_typical_node_of_every_group(groups):
    rows, group = groups
    found = imgcl.suggest(rows, 6, strategy="cover")
    assert sorted(group[found["node"]]) == list(range(6))
    assert found["cluster_size"].tolist()[0] == 40
    assert found["typical"].tolist() == [1.0] * 6
    for node in found["node"]:
        members = np.flatnonzero(group == group[node])
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        away = np.linalg.norm(unit[members] - unit[members].mean(axis=0), axis=1)
        assert node == members[away.argmin()]


def test_cover_leaves_out_what_labels_cover(groups):
    rows, group = groups
    labelled = {int(np.flatnonzero(group == k)[0]): str(k) for k in (0, 1, 5)}
    found = imgcl.suggest(rows, 3, labelled, "cover")
    assert sorted(group[found["node"]]) == [2, 3, 4]


def test_the_order_is_large_and_far():
    rows = np.array([[0.0], [0.2], [1.0], [10.0]], dtype=np.float32)
    # worth: size x squared distance; after 0: 9 x 0.04, 8 x 1, 1 x 100; after 3: 9 x 0.04, 8 x 1
    assert far_and_large(rows, np.array([10, 9, 8, 1])).tolist() == [0, 3, 2, 1]


def test_equal_rows_fill_a_batch():
    found = imgcl.suggest(np.ones((9, 3)), 4, {0: "a"}, "cover")
    assert len(set(found["node"])) == 4


def test_balanced_draws_groups_alike_and_central_nodes_first(groups):
    rows, group = groups
    hub = int(np.flatnonzero(group == 0)[7])
    others = np.setdiff1d(np.arange(len(rows)), hub)
    star = Graph.from_edges(np.stack([np.full(len(others), hub), others]), x=rows)
    found = imgcl.suggest(rows, 12, strategy="balanced", graph=star, n_clusters=6)
    assert np.bincount(group[found["node"]]).tolist() == [2] * 6
    assert np.bincount(group[found["node"][:6]]).tolist() == [1] * 6
    assert found["node"][0] == hub  # the most central node of the first pseudo-class drawn from, or of its own
    with pytest.raises(imgcl.InputError, match="looks at the graph"):
        imgcl.suggest(rows, 4, strategy="balanced")


def test_uncertain_prefers_doubt_and_rare_classes():
    from imgcl.labelling.uncertain import usefulness

    rows = np.array([[1, 0], [0.98, 0.2], [0.95, 0.3], [0, 1], [0.7, 0.72], [1, 0.05], [0.05, 1]], dtype=np.float32)
    labelled = {0: "common", 1: "common", 2: "common", 3: "rare"}
    score = usefulness(task(rows, labelled))
    open_nodes = score[4:]
    assert open_nodes.argmax() == 0  # between the classes
    assert score[6] > score[5]  # as sure as that one, but of the class with a single label
    assert imgcl.suggest(rows, 1, labelled, "uncertain")["node"].tolist() == [4]


def test_search_goes_from_the_most_probable_on(groups):
    rows, group = groups
    labelled = {int(np.flatnonzero(group == k)[0]): str(k) for k in range(6)}
    found = imgcl.suggest(rows, 5, labelled, "search:4")
    assert group[found["node"]].tolist() == [4] * 5
    with pytest.raises(imgcl.InputError, match="no label of class '9'"):
        imgcl.suggest(rows, 5, labelled, "search:9")
    with pytest.raises(imgcl.InputError, match="a label of another class"):
        imgcl.suggest(rows, 5, {0: "x"}, "search:x")


def test_auto_covers_until_five_labels_per_class_are_there(groups):
    rows, group = groups
    some = {int(i): int(group[i]) for k in (0, 1) for i in np.flatnonzero(group == k)[:4]}
    assert covered_first(task(rows, None, 7)) == 7
    assert covered_first(task(rows, some, 7)) == 2  # 5 x 2 less the eight that are there
    more = some | {int(i): int(group[i]) for k in (0, 1) for i in np.flatnonzero(group == k)[4:6]}
    assert covered_first(task(rows, more, 7)) == 0
    assert len(set(imgcl.suggest(rows, 7, some)["node"])) == 7


def test_auto_goes_on_covering_where_classes_cannot_be_told_apart():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 8)).astype(np.float32)
    noise = {i: int(i % 2) for i in range(40)}
    assert covered_first(task(rows, noise, 10)) == 10


def test_a_function_of_ones_own_is_a_strategy(groups):
    rows, _ = groups
    found = imgcl.suggest(rows, 3, strategy=lambda task: task.open[-task.budget :])
    assert found["node"].tolist() == [107, 108, 109]
    with pytest.raises(imgcl.InputError, match="3 different nodes"):
        imgcl.suggest(rows, 3, strategy=lambda task: task.open[:2])


def test_a_sample_finds_the_clusters_of_many_rows(groups, monkeypatch):
    rows, group = groups
    monkeypatch.setattr("imgcl.labelling.clusters.COSTS", 6 * 90)
    monkeypatch.setattr("imgcl.labelling.clusters.LEAST_PER_CLUSTER", 1)
    found = cluster(rows, 6, seed=0)
    assert len(found.labels) == len(rows)
    agree = [len(np.unique(found.labels[group == k])) for k in range(4)]
    assert agree == [1] * 4


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 10**6))
def test_nearest_is_the_argmin_of_all_distances(n, k, seed):
    rng = np.random.default_rng(seed)
    rows, centroids = (rng.standard_normal((m, 3)).astype(np.float32) for m in (n, k))
    labels, distance = nearest(rows, centroids)
    every = ((rows[:, None] - centroids[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distance, every.min(axis=1), atol=1e-4)
    np.testing.assert_allclose(every[np.arange(n), labels], every.min(axis=1), atol=1e-4)
