"""Losses, message passing and recipes by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.sparse import CSR
from imgcl.baselines.prediction import validation_rank
from imgcl.baselines.supervised import trainer
from imgcl.baselines.supervised.bat import BAT, excess_risk, likely_otherwise
from imgcl.baselines.supervised.double_balance import DoubleBalance, pseudo_labels
from imgcl.baselines.supervised.dpgnn import extended_labels
from imgcl.baselines.supervised.graphens import GraphENS, kept_features, other_nodes
from imgcl.baselines.supervised.graphsha import GraphSHA
from imgcl.baselines.supervised.graphsmote import GraphSMOTE
from imgcl.baselines.supervised.losses import LOSSES, Criterion, log_sizes
from imgcl.baselines.supervised.network import HIDDEN, Messages, Output
from imgcl.baselines.supervised.recipe import Added, Recipe, Task
from imgcl.baselines.supervised.renode import ReNode
from imgcl.baselines.supervised.synthesis import drawn_links
from imgcl.baselines.supervised.tam import TopologyMargin
from imgcl.evaluation.labels import encode_labels
from imgcl.graph import Graph
from imgcl.imbalance import make_splits

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


def test_renode_by_hand() -> None:
    """Conflicts by the inverse matrix of the paper, factors 0.5 + (1 + cos(pi rank / (n - 1))) / 2 by rank."""
    graph = graph_of([(0, 1), (1, 2), (2, 3), (3, 4), (1, 4)], 5)
    task = task_of(graph, [0, 2, 3, 4], [0, 0, 1, 1])
    whole = graph.adjacency.toarray() + np.eye(5)
    scale = 1 / np.sqrt(whole.sum(axis=1))
    pagerank = 0.15 * np.linalg.inv(np.eye(5) - 0.85 * scale[:, None] * whole * scale)
    influence = np.stack([pagerank[[0, 2]].mean(axis=0), pagerank[[3, 4]].mean(axis=0)])
    expected = (pagerank @ influence[::-1].T)[[0, 2, 3, 4], [0, 0, 1, 1]]  # where v goes, what the other class has
    assert ReNode().conflicts(task).numpy() == pytest.approx(expected, rel=0.1)  # 20 steps of a power iteration
    recipe = ReNode()
    recipe.prepare(task)
    factors = 1.0 + np.cos(np.pi * np.argsort(np.argsort(expected)) / 3) / 2
    assert recipe.factors(task).numpy() == pytest.approx(factors, abs=1e-6)


FIVE = graph_of([(0, 1), (2, 3), (2, 4), (3, 4)], 5)  # 0, 1 and 2 are of class 0; 2 alone is linked to class 1


def margins(**factors: float) -> torch.Tensor:
    task = task_of(FIVE, [0, 1, 2, 3, 4], [0, 0, 0, 1, 1])
    task.epoch = 5
    return TopologyMargin(**factors)(task, Output(torch.zeros(5, 1), torch.zeros(5, 2)))


def test_tam_lowers_the_logit_of_a_class_that_a_node_is_linked_to_more_than_is_usual() -> None:
    """Shares of class 0: 1, 1 and 1/3 around nodes of class 0, 7/9 on average; 1/3 around 3 and 4."""
    found = margins(connectivity=1.0, distribution=0.0)
    assert float(found[2, 1]) == pytest.approx(math.log((1 / 3) / (7 / 9) * (2 / 9) / (2 / 3)), abs=1e-4)
    found[2, 1] = 0
    assert found.abs().max() < 1e-6


def js(first: list[float], second: list[float]) -> float:
    middle = np.add(first, second) / 2
    return float(np.sum(first * np.log(first / middle) + second * np.log(second / middle)) / 2)


def test_tam_lowers_the_logit_of_a_class_whose_surroundings_a_node_has() -> None:
    """Node 2 has the surroundings of class 1 exactly; nodes 0 and 1 lie on the far side of their own class's."""
    found = margins(connectivity=0.0, distribution=1.0)
    usual, other, mine = [7 / 9, 2 / 9], [1 / 3, 2 / 3], [1 - 1e-6, 1e-6]
    between, own, far = js(usual, other), js(mine, usual), js(mine, other)
    expected = (own**2 + between**2 - far**2) / (2 * between**2)
    assert found[0].tolist() == pytest.approx([0.0, -max(expected, -5.0)], rel=1e-3)
    assert expected < 0
    assert found[2].tolist() == pytest.approx([0.0, -1.0], abs=1e-4)
    assert found[3].tolist() == pytest.approx([0.0, 0.0], abs=1e-4)


def test_tam_predicts_neighbours_by_class_wise_temperature_and_waits_for_predictions() -> None:
    """Node 0 of class 0 has one unlabelled neighbour, whose logits are (1, 1)."""
    task = task_of(graph_of([(0, 1)], 5), [0, 2, 3, 4], [0, 0, 0, 1])
    logits = torch.ones(5, 2)
    unlabelled = 1 / (1 + math.exp(1.2 * 0.8 - 1.2))  # sizes 3 and 1: weights 0.9 and 0.7
    around = TopologyMargin()._around(task, logits)
    assert around[0].tolist() == pytest.approx([(1 + unlabelled) / 2, (1 - unlabelled) / 2])
    task.epoch = 4
    assert not TopologyMargin()(task, Output(torch.zeros(5, 1), logits)).any()


def test_risk_of_bat_is_doubt_above_the_mean_of_the_class_and_smaller_for_rare_classes() -> None:
    shares = torch.tensor([[0.9, 0.1, 0.0], [0.5, 0.1, 0.4], [0.1, 0.8, 0.1], [0.1, 0.6, 0.3]])
    found = excess_risk(shares, shares.argmax(dim=1), torch.tensor([20, 2, 0]))
    assert found.tolist() == pytest.approx([0.0, 0.2, 0.0, 0.01])  # 0.5 - 0.3, and a tenth of 0.4 - 0.3


def test_bat_links_a_node_to_the_classes_of_neighbours_that_are_predicted_differently() -> None:
    graph = graph_of([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2)], 6)
    task = task_of(graph, [4, 5], [0, 2], n_classes=3)
    found = likely_otherwise(task, torch.tensor([0, 1, 2, 2, 0, 2]))
    assert found[0].tolist() == pytest.approx([0.0, 1 / 3, 2 / 3])
    assert found[2].tolist() == pytest.approx([0.5, 0.5, 0.0])
    assert not found[[4, 5]].any()


def test_virtual_nodes_of_bat_are_means_of_what_is_predicted_as_their_class() -> None:
    task = task_of(graph_of([(0, 1), (1, 2)], 4), [0, 3], [1, 0])
    task.looked = torch.tensor([[9.0, 0.0], [0.0, 9.0], [9.0, 0.0], [0.0, 9.0]])  # both training nodes wrongly
    added = BAT().add(task, None)
    assert added.mutual
    assert added.targets.tolist() == [0, 1]
    assert added.features.numpy() == pytest.approx(np.array([[0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0]]))


def test_neighbours_of_new_nodes_are_drawn_from_those_of_their_sources() -> None:
    graph = graph_of([(0, 1), (0, 2), (3, 4), (3, 5)], 7)  # node 6 has no neighbour
    first, second, share = np.repeat([0, 0, 6], 50), np.repeat([3, 3, 6], 50), np.repeat([1.0, 0.0, 0.5], 50)
    links = drawn_links(task_of(graph, [0], [0]), first, second, share).to_scipy().toarray()
    assert links.max() == 1
    assert set(links[:100].sum(axis=1)) == {0, 1, 2}  # as many as 6, 1 or 0 have
    assert np.flatnonzero(links[:50].any(axis=0)).tolist() == [1, 2]
    assert np.flatnonzero(links[50:100].any(axis=0)).tolist() == [4, 5]
    assert not links[100:].any()


def test_pseudo_labels_are_unlabelled_and_surer_than_the_mean() -> None:
    task = task_of(graph_of([(0, 1)], 4), [0], [0])
    task.looked = torch.tensor([[9.0, 0.0], [0.1, 0.0], [0.0, 8.0], [0.0, 0.1]])
    nodes, classes = pseudo_labels(task)
    assert (nodes.tolist(), classes.tolist()) == ([2], [1])
    task.looked = torch.tensor([[9.0, 0.0], [0.1, 0.0], [0.0, 1.0], [0.0, 0.1]])  # the mean is that of unlabelled nodes
    assert pseudo_labels(task)[0].tolist() == [2]


def test_double_balancing_undoes_the_imbalance_of_pseudo_labels_and_tolerates_some() -> None:
    """Three pseudo-labels of class 0, one of class 1; all logits are 0, so shares are 3/4 and 1/4."""
    task = task_of(graph_of([(0, 1)], 6), [0, 5], [0, 1])
    task.looked = torch.tensor([[0.0, 0.0], [9.0, 0.0], [9.0, 0.0], [9.0, 0.0], [0.0, 9.0], [0.0, 0.0]])
    output, criterion = Output(torch.zeros(6, 1), torch.zeros(6, 2)), LOSSES["plain"]
    guessed = (3 * math.log(4 / 3) + math.log(4)) / 4
    assert float(DoubleBalance().loss(task, output, criterion)) == pytest.approx(SECOND + guessed, abs=1e-5)
    reverse = -math.log(1e-4) * (3 * 1 / 4 + 3 / 4) / 4
    tolerant = DoubleBalance(tolerance=0.5).loss(task, output, criterion)
    assert float(tolerant) == pytest.approx(SECOND + guessed + 0.5 * reverse, abs=1e-5)
    waiting = DoubleBalance(warm_up=1).loss(task, output, criterion)
    assert float(waiting) == pytest.approx(SECOND, abs=1e-6)


def test_features_of_iceberg_are_propagated_with_restarts() -> None:
    graph = graph_of([(0, 1), (1, 2)], 3)
    whole = graph.adjacency.toarray() + np.eye(3)
    scale = 1 / np.sqrt(whole.sum(axis=1))
    step = scale[:, None] * whole * scale
    expected = 0.9 * step @ (0.9 * step + 0.1 * np.eye(3)) + 0.1 * np.eye(3)
    found = trainer.propagated(CSR.from_scipy(sp.csr_array(graph.adjacency)), torch.eye(3), hops=2, restart=0.1)
    assert found.numpy() == pytest.approx(expected, abs=1e-6)


def test_labels_are_extended_to_the_nearest_nodes_of_small_classes() -> None:
    graph = graph_of([(0, 1), (1, 2), (3, 4), (4, 5)], 6)
    nodes, classes = extended_labels(task_of(graph, [0, 3, 5], [0, 1, 1]), number=2)
    assert nodes.tolist() == [0, 3, 5, 1]
    assert classes.tolist() == [0, 1, 1, 0]


def test_neighbours_are_drawn_without_repetition_up_to_those_of_the_first_node() -> None:
    """All nodes but 4 have three neighbours or more; 4 has one, so a new node that starts from 4 has one as well."""
    edges = [(i, j) for i in range(4) for j in range(i)]
    task = task_of(graph_of([*edges, (0, 4)], 5), [0], [0])
    first, second = np.repeat([1, 4], 200), np.repeat([1, 2], 200)
    links = drawn_links(task, first, second, np.full(400, 0.5)).to_scipy().toarray()
    assert {int(n) for n in links[:200].sum(axis=1)} == {1, 3}
    assert links[:200][links[:200].sum(axis=1) == 3][:, [0, 2, 3]].all()
    assert (links[200:].sum(axis=1) == 1).all()
    share = links[200:].mean(axis=0)  # of 0: a half from 4 and a third of the half from 2
    assert share == pytest.approx([2 / 3, 1 / 6, 0, 1 / 6, 0], abs=0.1)


def test_graphens_compares_predictions_around_two_nodes() -> None:
    task = task_of(graph_of([(0, 1)], 3), [0, 2], [0, 1])
    task.logits = torch.tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    p = np.exp([0.5, 0.0]) / np.exp([0.5, 0.0]).sum()  # the mean of (2, 0) and (0, 0), over 2
    q = np.exp([0.0, 1.0]) / np.exp([0.0, 1.0]).sum()
    found = GraphENS().divergences(task, np.array([0]), np.array([2]))
    assert float(found) == pytest.approx(float((p * np.log(p / q)).sum()), abs=1e-6)


def test_graphens_draws_other_nodes_by_the_log_of_the_size_of_their_class() -> None:
    task = task_of(graph_of([(0, 1)], 9), list(range(7)), [0, 0, 0, 0, 1, 1, 2], n_classes=3)
    drawn = np.bincount(other_nodes(task, 3000), minlength=7) / 3000
    assert [drawn[:4].sum(), drawn[4:6].sum(), drawn[6]] == pytest.approx([2 / 3, 1 / 3, 0], abs=0.03)


def test_graphens_leaves_out_features_with_slopes_and_fewer_where_nodes_are_alike() -> None:
    slopes = torch.zeros(2, 10)
    slopes[:, [1, 3, 5, 7]] = 1.0
    kept = kept_features(slopes, 0.4, torch.tensor([0.0, 100.0]), np.random.default_rng(0))
    assert kept.sum(dim=1).tolist() == [8, 6]  # 4 x sigmoid(0) and 4 x sigmoid(100 / 3)
    assert torch.nonzero(kept[1] == 0).squeeze(1).tolist() == [1, 3, 5, 7]


def test_new_nodes_of_graphsha_are_like_the_class_they_are_confused_with_and_linked_as_their_anchor() -> None:
    """Class 1 has the label of node 2 alone, which is confused with class 2 (node 3) more than with class 0."""
    graph = graph_of([(0, 1), (1, 0), (2, 4), (2, 5), (3, 5)], 6)
    task = task_of(graph, [0, 1, 5, 4, 2, 3], [0, 0, 0, 0, 1, 2], n_classes=3)
    task.epoch, task.logits = 5, torch.zeros(6, 3)
    task.logits[2] = torch.tensor([-40.0, 0.0, 0.0])
    added = GraphSHA().add(task, None)
    assert added.targets.tolist() == [1, 2]  # two labels each, the mean
    assert added.features[0, 3] > 0.9
    assert float(added.features[0].sum()) == pytest.approx(1.0)
    assert set(np.flatnonzero(added.links.to_scipy().toarray()[0])) <= {4, 5}


def test_new_nodes_of_graphsmote_are_linked_to_neighbours_of_their_parents_alone() -> None:
    seen = {}

    class Spy:
        def received(self, index: int, new: torch.Tensor, linked: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
            seen["linked"] = linked
            return torch.zeros(len(new), 2)

    task = task_of(graph_of([(0, 1), (2, 3), (4, 5), (4, 0)], 6), [0, 2, 4, 1, 3], [0, 0, 0, 1, 1])
    recipe, task.epoch = GraphSMOTE(), 5
    recipe.prepare(task)
    recipe.add(task, Spy())
    hidden = torch.ones(6, HIDDEN)
    hidden[2] = -1.0  # the generator says no
    recipe.loss(task, Output(hidden, torch.zeros(6, 2)), LOSSES["plain"])
    assert seen["linked"].tolist() == [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]  # parents 1 and 3 have neighbours 0 and 2


def test_pc_softmax_is_logit_adjustment_by_the_whole_log_of_class_sizes() -> None:
    assert LOSSES["pc-softmax"].taus == (1.0,)
    assert LOSSES["pc-softmax"].loss is LOSSES["plain"].loss
    assert log_sizes(torch.tensor([20, 2])).tolist() == pytest.approx([math.log(20), math.log(2)])


def test_a_recipe_may_have_its_own_learning_rate_and_see_itself_without_dropout_in_every_epoch(
    small_graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "EPOCHS", 7)
    seen = []

    class Watching(Recipe):
        fresh, learning_rate = True, 0.5

        def loss(self, task: Task, output: Output, criterion: Criterion) -> torch.Tensor:
            seen.append(task.looked)
            return super().loss(task, output, criterion)

    (split,) = make_splits(small_graph.y, "exp:10", splits=1, train_fraction=0.2)
    made = trainer.Preparation.of(small_graph, Watching())
    training = trainer.Training(made, encode_labels(small_graph.y), [split], 0, Watching(), LOSSES["plain"])
    assert {group["lr"] for group in training.adam.param_groups} == {0.5}
    training.run()
    assert len(seen) == 7
    assert not any(torch.equal(first, second) for first, second in pairwise(seen))
