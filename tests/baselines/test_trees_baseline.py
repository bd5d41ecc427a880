"""Trees on features and on neighbours' means."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl.baselines import neighbour_means, run_baseline
from imgcl.graph import Graph


@pytest.fixture(autouse=True)
def small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imgcl.evaluation.trees.FOREST", 20)
    monkeypatch.setattr("imgcl.evaluation.trees.ROUNDS", 20)


def star() -> Graph:
    """Node 0 in the middle of 1, 2 and 3; node 4 alone."""
    return Graph.from_edges([[0, 0, 0], [1, 2, 3]], x=np.array([[6.0], [1.0], [2.0], [3.0], [8.0]]))


def test_means_of_one_and_two_hops_by_hand() -> None:
    one, two = neighbour_means(star(), np.asarray(star().x, dtype=np.float32))
    assert one.ravel().tolist() == [2, 6, 6, 6, 0]  # an isolated node has no neighbours
    assert two.ravel().tolist() == [6, 2, 2, 2, 0]


def only_the_neighbours_know() -> Graph:
    """Features are noise; a node is of class 1 where the mean feature of its 20 neighbours is positive."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((600, 1)).astype(np.float32)
    order = np.argsort(x.ravel())
    half = {0: order[:300], 1: order[300:]}
    y = rng.integers(2, size=600)
    pairs = [(i, j) for i in range(600) for j in rng.choice(half[int(y[i])], 8, replace=False) if i != j]
    return Graph.from_edges(np.array(pairs).T, x=x, y=y)


def test_the_neighbours_means_are_used() -> None:
    graph = only_the_neighbours_know()
    found = {
        name: run_baseline(name, graph, "natural", "reweight", splits=2)["reweight", "accuracy"].mean
        for name in ("trees", "trees-neighbours")
    }
    assert found["trees"] < 0.6
    assert found["trees-neighbours"] > 0.75


def test_repeats_by_seed() -> None:
    graph = only_the_neighbours_know()
    one, two, other = (
        run_baseline("trees", graph, "natural", splits=1, random_state=seed).to_json() for seed in (0, 0, 1)
    )
    assert one == two != other
