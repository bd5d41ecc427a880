"""Walks choose edges by their weights: transition frequencies against the exact probabilities."""

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from imgcl import Graph
from imgcl.graph.block import Block
from imgcl.graph.structure import structural_features
from imgcl.graph.structure.walks import END, random_walks
from imgcl.views import RandomWalkSubgraph
from imgcl.views.random_walk_subgraph import _by_weight, _uniform

EDGES = np.array([[0, 1, 2, 2, 3, 1], [1, 2, 0, 3, 4, 5]])
WEIGHTS = [1.0, 4.0, 0.5, 2.0, 3.0, 0.25]


def graph() -> Graph:
    return Graph.from_edges(EDGES, x=np.ones((7, 1)), edge_weight=WEIGHTS)


def exact(p: float, q: float) -> np.ndarray:
    """P[t, v, x], straight from the definition."""
    w = graph().adjacency.toarray().astype(float)
    probability = np.zeros((7, 7, 7))
    for t, v in zip(*np.nonzero(w), strict=True):
        factors = np.where(np.arange(7) == t, 1 / p, np.where(w[t] > 0, 1.0, 1 / q))
        probability[t, v] = w[v] * factors / (w[v] * factors).sum()
    return probability


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0)])
def test_transitions_follow_the_weights(p: float, q: float) -> None:
    walks = random_walks(graph(), walks_per_node=3000, length=6, p=p, q=q, seed=1)
    counts = np.zeros((7, 7, 7))
    connected = walks[walks[:, 1] != END]
    for i in range(4):
        np.add.at(counts, (connected[:, i], connected[:, i + 1], connected[:, i + 2]), 1)
    expected = exact(p, q) * counts.sum(axis=2, keepdims=True)
    assert (counts[expected == 0] == 0).all()
    possible = expected > 0
    statistic = ((counts[possible] - expected[possible]) ** 2 / expected[possible]).sum()
    assert statistic < chi2.ppf(0.9999, possible.sum() - (counts.sum(axis=2) > 0).sum())


def test_first_steps_follow_the_weights() -> None:
    walks = random_walks(graph(), walks_per_node=9000, length=2, seed=2)
    steps = np.bincount(walks[walks[:, 0] == 1, 1], minlength=7)
    assert steps / steps.sum() == pytest.approx(np.array([1.0, 0, 4, 0, 0, 0.25, 0]) / 5.25, abs=0.02)


def test_structural_features_depend_on_weights() -> None:
    plain = Graph.from_edges(EDGES, x=np.ones((7, 1)))
    ours, theirs = structural_features(graph(), dim=4), structural_features(plain, dim=4)
    assert not np.allclose(ours, theirs)
    heavy = np.log1p(graph().weighted_degree)
    assert ours[:, -1] == pytest.approx((heavy - heavy.mean()) / heavy.std(), abs=1e-6)


def test_the_subgraph_view_walks_by_weight() -> None:
    adjacency = Block.from_graph(graph()).adjacency
    assert adjacency.weights is not None
    choose, moves = _by_weight(adjacency, adjacency.weights), torch.linspace(0, 1, 2101, dtype=torch.float64)[:-1]
    entries = choose(torch.full((2100,), 1), moves)
    steps = torch.bincount(adjacency.indices[entries].long(), minlength=7).numpy()
    assert steps / 2100 == pytest.approx(np.array([1.0, 0, 4, 0, 0, 0.25, 0]) / 5.25, abs=1e-3)
    assert RandomWalkSubgraph(0.2, 3)(Block.from_graph(graph()), torch.Generator()).n_nodes == 7


def test_equal_weights_give_the_walks_of_no_weights() -> None:
    adjacency = Block.from_graph(Graph.from_edges(EDGES, x=np.ones((7, 1)))).adjacency
    walkers, moves = torch.arange(6).repeat(50), torch.rand(300, dtype=torch.float64)
    ours = _by_weight(adjacency, torch.full((adjacency.n_entries,), 0.5))(walkers, moves)
    assert torch.equal(ours, _uniform(adjacency)(walkers, moves))
