"""What pre-training sees in each scope."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from imgcl._core.errors import GraphError, InputError
from imgcl.data import load_graph, synthetic_graph
from imgcl.graph import Graph
from imgcl.imbalance import Cap, Split, apply_scope, make_splits, random_splits


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Classes of 300, 200 and 100 nodes, and 50 nodes without a label."""
    made = synthetic_graph(class_sizes=[300, 200, 100, 50], mean_degree=6, n_features=4)
    assert made.y is not None
    return made.with_labels(np.where(made.y == 3, -1, made.y))


@pytest.fixture(scope="module")
def split(graph: Graph) -> Split:
    return make_splits(graph.y, "exp:10", splits=1, val_per_class=5, test_per_class=45)[0]


def held_out(split: Split) -> np.ndarray:
    return np.concatenate([split.val, split.test])


def test_train_leaves_the_graph_alone(graph: Graph, split: Split) -> None:
    scoped = apply_scope(graph, split)
    assert scoped.pretrain is graph
    assert scoped.embed is graph
    assert scoped.embed_split is split
    np.testing.assert_array_equal(scoped.nodes, np.arange(650))


def test_inductive(graph: Graph, split: Split) -> None:
    scoped = apply_scope(graph, split, "inductive")
    # 250 150 50 are left; 250, 250 / sqrt(10) = 79.06, 25 stay, and the 50 unlabelled
    assert scoped.pretrain.class_sizes.tolist() == [250, 79, 25]
    assert scoped.pretrain.n_nodes == 250 + 79 + 25 + 50
    assert not np.isin(held_out(split), scoped.nodes).any()
    assert np.isin(split.train, scoped.nodes).all()
    assert np.isin(np.flatnonzero(graph.y == -1), scoped.nodes).all()
    assert scoped.embed is graph
    assert scoped.split is scoped.embed_split
    np.testing.assert_array_equal(scoped.pretrain.x, graph.x[scoped.nodes])
    expected = graph.adjacency[scoped.nodes][:, scoped.nodes].toarray()
    np.testing.assert_array_equal(scoped.pretrain.adjacency.toarray(), expected)


def test_graph_is_inductive_with_validation_and_test_nodes(graph: Graph, split: Split) -> None:
    scoped, inductive = apply_scope(graph, split, "graph"), apply_scope(graph, split, "inductive")
    np.testing.assert_array_equal(scoped.nodes, np.union1d(inductive.nodes, held_out(split)))
    assert scoped.embed is scoped.pretrain
    for part in ("train", "val", "test"):
        moved, original = getattr(scoped.embed_split, part), getattr(scoped.split, part)
        np.testing.assert_array_equal(scoped.nodes[moved], original)
    assert scoped.embed_split.sizes == split.sizes


def test_which_nodes_go_is_decided_by_the_seed(graph: Graph, split: Split) -> None:
    first, again, other = (apply_scope(graph, split, "graph", random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.nodes, again.nodes)
    assert not np.array_equal(first.nodes, other.nodes)
    assert len(first.nodes) == len(other.nodes)


def test_training_nodes_stay_even_against_the_law(graph: Graph) -> None:
    # 360 labels: class 0 is capped at 290, so class 1 gets 68; the law alone would keep 290 / sqrt(1000) = 9 nodes
    split = make_splits(graph.y, "exp:1000", splits=1, train_fraction=0.6, val_per_class=2, test_per_class=8)[0]
    scoped = apply_scope(graph, split, "inductive")
    assert split.sizes is not None
    assert scoped.sizes is not None
    assert split.sizes.sizes == (290, 68, 2)
    assert scoped.sizes.sizes == (290, 68, 2)
    assert np.isin(split.train, scoped.nodes).all()


def test_a_class_with_too_few_nodes_is_reported(graph: Graph, caplog: pytest.LogCaptureFixture) -> None:
    split = make_splits(graph.y, "exp:1", splits=1, val_per_class=5, test_per_class=45)[0]
    with caplog.at_level(logging.WARNING, "imgcl"):
        scoped = apply_scope(graph, split, "inductive")
    assert scoped.sizes is not None
    assert scoped.sizes.caps == (Cap(1, 250, 150), Cap(2, 250, 50))
    assert scoped.pretrain.class_sizes.tolist() == [250, 150, 50]
    assert "nodes of the pre-training graph: class 1 got 150 of 250" in caplog.text


@pytest.mark.parametrize("how", ["natural", "random"])
def test_without_a_law_nothing_is_thinned(graph: Graph, how: str) -> None:
    split = (make_splits(graph.y, "natural", splits=1) if how == "natural" else random_splits(graph.y, splits=1))[0]
    assert apply_scope(graph, split, "graph").pretrain.n_nodes == 650
    inductive = apply_scope(graph, split, "inductive")
    assert inductive.sizes is None
    np.testing.assert_array_equal(inductive.nodes, np.setdiff1d(np.arange(650), held_out(split)))


def test_bad_scopes(graph: Graph, split: Split) -> None:
    with pytest.raises(InputError, match="unknown scope 'all': choose from train, graph, inductive"):
        apply_scope(graph, split, "all")
    with pytest.raises(GraphError, match="has no labels"):
        apply_scope(graph.with_labels(None), split, "graph")


@pytest.mark.realdata
def test_inductive_photo_at_exp_100() -> None:
    graph = load_graph("amazon-photo")
    split = make_splits(graph.y, "exp:100", splits=1)[0]
    scoped = apply_scope(graph, split, "inductive")
    assert scoped.pretrain.n_nodes == 3549
    assert sorted(scoped.pretrain.class_sizes, reverse=True) == [1721, 891, 461, 239, 123, 64, 33, 17]
    assert scoped.sizes is not None
    assert scoped.sizes.in_order == (1721, 891, 461, 239, 123, 64, 33, 17)
