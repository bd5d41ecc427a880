"""t-SNE's parts against sums over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from imgcl.report import tsne


@pytest.mark.parametrize(("spread", "error"), [(1e-4, 1e-9), (1.0, 5e-3), (8.0, 0.1)])
def test_repulsion_is_that_of_all_pairs(spread: float, error: float) -> None:
    y = spread * np.random.default_rng(0).standard_normal((400, 2))
    away = y[:, None] - y
    q = 1 / (1 + (away**2).sum(axis=2))
    np.fill_diagonal(q, 0)
    expected = ((q**2)[..., None] * away).sum(axis=1) / q.sum()
    np.testing.assert_allclose(tsne._repulsion_of_pairs(y), expected)
    found = tsne._repulsion(y)
    assert np.linalg.norm(found - expected) < error * np.linalg.norm(expected)


def test_every_row_has_the_wanted_perplexity() -> None:
    squared = np.random.default_rng(0).random((5, 40)) * np.array([1e-3, 1, 10, 1e3, 1e6])[:, None]
    shares = tsne._shares(squared, 12.0)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(-(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)), 12.0, rtol=1e-6)


def test_affinities_are_symmetric_probabilities() -> None:
    found = tsne._affinities(np.random.default_rng(0).random((50, 3)).astype(np.float32), 5.0)
    assert found.sum() == pytest.approx(1)
    assert abs(found - found.T).max() < 1e-15
    assert found.diagonal().sum() == 0


def test_attraction_by_hand() -> None:
    import scipy.sparse as sp

    pull = tsne._attraction(sp.csr_array(np.array([[0, 0.5], [0.5, 0]])), np.array([[0.0, 0.0], [2.0, 0.0]]))
    np.testing.assert_allclose(pull, [[-0.2, 0], [0.2, 0]])  # 0.5 * 2 / (1 + 4)


@pytest.mark.parametrize("n", [3, 20])
def test_few_points_stay_together(n: int) -> None:
    rows = np.random.default_rng(0).standard_normal((n, 8)).astype(np.float32)
    found = tsne.tsne(rows, 1e-4 * rows[:, :2])
    assert np.ptp(found) < 200  # steps that are too long send them thousands apart


def test_equal_rows_are_no_obstacle() -> None:
    rows = np.zeros((30, 4), dtype=np.float32)
    assert np.isfinite(tsne.tsne(rows, np.zeros((30, 2), dtype=np.float32))).all()
