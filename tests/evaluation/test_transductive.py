"""Classifiers that go along the graph: by hand, and on graphs whose edges tell more than their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import imgcl
from imgcl import InputError
from imgcl.evaluation import Blocks
from imgcl.evaluation.probes import batched
from imgcl.evaluation.tasks import Bench, LinearModel, Task
from imgcl.evaluation.transductive import TRANSDUCTIVE, Transduction, _surest
from imgcl.graph import Graph
from imgcl.imbalance import make_splits

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], [150, 80, 40])
NOISY = np.eye(3)[Y] + 1.1 * RNG.standard_normal((len(Y), 3))


def linked(y: np.ndarray, right: float = 0.9, degree: int = 6) -> Graph:
    """Every node has a few neighbours, most of them of its own class."""
    rng = np.random.default_rng(1)
    others = [rng.choice(np.flatnonzero(y == k) if rng.random() < right else len(y)) for k in y for _ in range(degree)]
    return Graph.from_edges([np.repeat(np.arange(len(y)), degree), others], n_nodes=len(y))


@pytest.mark.parametrize("name", ["smooth", "pooled"])
def test_edges_help_where_rows_are_noisy(name: str) -> None:
    result = imgcl.evaluate(NOISY, Y, "natural", ("best", name), 4, ceiling=0, graph=linked(Y))
    assert result[name, "accuracy"].mean > result["best", "accuracy"].mean + 0.1
    assert f"transductive, with the edges and embeddings of all nodes: {name}" in result.notes


@pytest.mark.parametrize("name", TRANSDUCTIVE)
def test_edges_that_tell_nothing_cost_nothing(name: str) -> None:
    rows = np.eye(3)[Y] + 0.4 * RNG.standard_normal((len(Y), 3))
    result = imgcl.evaluate(rows, Y, "natural", ("best", name), 4, ceiling=0, graph=linked(Y, right=0.0))
    assert result[name, "accuracy"].mean > result["best", "accuracy"].mean - 0.03


def test_pseudo_labels_help_where_labels_are_few_and_columns_many() -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 500)
    told = rng.normal(np.where(y, 1.0, -1.0), 0.3)[:, None]
    rows = np.concatenate([told, rng.normal(0, 0.7, (1000, 40))], axis=1)
    splits = make_splits(y, "natural", 6, train_fraction=0.02)
    result = imgcl.evaluate(rows, y, classifier=("best", "self-train"), splits=splits, ceiling=0, graph=linked(y, 0.0))
    assert result["self-train", "accuracy"].mean > result["best", "accuracy"].mean + 0.01
    assert max(setting["pseudo"] for setting in result.of("self-train").settings) > 0


def test_spreading_by_hand() -> None:
    """Two linked nodes, S is 1/2 everywhere: after many steps F = (1 - a) (I - a S)^-1 Y."""
    graph = Graph.from_edges([[0], [1]], n_nodes=2)
    start = torch.tensor([[[1.0, 0.0]], [[0.0, 0.0]]])
    task = Transduction(graph, Bench([], batched), [], [], torch.empty(2, 0), [])
    shares = task.spread(start, 0.5)
    assert shares[0, 0, 0] > shares[1, 0, 0] > 0.99  # both are reached by class 0 alone
    both = task.spread(torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]]), 0.5)
    expected = 0.5 * np.linalg.inv(np.eye(2) - 0.5 * np.full((2, 2), 0.5))
    np.testing.assert_allclose(both[:, 0].numpy(), expected / expected.sum(axis=1, keepdims=True), atol=1e-4)


def test_the_surest_nodes_of_every_class_are_unlabelled_ones() -> None:
    x = torch.tensor([[-3.0], [-2.0], [-1.0], [-0.5], [-0.4], [1.0], [2.0], [3.0], [4.0], [5.0]])
    probe = LinearModel(torch.tensor([[-1.0, 0.0], [1.0, 0.0]]), {})
    nodes = [np.array([0, 9])], [np.array([8])]
    bench = Bench([Task(x[[0, 9]], torch.tensor([0, 1]), x[[8]], torch.tensor([1]), 2)], batched)
    task = Transduction(Graph.from_edges([[0], [1]], n_nodes=10), bench, *nodes, x, [probe])
    found, codes = _surest(task, 0, 5)
    assert found.tolist() == [1]  # a quarter of the four that look like class 0; of three of class 1 none
    assert codes.tolist() == [0]


def test_labels_outside_training_and_validation_are_not_read() -> None:
    graph, splits = linked(Y), make_splits(Y, "natural", 1)
    [split] = splits
    hidden = Y.copy()
    hidden[split.test] = (Y[split.test] + 1) % 3
    for name in TRANSDUCTIVE:
        shares = []
        for labels in (Y, hidden):
            x, codes = torch.from_numpy(Blocks.of(NOISY).rows), torch.from_numpy(labels)
            parts = [np.array(nodes) for nodes in (split.train, split.val)]
            task = Task(x[parts[0]], codes[parts[0]], x[parts[1]], codes[parts[1]], 3)
            fitted: Any = TRANSDUCTIVE[name].fit(graph, Bench([task], batched), Blocks.of(NOISY), *[[p] for p in parts])
            shares.append(fitted[0].shares)
        torch.testing.assert_close(*shares, rtol=0, atol=0)


def test_without_the_graph_they_are_refused() -> None:
    with pytest.raises(InputError, match="classifier 'pooled' looks at the graph"):
        imgcl.evaluate(NOISY, Y, "natural", "pooled", 1)
    with pytest.raises(InputError, match="classifier 'pooled' looks at the graph"):
        imgcl.evaluate(NOISY, Y, "natural", "pooled", 1, graph=linked(Y[:-1]))
    with pytest.raises(InputError, match="'smooth' is one to evaluate alone"):
        imgcl.evaluation.predict(NOISY, Y, "smooth")
