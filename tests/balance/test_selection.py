from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl.balance import BalanceSettings, draw, inclusion_probabilities
from imgcl.balance.selection import SELECTIONS, poisson, replacement, systematic


@st.composite
def requests(draw_: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    """Probabilities with a heavy tail, classes, and a feasible number of rows."""
    counts = draw_(st.lists(st.integers(1, 40), min_size=1, max_size=6))
    strata = np.repeat(np.arange(len(counts)), counts)
    generator = np.random.default_rng(draw_(st.integers(0, 2**32 - 1)))
    p = generator.pareto(0.7, size=len(strata)) + 1e-6
    p /= p.sum()
    return p, generator.permutation(strata), draw_(st.integers(1, len(strata)))


@given(requests(), st.booleans())
def test_inclusion_probabilities_sum_to_the_size_and_keep_the_order(
    request_: tuple[np.ndarray, np.ndarray, int], classes: bool
) -> None:
    p, strata, size = request_
    pi = inclusion_probabilities(p, size, strata if classes else None)
    assert pi.sum() == pytest.approx(size)
    assert pi.min() > 0
    assert pi.max() <= 1
    for rows in [strata == k for k in range(strata.max() + 1)] if classes else [strata >= 0]:
        open_ = rows & (pi < 1 - 1e-9)
        if open_.sum() > 1:  # below certainty they are proportional to the probabilities
            assert np.ptp(pi[open_] / p[open_]) <= 1e-6 * (pi[open_] / p[open_]).max()


@given(requests())
def test_classes_keep_their_share_or_are_taken_whole(request_: tuple[np.ndarray, np.ndarray, int]) -> None:
    p, strata, size = request_
    pi = inclusion_probabilities(p, size, strata)
    share, places, members = np.bincount(strata, p), np.bincount(strata, pi), np.bincount(strata)
    partial = places < members - 1e-6
    if partial.any():
        factor = places[partial] / share[partial]
        assert np.ptp(factor) <= 1e-6 * factor.max()
        assert np.all(members[~partial] <= factor.max() * share[~partial] * (1 + 1e-6))


@given(requests(), st.integers(0, 99))
def test_permuting_the_rows_permutes_the_inclusion_probabilities(
    request_: tuple[np.ndarray, np.ndarray, int], seed: int
) -> None:
    p, strata, size = request_
    order = np.random.default_rng(seed).permutation(len(p))
    permuted = inclusion_probabilities(p[order], size, strata[order])
    assert permuted == pytest.approx(inclusion_probabilities(p, size, strata)[order])


@given(requests(), st.integers(0, 2**32 - 1))
def test_systematic_draws_have_exactly_the_size_and_class_counts_are_rounded_only(
    request_: tuple[np.ndarray, np.ndarray, int], seed: int
) -> None:
    p, strata, size = request_
    pi = inclusion_probabilities(p, size, strata)
    rows = systematic(pi, np.random.default_rng(seed), strata)
    assert len(rows) == size
    assert np.all(np.diff(rows) > 0)
    drawn, expected = np.bincount(strata[rows], minlength=strata.max() + 1), np.bincount(strata, pi)
    assert np.all(drawn >= np.floor(expected - 1e-6))
    assert np.all(drawn <= np.ceil(expected + 1e-6))


@pytest.mark.parametrize("kind", ["systematic", "poisson", "replacement"])
def test_draws_reproduce_the_inclusion_probabilities(kind: str) -> None:
    """2,000 draws; with 200 rows tested at once a deviation of 4.5 standard errors has probability 1e-3."""
    generator = np.random.default_rng(11)
    strata = np.repeat(np.arange(4), [120, 50, 20, 10])
    p = generator.pareto(1.2, size=200) + 0.05
    pi = inclusion_probabilities(p, 40, strata) if kind != "replacement" else 40 * p / p.sum()
    draws = 2000
    counts = np.zeros(200)
    for _ in range(draws):
        rows = SELECTIONS[kind](pi, generator, strata)
        counts += np.bincount(rows, minlength=200)
    variance = pi * (1 - p / p.sum()) if kind == "replacement" else pi * (1 - pi)
    error = np.sqrt(variance / draws)
    certain = error < 1e-9
    assert np.array_equal(counts[certain], draws * pi[certain].round())
    assert np.abs(counts / draws - pi)[~certain].max() < 4.5 * error[~certain].max()
    z = (counts / draws - pi)[~certain] / error[~certain]
    assert np.abs(z).max() < 4.5
    assert 0.7 < np.mean(z**2) < 1.3


def test_a_class_that_cannot_fill_its_share_gives_the_rest_back() -> None:
    # equal shares of 10 places for three classes, but the last one has two members only
    strata = np.repeat([0, 1, 2], [50, 30, 2])
    p = np.repeat([1 / 150, 1 / 90, 1 / 6], [50, 30, 2])
    assert np.bincount(strata, inclusion_probabilities(p, 10, strata)) == pytest.approx([4, 4, 2])


def test_a_very_central_node_does_not_cost_its_class_its_share() -> None:
    strata = np.repeat([0, 1], 50)
    p = np.full(100, 0.01)
    p[0] = 0.25  # half of the class's probability sits on one node
    p[1:50] = 0.25 / 49
    pi = inclusion_probabilities(p, 20, strata)
    assert pi[0] == 1
    assert np.bincount(strata, pi) == pytest.approx([10, 10])
    assert inclusion_probabilities(p, 20)[:50].sum() < 8  # what one factor for all nodes would do


def test_any_two_rows_of_a_class_may_be_selected_together() -> None:
    """Systematic sampling in a fixed order would never take neighbours."""
    generator = np.random.default_rng(0)
    pi, strata = np.full(40, 0.25), np.repeat([0, 1], 20)
    together = sum({3, 4} <= set(systematic(pi, generator, strata).tolist()) for _ in range(1000))
    assert together == pytest.approx(1000 * 5 * 4 / (20 * 19), rel=0.4)


def test_certain_rows_are_always_selected() -> None:
    for seed in range(50):
        assert {1, 3} <= set(systematic([0.5, 1.0, 0.5, 1.0], np.random.default_rng(seed)).tolist())


def test_systematic_without_chance_takes_everything() -> None:
    assert systematic(np.ones(5), np.random.default_rng(0)).tolist() == [0, 1, 2, 3, 4]


def test_poisson_has_a_random_size_and_never_none() -> None:
    generator = np.random.default_rng(0)
    lengths = [len(poisson(np.full(20, 0.05), generator)) for _ in range(300)]
    assert min(lengths) == 1
    assert max(lengths) > 2


def test_replacement_may_take_a_row_more_than_once() -> None:
    rows = replacement([8.0, 1.0, 1.0], np.random.default_rng(0))
    assert len(rows) == 10
    assert (rows == 0).sum() > 1


@pytest.mark.parametrize("size", [0, 3])
def test_sizes_that_cannot_be_drawn_are_refused(size: int) -> None:
    with pytest.raises(
        InputError, match=f"cannot select {size} distinct rows: 2 of 3 rows have a positive probability"
    ):
        inclusion_probabilities([0.5, 0.0, 0.5], size)


@pytest.mark.parametrize("seed", range(5))
def test_equal_class_shares_at_alpha_zero(seed: int) -> None:
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.repeat(np.arange(10), [500, 200, 120, 60, 40, 30, 20, 12, 11, 10]))
    centrality = generator.pareto(1.5, size=len(labels))
    rows, weights = draw(labels, centrality, 10, 0.0, BalanceSettings(), generator)
    assert len(np.unique(rows)) == round(0.1 * len(labels)) == 100
    # the smallest class has ten members: every class can fill its tenth
    assert np.bincount(labels[rows]).tolist() == [10] * 10
    assert weights.min() >= 1


def test_importance_weights_estimate_the_sum_over_all_nodes() -> None:
    generator = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [300, 80, 20])
    values, centrality = generator.normal(5, 1, size=400), generator.pareto(1.5, size=400)
    for kind in SELECTIONS:
        settings = BalanceSettings(selection=kind)
        estimates = []
        for seed in range(400):
            rows, weights = draw(labels, centrality, 3, 0.3, settings, np.random.default_rng(seed))
            estimates.append((values[rows] * weights).sum())
        error = np.std(estimates) / np.sqrt(len(estimates))
        assert abs(np.mean(estimates) - values.sum()) < 4 * error


def test_eq_2_can_replace_eq_3() -> None:
    labels = np.repeat([0, 1], [900, 100])
    settings = BalanceSettings(sampler="power", q=0.5, centrality="none")
    rows, _ = draw(labels, np.ones(1000), 2, 1.0, settings, np.random.default_rng(0))
    assert np.bincount(labels[rows]).tolist() == [75, 25]


def test_the_literal_normalisation_draws_classes_in_proportion_to_their_sizes() -> None:
    labels = np.repeat([0, 1], [900, 100])
    rows, _ = draw(labels, np.ones(1000), 2, 0.0, BalanceSettings(normalise="global"), np.random.default_rng(0))
    assert np.bincount(labels[rows])[1] < 20


def test_poisson_repeats_draws_that_cannot_be_contrasted() -> None:
    pi = np.full(40, 0.05)  # two rows on average: four of ten draws have fewer
    sizes = [len(poisson(pi, np.random.default_rng(seed))) for seed in range(200)]
    assert min(sizes) == 2
    first, again = (poisson(pi, np.random.default_rng(7)).tolist() for _ in range(2))
    assert first == again


def test_poisson_gives_one_row_where_one_is_expected() -> None:
    assert poisson([0.0, 1.0, 0.0], np.random.default_rng(0)).tolist() == [1]
    assert min(len(poisson(np.full(40, 1 / 40), np.random.default_rng(seed))) for seed in range(50)) == 1
    with pytest.raises(InputError, match="no row has a positive probability"):
        poisson([0.0, 0.0], np.random.default_rng(0))
