"""Means with intervals: by hand, and coverage by simulation."""

import numpy as np
import pytest
from scipy.stats import t as student

from imgcl.evaluation.intervals import Estimate, _two_way, _unbalanced, estimate


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
    half = student.ppf(0.975, freedom) * np.sqrt(variance)
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


def test_three_cells_of_four_by_hand() -> None:
    # each effect explains what the cell without the other leaves: (0.2 - 0.1)^2 / 2 and (0.4 - 0.1)^2 / 2, one degree
    # of freedom each; half of either is the effect's variance, and the mean holds (2^2 + 1^2) / 3^2 of it
    partial = estimate([0.1, 0.2, 0.4], seeds=[0, 0, 1], splits=[0, 1, 0])
    parts = 5 / 9 * np.array([0.3, 0.1]) ** 2 / 2
    half = student.ppf(0.975, parts.sum() ** 2 / (parts**2).sum()) * np.sqrt(parts.sum())
    assert partial.mean == pytest.approx(0.7 / 3)
    assert partial.ci95 == pytest.approx((0.7 / 3 - half, 0.7 / 3 + half))


def test_the_unbalanced_estimate_of_a_full_table_is_the_balanced_one() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(4, 1)) + rng.normal(size=(1, 6)) + rng.normal(size=(4, 6))
    row, column = np.repeat(np.arange(4), 6), np.tile(np.arange(6), 4)
    assert _unbalanced(table.ravel(), row, column, np.ones((4, 6), int)) == pytest.approx(_two_way(table))


def test_a_nan_and_an_absent_cell_are_the_same() -> None:
    rng = np.random.default_rng(4)
    seeds, splits, cells = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3), rng.normal(size=12)
    keep = np.arange(12) != 5
    assert estimate(np.where(keep, cells, np.nan), seeds, splits) == estimate(cells[keep], seeds[keep], splits[keep])


def test_an_effect_that_no_cells_share_is_residual() -> None:
    """Every seed on a split of its own is the t interval; seeds nested in splits are as many values as splits."""
    values = [0.1, 0.2, 0.4, 0.5]
    assert estimate(values, [0, 1, 2, 3], [0, 1, 2, 3]) == estimate(values)
    low, high = estimate([0.1, 0.1, 0.5, 0.5], [0, 1, 2, 3], [0, 0, 1, 1]).ci95
    assert (low, high) == pytest.approx(estimate([0.1, 0.5]).ci95)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0, 1, 5])
@pytest.mark.parametrize(
    ("shape", "spread"),
    [((5, 10), (1.0, 0.5, 0.5)), ((4, 20), (1.0, 0.2, 0.5)), ((4, 20), (0.5, 1.0, 0.5)), ((3, 10), (1.0, 1.0, 1.0))],
)
def test_coverage_with_missing_cells(missing: int, shape: tuple[int, int], spread: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(0)
    row, column = (each.ravel() for each in np.indices(shape))
    hits, trials = 0, 3000
    for _ in range(trials):
        seed, split, noise = (s * rng.normal(size=k) for s, k in zip(spread, (*shape, row.size), strict=True))
        cells = seed[row] + split[column] + noise
        cells[rng.permutation(row.size)[:missing]] = np.nan
        low, high = estimate(cells, row, column).ci95
        hits += low <= 0 <= high
    assert 0.93 <= hits / trials <= 0.97


def test_one_missing_cell_hardly_changes_the_interval() -> None:
    """Without one of fifty cells the interval used to shrink to that of fifty independent ones."""
    rng = np.random.default_rng(1)
    row, column = (each.ravel() for each in np.indices((5, 10)))
    widths = []
    for _ in range(30):
        cells = rng.normal(size=5)[row] + 0.3 * rng.normal(size=10)[column] + 0.3 * rng.normal(size=50)
        widths.append([np.ptp(estimate(cells[k:], row[k:], column[k:]).ci95) for k in (0, 1)])
    full, partial = np.transpose(widths)
    assert np.all(np.abs(partial / full - 1) < 0.1)


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
