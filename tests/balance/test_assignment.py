"""The assignment step is exact: held against the Hungarian algorithm and against min-cost flow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from imgcl._core.errors import InputError
from imgcl.balance.clusters.assignment import assign


def optimum(cost: np.ndarray, least: int, most: int) -> float:
    """Cost of the best assignment by the Hungarian algorithm, on as many places per cluster as it may have rows.

    The first ``least`` places of a cluster must be taken; rows that do not exist may take the other ones for nothing.
    """
    n, k = cost.shape
    must = np.tile(np.arange(most) < least, k)
    missing = np.where(must, 1e6, 0.0)
    table = np.vstack([np.repeat(cost, most, axis=1), np.tile(missing, (k * most - n, 1))])
    rows, places = linear_sum_assignment(table)
    return float(table[rows, places].sum())


def flow_optimum(cost: np.ndarray, least: int) -> int:
    """Cost of the best assignment of integer costs by ortools' min-cost flow."""
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

    n, k = cost.shape
    flow = SimpleMinCostFlow()
    sink = n + k
    flow.add_arcs_with_capacity_and_unit_cost(
        np.repeat(np.arange(n), k), np.tile(n + np.arange(k), n), np.ones(n * k, dtype=int), cost.ravel()
    )
    flow.add_arcs_with_capacity_and_unit_cost(n + np.arange(k), np.full(k, sink), np.full(k, n), np.zeros(k, dtype=int))
    supplies = np.concatenate([np.ones(n), np.full(k, -least), [least * k - n]]).astype(int)
    flow.set_nodes_supplies(np.arange(n + k + 1), supplies)
    assert flow.solve() == flow.OPTIMAL
    return int(flow.optimal_cost())


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, int, int]:
    n = draw(st.integers(1, 24))
    k = draw(st.integers(1, min(n, 6)))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cost = generator.normal(size=(n, k)) + draw(st.sampled_from([0.0, 1.0, 5.0])) * generator.normal(size=k)
    if draw(st.booleans()):
        cost = np.round(cost)  # many ties
    least = draw(st.sampled_from([0, n // k, draw(st.integers(0, n // k))]))
    most = draw(st.sampled_from([n, max(-(-n // k), least), draw(st.integers(max(-(-n // k), least), n))]))
    return cost, least, most


@settings(max_examples=400, deadline=None)
@given(problems())
@example((np.zeros((6, 3)), 2, 2))  # nothing but ties, bounds that leave no choice of sizes
@example((np.eye(5)[:, ::-1], 1, 1))  # as many clusters as rows
@example((np.arange(4.0)[:, None], 4, 4))  # one cluster
def test_equals_the_hungarian_algorithm(problem: tuple[np.ndarray, int, int]) -> None:
    cost, least, most = problem
    labels = assign(cost, least, most)
    sizes = np.bincount(labels, minlength=cost.shape[1])
    assert sizes.min() >= least
    assert sizes.max() <= most
    assert cost[np.arange(len(cost)), labels].sum() == pytest.approx(optimum(cost, least, most), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n", "k", "least"), [(1000, 10, 50), (1000, 10, 100), (1200, 25, 40), (700, 3, 233)])
def test_equals_min_cost_flow_when_many_rows_have_to_move(seed: int, n: int, k: int, least: int) -> None:
    generator = np.random.default_rng(seed)
    cost = (generator.normal(size=(n, k)) * 300 + generator.normal(size=k) * 900).astype(int)
    labels = assign(cost.astype(np.float64), least)
    assert np.bincount(labels, minlength=k).min() >= least
    assert cost[np.arange(n), labels].sum() == flow_optimum(cost, least)


def test_moves_the_cheapest_rows_by_hand() -> None:
    # everybody prefers cluster 0; cluster 2 needs one row. Row 3 would pay 9 directly, but row 1 pays 1 to go to
    # cluster 1 and row 2 of cluster 1 pays 2 to go on to cluster 2: the chain costs 3.
    cost = np.array([[0.0, 9, 9], [0, 1, 9], [5, 0, 2], [0, 9, 9]])
    labels = assign(cost, min_size=1)
    assert labels.tolist() == [0, 1, 2, 0]


def test_a_maximum_size_pushes_the_cheapest_rows_out() -> None:
    cost = np.array([[0.0, 3], [0, 1], [0, 2], [4, 0]])
    assert assign(cost, max_size=2).tolist() == [0, 1, 0, 1]


def test_enough_moves_are_looked_at_when_the_sample_misleads() -> None:
    # the rows from which prices are estimated are dear, all others cheap: every second row is of the one kind
    n = 4000
    cost = np.zeros((n, 2))
    cost[:, 1] = np.where(np.arange(n) % 2 == 0, 1.0, 1000.0) + np.arange(n) * 1e-6
    labels = assign(cost, min_size=1500)
    assert (labels == 1).sum() == 1500
    assert cost[labels == 1, 1].max() < 2


def test_permuting_the_rows_permutes_the_labels() -> None:
    generator = np.random.default_rng(5)
    cost = generator.normal(size=(300, 4)) + np.array([0, 2, 3, 4])
    order = generator.permutation(300)
    assert np.array_equal(assign(cost[order], 60), assign(cost, 60)[order])


def test_float32_costs_and_large_offsets_are_handled() -> None:
    generator = np.random.default_rng(2)
    cost = generator.normal(size=(200, 3)) + np.array([0, 3, 6])
    labels = assign(cost, 50)
    assert np.array_equal(assign((cost * 1e-6).astype(np.float64) + 7.0, 50), labels)
    assert np.array_equal(np.bincount(assign(cost.astype(np.float32), 50)), np.bincount(labels))


@pytest.mark.parametrize(
    ("least", "most", "message"),
    [
        (4, None, "3 clusters of at least 4 rows need 12 rows, but there are 10"),
        (0, 3, "3 clusters of at most 3 rows hold 9 rows, but there are 10"),
        (3, 2, "the minimum size 3 is above the maximum size 2"),
    ],
)
def test_bounds_that_cannot_be_kept_are_refused(least: int, most: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        assign(np.zeros((10, 3)), least, most)
