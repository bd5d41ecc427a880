"""Proposition 1: closed form, exact step and simulation agree."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl_lab.contraction import BOUND, contraction, figure, iterate, relabel, simulate


@pytest.mark.parametrize(("x", "value"), [(0.0, 0.6366), (0.5, 0.5521), (1.0, 0.3610), (2.0, 0.0682)])
def test_the_closed_form(x: float, value: float) -> None:
    assert contraction(x) == pytest.approx(value, abs=5e-5)


def test_two_over_pi_is_the_largest_contraction() -> None:
    assert contraction(0.0) == pytest.approx(2 / math.pi) == BOUND
    values = [contraction(x) for x in np.linspace(0, 4, 200)]
    assert all(after < before for before, after in pairwise(values))
    assert values[-1] > 0


@pytest.mark.parametrize("x", [0.0, 0.3, 1.0, 2.5])
def test_the_closed_form_is_the_slope_of_the_exact_step(x: float) -> None:
    assert relabel(x, 0.0) == pytest.approx(0.0, abs=1e-12)
    assert relabel(x, 1e-4) / 1e-4 == pytest.approx(contraction(x), abs=1e-6)
    assert relabel(x, -0.2) == pytest.approx(-relabel(x, 0.2))


def test_simulation_agrees_with_the_closed_form_within_sampling_error() -> None:
    """Seven values at once: four standard errors each leave a chance of 5e-4; the bias of delta = 0.1 is below 5e-4."""
    for row in simulate(samples=50_000, repeats=20, seed=1):
        assert row["standard_error"] < 0.01
        assert abs(row["measured"] - row["closed_form"]) < 4 * row["standard_error"] + 5e-4
        assert row["bound"] == BOUND


def test_the_bias_falls_at_the_predicted_rate() -> None:
    biases = iterate(0.5, delta=0.5, steps=4, samples=400_000, seed=2)
    expected = [0.5]
    for _ in range(4):
        expected.append(relabel(0.5, expected[-1]))
    assert biases == pytest.approx(expected, abs=0.012)  # four standard errors of a midpoint


def test_the_figure_shows_every_measurement() -> None:
    rows = simulate([0.0, 1.0], samples=2000, repeats=4)
    (axis,) = figure(rows).axes
    (points,) = [line for line in axis.lines if line.get_marker() == "o"]
    assert points.get_ydata().tolist() == [row["measured"] for row in rows]


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="x is -1"):
        contraction(-1)
    with pytest.raises(InputError, match="samples >= 2"):
        simulate(samples=1)
