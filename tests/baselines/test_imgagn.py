"""ImGAGN by hand: what is made, what it is linked to, and who learns from which loss."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.sparse import CSR, features_of
from imgcl.baselines.supervised.imgagn import NOISE, ImGAGN, distance, joined
from imgcl.baselines.supervised.losses import LOSSES
from imgcl.baselines.supervised.network import HIDDEN, Network
from imgcl.baselines.supervised.recipe import Task
from imgcl.graph import Graph


@pytest.fixture
def task() -> Task:
    """Class 0 has the labels of nodes 0 to 3, class 1 those of 4 and 5, class 2 that of 6."""
    graph = Graph.from_edges(np.array([[0, 1, 4], [1, 2, 5]]), np.eye(8))
    train, targets = torch.arange(7), torch.tensor([0, 0, 0, 0, 1, 1, 2])
    empty, x = torch.empty(0, dtype=torch.int64), sp.csr_array(np.eye(8, dtype=np.float32))
    made = Task(graph, x, train, targets, empty, empty, 3, np.random.default_rng(0), 0)
    made.epoch = 5
    return made


@pytest.fixture
def network(task: Task) -> Network:
    adjacency = CSR.from_numpy(task.graph.indptr, task.graph.indices, None, 8)
    return Network("gcn", features_of(task.x), adjacency, 3, [torch.Generator().manual_seed(0)])


def test_new_nodes_are_mixtures_of_their_class_and_linked_to_what_they_are_most_of(
    task: Task, network: Network
) -> None:
    recipe = ImGAGN()
    recipe.prepare(task)
    added = recipe.add(task, network)
    assert added is not None
    assert added.mutual
    assert added.targets.tolist() == [1, 1, 2, 2, 2]
    assert added.features.sum(dim=1).numpy() == pytest.approx(np.ones(5), abs=1e-5)
    assert added.features[:2, [4, 5]].sum(dim=1).numpy() == pytest.approx(np.ones(2), abs=1e-5)
    assert added.features[2:, 6].numpy() == pytest.approx(np.ones(3))
    links = added.links.to_scipy().toarray()
    assert links[:2].argmax(axis=1).tolist() == added.features[:2].argmax(dim=1).tolist()
    assert links.sum(axis=1).tolist() == [1] * 5
    task.epoch = 4
    assert recipe.add(task, network) is None


def test_a_parent_with_an_equal_share_or_more_is_a_neighbour() -> None:
    shares = [torch.tensor([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25]]), torch.tensor([[1.0]])]
    found = joined(shares, [np.array([0, 2, 4]), np.array([3])], n_nodes=5).to_scipy().toarray()
    assert found.tolist() == [[1, 0, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 0]]


def test_distance_is_to_the_labels_of_the_own_class(task: Task) -> None:
    made = torch.zeros(2, 8)
    made[1, 6] = 3.0
    assert float(distance(task, made, torch.tensor([1, 2]))) == pytest.approx((1 + 2) / 2)


def test_the_generator_and_the_network_learn_from_their_own_losses(task: Task, network: Network) -> None:
    recipe = ImGAGN()
    recipe.prepare(task)
    generator, real = task.notes["layers"] + list(task.notes["last"].values()), task.notes["real"]
    assert [tuple(each.shape) for each in generator] == [(NOISE, 200), (200, 200), (200, 2), (200, 1)]
    for parameter in (*generator, real, *network.parameters):
        parameter.requires_grad_()
    (output,) = network.forward([recipe.add(task, network)], training=True)
    recipe._generator(task).backward(retain_graph=True)
    assert all(each.grad is not None for each in generator)
    assert [real.grad, *(each.grad for each in network.parameters)] == [None] * 5
    before = [each.grad.clone() for each in generator]
    whole = recipe.loss(task, output, LOSSES["plain"])
    (whole - recipe._generator(task)).backward()
    assert all(torch.allclose(each.grad, old, atol=1e-6) for each, old in zip(generator, before, strict=True))
    assert real.grad.abs().max() > 0
    assert network.first.grad.abs().max() > 0


def test_a_node_without_neighbours_is_its_features_through_both_layers(network: Network) -> None:
    hidden, logits = network.isolated(0, torch.eye(8)[:1])
    assert torch.equal(hidden[0], torch.relu(network.first[0]))
    assert logits[0].numpy() == pytest.approx((hidden @ network.second[0, 0])[0].numpy())
    assert hidden.shape == (1, HIDDEN)
