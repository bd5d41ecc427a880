"""Losses, message passing and recipes by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.sparse import CSR
from imgcl.baselines.prediction import validation_rank
from imgcl.baselines.supervised.bat import likely_otherwise, risk
from imgcl.baselines.supervised.double_balance import pseudo_labels
from imgcl.baselines.supervised.dpgnn import extended_labels
from imgcl.baselines.supervised.losses import LOSSES
from imgcl.baselines.supervised.network import Messages, Output
from imgcl.baselines.supervised.recipe import Added, Task
from imgcl.baselines.supervised.renode import ReNode
from imgcl.baselines.supervised.synthesis import drawn_links
from imgcl.baselines.supervised.tam import TopologyMargin
from imgcl.graph import Graph

LOGITS = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
TRUTH = torch.tensor([0, 1])
SIZES = torch.tensor([3, 1])
FIRST, SECOND = math.log(1 + math.exp(-1)), math.log(2)  # cross entropies of the two nodes


def graph_of(edges: list[tuple[int, int]], n: int) -> Graph:
    return Graph.from_edges(np.array(edges).T, np.eye(n))


def task_of(graph: Graph, train: list[int], targets: list[int], n_classes: int = 2) -> Task:
    empty = torch.empty(0, dtype=torch.int64)
    rng = np.random.default_rng(0)
    x = sp.csr_array(np.eye(graph.n_nodes, dtype=np.float32))
    return Task(graph, x, torch.tensor(train), torch.tensor(targets), empty, empty, n_classes, rng, 0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", (FIRST + SECOND) / 2),
        ("reweight", (FIRST / 3 + SECOND) / (4 / 3)),
        ("balanced-softmax", (math.log(1 + math.exp(-1) / 3) + math.log(1 + 3)) / 2),
        ("focal", (FIRST * (1 - math.exp(-FIRST)) ** 2 + SECOND * 0.25) / 2),
    ],
)
def test_losses_by_hand(name: str, expected: float) -> None:
    assert float(LOSSES[name].loss(LOGITS, TRUTH, SIZES, 0.0, None)) == pytest.approx(expected, abs=1e-5)


def test_a_class_of_few_labels_weighs_about_one_over_its_size() -> None:
    many = torch.tensor([1000, 10])
    weighted = LOSSES["class-balanced"].loss(LOGITS, TRUTH, many, 0.0, None)
    focal = [LOSSES["focal"].loss(LOGITS[i : i + 1], TRUTH[i : i + 1], many, 0.0, None) for i in (0, 1)]
    ratio = (1 - 0.9999**1000) / (1 - 0.9999**10)
    assert float(weighted) == pytest.approx(float((focal[0] + ratio * focal[1]) / (1 + ratio)), abs=1e-5)


def test_pbs_goes_from_plain_to_reweight_and_factors_weigh_nodes() -> None:
    for progress, same in ((0.0, "plain"), (1.0, "reweight")):
        assert LOSSES["pbs"].loss(LOGITS, TRUTH, SIZES, progress, None) == pytest.approx(
            LOSSES[same].loss(LOGITS, TRUTH, SIZES, 0.0, None)
        )
    only_second = LOSSES["plain"].loss(LOGITS, TRUTH, SIZES, 0.0, torch.tensor([0.0, 2.0]))
    assert float(only_second) == pytest.approx(SECOND)


def test_rank_prefers_balanced_accuracy() -> None:
    truth = torch.tensor([0, 0, 0, 1])
    majority, one_of_each = torch.zeros(4, 2), torch.zeros(4, 2)
    majority[:, 0] = 1
    one_of_each[[0, 1], 0] = 1
    one_of_each[[2, 3], 1] = 1
    assert validation_rank(one_of_each, truth) < validation_rank(majority, truth)


@pytest.mark.parametrize("kind", ["gcn", "sage"])
@pytest.mark.parametrize("mutual", [False, True])
def test_messages_are_those_of_the_matrix_with_the_added_rows(kind: str, mutual: bool) -> None:
    """Path 0-1-2 and a new node 3 linked to 0 and 1."""
    graph = graph_of([(0, 1), (1, 2)], 3)
    links = np.array([[1.0, 1.0, 0.0]])
    whole = np.zeros((4, 4))
    whole[:3, :3] = graph.adjacency.toarray()
    whole[3, :3] = links
    if mutual:
        whole[:3, 3] = links
    if kind == "gcn":
        whole += np.eye(4)
        scale = 1 / np.sqrt(whole.sum(axis=1))
        expected = scale[:, None] * whole * scale
    else:
        expected = whole / whole.sum(axis=1, keepdims=True)
    added = Added(torch.zeros(1, 3), CSR.from_scipy(sp.csr_array(links)), torch.tensor([0]), mutual)
    adjacency = CSR.from_scipy(sp.csr_array(graph.adjacency))
    found = Messages(adjacency, kind, added)(torch.eye(4))
    assert found.numpy() == pytest.approx(expected, abs=1e-6)


def test_renode_gives_the_node_between_two_classes_the_smallest_factor() -> None:
    """A path with class 0 at its left and class 1 at its right end; node 2 is labelled 0 and next to class 1."""
    graph = graph_of([(0, 1), (1, 2), (2, 3), (3, 4)], 5)
    task = task_of(graph, [0, 2, 4], [0, 0, 1])
    recipe = ReNode()
    recipe.prepare(task)
    factors = recipe.factors(task)
    assert int(factors.argmin()) == 1
    assert [float(factors.min()), float(factors.max())] == pytest.approx([0.5, 1.5])


def test_tam_lowers_the_logit_of_a_class_that_a_node_is_unusually_linked_to() -> None:
    """Nodes 0, 1 and 2 are of class 0; 2 alone is linked to class 1."""
    graph = graph_of([(0, 1), (2, 3), (2, 4), (3, 4)], 5)
    task = task_of(graph, [0, 1, 2, 3, 4], [0, 0, 0, 1, 1])
    task.epoch = 9
    output = Output(torch.zeros(5, 1), torch.zeros(5, 2))
    margins = TopologyMargin()(task, output)
    assert margins.max() <= 0
    assert margins[torch.arange(5), task.targets].tolist() == [0.0] * 5
    assert float(margins[2, 1]) < float(margins[0, 1])
    task.epoch = 0
    assert not TopologyMargin()(task, output).any()


def test_bat_links_doubtful_nodes_to_the_class_they_might_be() -> None:
    shares = torch.tensor([[0.9, 0.1, 0.0], [0.5, 0.1, 0.4], [0.1, 0.8, 0.1]])
    assert risk(shares).squeeze(1).tolist() == pytest.approx([0.0, 0.4, 0.0])  # 0.5 against a mean of 0.3, over 0.5
    assert likely_otherwise(shares)[1].tolist() == pytest.approx([0.0, 0.2, 0.8])


def test_neighbours_of_new_nodes_are_drawn_from_those_of_their_sources() -> None:
    graph = graph_of([(0, 1), (0, 2), (3, 4), (3, 5)], 7)  # node 6 has no neighbour
    first, second, share = np.repeat([0, 0, 6], 50), np.repeat([3, 3, 6], 50), np.repeat([1.0, 0.0, 0.5], 50)
    links = drawn_links(task_of(graph, [0], [0]), first, second, share).to_scipy().toarray()
    assert links.max() == 1
    assert np.flatnonzero(links[:50].any(axis=0)).tolist() == [1, 2]
    assert np.flatnonzero(links[50:100].any(axis=0)).tolist() == [4, 5]
    assert not links[100:].any()


def test_pseudo_labels_are_unlabelled_and_surer_than_the_mean() -> None:
    task = task_of(graph_of([(0, 1)], 4), [0], [0])
    task.looked = torch.tensor([[9.0, 0.0], [0.1, 0.0], [0.0, 8.0], [0.0, 0.1]])
    nodes, classes = pseudo_labels(task)
    assert (nodes.tolist(), classes.tolist()) == ([2], [1])


def test_labels_are_extended_to_the_nearest_nodes_of_small_classes() -> None:
    graph = graph_of([(0, 1), (1, 2), (3, 4), (4, 5)], 6)
    nodes, classes = extended_labels(task_of(graph, [0, 3, 5], [0, 1, 1]), number=2)
    assert nodes.tolist() == [0, 3, 5, 1]
    assert classes.tolist() == [0, 1, 1, 0]
