"""Means with intervals: by hand, and coverage by simulation."""

import numpy as np
import pytest

from imgcl.evaluation.intervals import Estimate, estimate


def test_one_seed_is_the_t_interval() -> None:
    result = estimate([1.0, 2.0, 3.0, 4.0], seeds=[0, 0, 0, 0], splits=[0, 1, 2, 3])
    sd = np.sqrt(5 / 3)
    assert result.mean == 2.5
    assert result.sd == pytest.approx(sd)
    half = 3.182446 * sd / 2  # t(0.975, 3)
    assert result.ci95 == pytest.approx((2.5 - half, 2.5 + half), abs=1e-5)


def test_two_way_table_by_hand() -> None:
    # seeds differ by 2, splits by 1, no residual: MS_seed = 2 * 2 = 4 (r-1=1, c=2), MS_split = 2 * 0.5 = 1, residual 0
    result = estimate([0.0, 1.0, 2.0, 3.0], seeds=[0, 0, 1, 1], splits=[0, 1, 0, 1])
    variance, freedom = (4 + 1) / 4, 5**2 / (4**2 / 1 + 1**2 / 1)
    from scipy.stats import t

    half = t.ppf(0.975, freedom) * np.sqrt(variance)
    assert result.ci95 == pytest.approx((1.5 - half, 1.5 + half))


def test_nothing_and_one_value() -> None:
    assert estimate([np.nan]) == Estimate(None, None, None)
    single = estimate([0.5])
    assert (single.mean, single.sd, single.ci95) == (0.5, None, None)
    assert single.percent() == "50.0"
    assert Estimate(None, None, None).percent() == "-"


def test_values_without_spread_have_an_interval_of_width_zero() -> None:
    result = estimate([0.5] * 4, seeds=[0, 0, 1, 1], splits=[0, 1, 0, 1])
    assert result.ci95 == (0.5, 0.5)


def test_incomplete_design_falls_back_to_cells() -> None:
    partial = estimate([0.1, 0.2, 0.4], seeds=[0, 0, 1], splits=[0, 1, 0])
    assert partial.ci95 == pytest.approx(estimate([0.1, 0.2, 0.4]).ci95)


def test_interval_covers_when_seeds_matter() -> None:
    """With a seed effect, treating cells as independent covers far too rarely; the two-way interval does not."""
    rng = np.random.default_rng(0)
    seeds, splits = np.repeat(np.arange(5), 10), np.tile(np.arange(10), 5)
    hits = naive = 0
    for _ in range(400):
        cells = rng.normal(0, 1, 5)[seeds] + rng.normal(0, 0.5, 10)[splits] + rng.normal(0, 0.5, 50)
        low, high = estimate(cells, seeds, splits).ci95
        hits += low <= 0 <= high
        low, high = estimate(cells).ci95
        naive += low <= 0 <= high
    assert 0.92 <= hits / 400 <= 0.99
    assert naive / 400 < 0.75
