"""Walks against exact transition probabilities."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import chi2

from imgcl._core.errors import InputError
from imgcl.baselines import random_walks
from imgcl.graph import Graph
from imgcl.graph.structure.walks import END

# a triangle 0-1-2, a path 2-3-4, a leaf 5 at 1 and an isolated node 6
EDGES = np.array([[0, 1, 2, 2, 3, 1], [1, 2, 0, 3, 4, 5]])


def graph() -> Graph:
    return Graph.from_edges(EDGES, x=np.ones((7, 1)))


def exact(p: float, q: float) -> NDArray[np.float64]:
    """P[t, v, x]: probability of going on to x from v after coming from t, straight from the definition."""
    a = graph().adjacency.toarray() > 0
    probability = np.zeros((7, 7, 7))
    for t, v in zip(*np.nonzero(a), strict=True):
        weights = np.zeros(7)
        for x in np.flatnonzero(a[v]):
            weights[x] = 1 / p if x == t else 1.0 if a[t, x] else 1 / q
        probability[t, v] = weights / weights.sum()
    return probability


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (0.5, 0.5), (3.0, 1.0)])
def test_second_order_transitions_are_exact(p: float, q: float) -> None:
    walks = random_walks(graph(), walks_per_node=4000, length=6, p=p, q=q, seed=1)
    counts = np.zeros((7, 7, 7))
    connected = walks[walks[:, 1] != END]
    for i in range(4):
        np.add.at(counts, (connected[:, i], connected[:, i + 1], connected[:, i + 2]), 1)
    expected = exact(p, q) * counts.sum(axis=2, keepdims=True)
    assert (counts[expected == 0] == 0).all()
    possible = expected > 0
    statistic = ((counts[possible] - expected[possible]) ** 2 / expected[possible]).sum()
    freedom = possible.sum() - (counts.sum(axis=2) > 0).sum()
    # the visits of a state are drawn anew each time, so this is a chi-square variable
    assert statistic < chi2.ppf(0.9999, freedom)


def test_first_steps_are_uniform() -> None:
    walks = random_walks(graph(), walks_per_node=9000, length=2, p=0.1, q=10.0, seed=2)
    from_two = walks[walks[:, 0] == 2, 1]
    shares = np.bincount(from_two, minlength=7)[[0, 1, 3]] / len(from_two)
    assert shares == pytest.approx([1 / 3] * 3, abs=0.02)


def test_every_walk_starts_at_its_node_and_follows_edges() -> None:
    g = graph()
    walks = random_walks(g, walks_per_node=3, length=10, p=0.5, q=2.0)
    assert walks.shape == (21, 10)
    assert (walks[:, 0] == np.tile(np.arange(7), 3)).all()
    adjacency = g.adjacency.toarray()
    steps = walks[walks[:, 1] != END]
    assert (adjacency[steps[:, :-1], steps[:, 1:]] == 1).all()
    assert (walks[walks[:, 0] == 6, 1:] == END).all()


def test_walks_depend_on_the_seed_not_on_threads() -> None:
    before = torch.get_num_threads()
    try:
        made = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            made.append(random_walks(graph(), 5, 8, p=2.0, q=0.5, seed=3))
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[0], made[2])
    assert not np.array_equal(made[0], random_walks(graph(), 5, 8, p=2.0, q=0.5, seed=4))
    # more walks do not change the first ones
    assert np.array_equal(random_walks(graph(), 9, 8, p=2.0, q=0.5, seed=3)[: 5 * 7], made[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 0}, "p is 0"),
        ({"q": -1.0}, "q is -1"),
        ({"length": 0}, "length is 0"),
        ({"walks_per_node": 0}, "walks_per"),
    ],
)
def test_wrong_settings(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        random_walks(graph(), **options)
