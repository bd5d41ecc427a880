"""Whole-number shares: exact totals, floors, caps, and as near to proportional as whole numbers get."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.apportion import apportion
from imgcl._core.errors import InputError


@pytest.mark.parametrize(
    ("weights", "total", "bounds", "expected"),
    [
        ([3, 2, 1], 6, {}, [3, 2, 1]),
        ([1, 1, 1], 4, {}, [2, 1, 1]),  # equal remainders: the first wins
        ([5, 3, 1], 2, {}, [1, 1, 0]),  # quotas 1.11 0.67 0.22
        ([100, 10, 1], 12, {"least": 1}, [10, 1, 1]),
        ([4, 2, 1], 70, {"most": [10, 100, 100]}, [10, 40, 20]),
        ([4, 2, 1], 12, {"most": [2, 5, 5]}, [2, 5, 5]),
        ([1, 2], 0, {}, [0, 0]),
        ([7], 9, {}, [9]),
    ],
)
def test_by_hand(weights: list[float], total: int, bounds: dict, expected: list[int]) -> None:
    assert apportion(weights, total, **bounds).tolist() == expected


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[float], int, list[int], list[int]]:
    size = draw(st.integers(1, 8))
    weights = draw(st.lists(st.floats(1e-6, 1e6), min_size=size, max_size=size))
    most = draw(st.lists(st.integers(0, 40), min_size=size, max_size=size))
    least = [draw(st.integers(0, min(2, cap))) for cap in most]
    return weights, draw(st.integers(sum(least), sum(most))), least, most


@given(problems())
@settings(deadline=None)
def test_total_bounds_and_fairness(problem: tuple[list[float], int, list[int], list[int]]) -> None:
    weights, total, least, most = problem
    shares = apportion(weights, total, least=least, most=most)
    assert shares.sum() == total
    assert (shares >= least).all()
    assert (shares <= most).all()
    # no transfer of one place between two free receivers is owed: per weight, nobody is more than one place ahead
    w = np.array(weights)
    for i in np.flatnonzero(shares > least):
        for j in np.flatnonzero(shares < most):
            assert (shares[i] - 1) / w[i] <= (shares[j] + 1) / w[j] * (1 + 1e-6)


@given(st.integers(2, 12), st.floats(1, 500), st.integers(50, 3000))
@settings(deadline=None)
def test_decreasing_weights_give_decreasing_shares(size: int, ratio: float, total: int) -> None:
    shares = apportion(ratio ** (-np.arange(size) / (size - 1)), total, least=1)
    assert (np.diff(shares) <= 0).all()


@pytest.mark.parametrize(
    ("weights", "total", "bounds"),
    [
        ([], 1, {}),
        ([1, 0], 1, {}),
        ([1, np.inf], 1, {}),
        ([1, 1], 1, {"least": 1}),
        ([1, 1], 5, {"most": 2}),
        ([1, 1], 3, {"least": [0, 2], "most": [5, 1]}),
    ],
)
def test_impossible(weights: list[float], total: int, bounds: dict) -> None:
    with pytest.raises(InputError):
        apportion(weights, total, **bounds)
