"""Proposition 1: balanced re-labelling contracts the bias of the decision boundary, simulated beside its closed form.

Two classes X | Y ~ N(-x, 1) and N(+x, 1): the balanced boundary is 0, and 2x is the distance of the means. A boundary
at delta is the Bayes boundary of data whose class odds are exp(2 x delta) (the paper's Fact 1). Labelling such data by
the boundary and taking the midpoint of the two sides' means as the next boundary gives C(x) * delta, up to higher
orders of delta. The odds must follow the boundary, as the proof assumes: on data with fixed odds, drawing the two sides
equally often changes neither side's mean, and the boundary does not come to 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from imgcl._core import seeding
from imgcl._core.errors import InputError
from imgcl.plots.style import COLOURS, COLUMN, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUND = 2 / math.pi  # C(0), the largest C(x)
SEPARATIONS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


class Contraction(TypedDict):
    """One row of the table: half distance of the means, closed form, measured value with standard error, and 2/pi."""

    x: float
    closed_form: float
    measured: float
    standard_error: float
    bound: float


def contraction(x: float) -> float:
    """C(x) of Proposition 1: what is left of a small bias after one balanced re-labelling.

    Args:
        x: half the distance of the class means, in standard deviations.

    Example:
        >>> [round(contraction(x), 4) for x in (0, 0.5, 1, 2)]
        [0.6366, 0.5521, 0.361, 0.0682]
    """
    if not x >= 0:
        raise InputError(f"x is {x}: half the distance of the means must be at least 0")
    a, phi = math.exp(-x * x / 2) / math.sqrt(2 * math.pi), float(ndtr(x))
    return 4 * (a * a + a * x * (2 * phi - 1) - x * x * phi * (1 - phi))


def relabel(x: float, delta: float) -> float:
    """The next bias after a bias ``delta``, for infinitely many samples; ``contraction(x)`` is its slope at 0.

    Example:
        >>> round(relabel(1.0, 0.01) / 0.01, 3)
        0.361
    """
    head = 1 / (1 + math.exp(-2 * x * delta))  # share of the class at -x when the boundary is at delta
    left = right = left_sum = right_sum = 0.0
    for share, mean in ((head, -x), (1 - head, x)):
        below, density = float(ndtr(delta - mean)), math.exp(-((delta - mean) ** 2) / 2) / math.sqrt(2 * math.pi)
        left += share * below
        right += share * (1 - below)
        left_sum += share * (mean * below - density)
        right_sum += share * (mean * (1 - below) + density)
    return (left_sum / left + right_sum / right) / 2


def simulate(
    separations: Sequence[float] = SEPARATIONS,
    *,
    delta: float = 0.1,
    samples: int = 100_000,
    repeats: int = 20,
    seed: int = 0,
) -> list[Contraction]:
    """Measure the contraction on random samples, for each half distance of the means.

    Every repeat draws one sample and labels it twice, with and without the bias; the difference of the two midpoints is
    what is left of the bias (the same random numbers on both sides cancel most of the noise).

    Args:
        separations: values of x.
        delta: the bias to begin with.
        samples: points per repeat.
        repeats: repeats per value of x; the standard error comes from them.
        seed: seed of the samples.

    Example:
        >>> row = simulate([1.0], samples=20_000, repeats=10)[0]
        >>> abs(row["measured"] - row["closed_form"]) < 4 * row["standard_error"]
        True
    """
    if samples < 2 or repeats < 2 or not 0 < delta <= 1:
        raise InputError("simulate needs samples >= 2, repeats >= 2 and 0 < delta <= 1")
    rows = []
    for x in separations:
        generator = seeding.generator(seed, "theory", f"{x:.6g}")
        left_over = []
        for _ in range(repeats):
            uniform, noise = generator.random(samples), generator.standard_normal(samples)
            moved = _midpoint(x, delta, uniform, noise) - _midpoint(x, 0.0, uniform, noise)
            left_over.append(moved / delta)
        error = float(np.std(left_over, ddof=1)) / math.sqrt(repeats)
        rows.append(
            Contraction(
                x=x, closed_form=contraction(x), measured=float(np.mean(left_over)), standard_error=error, bound=BOUND
            )
        )
    return rows


def iterate(x: float, *, delta: float = 0.5, steps: int = 10, samples: int = 1_000_000, seed: int = 0) -> list[float]:
    """Bias of the boundary after 0, 1, ..., ``steps`` balanced re-labellings, each on a fresh sample.

    Example:
        >>> errors = iterate(1.0, delta=0.5, steps=3, samples=100_000)
        >>> errors[0] > errors[1] > errors[2]
        True
    """
    generator = seeding.generator(seed, "theory", "iterate", f"{x:.6g}")
    biases = [delta]
    for _ in range(steps):
        biases.append(_midpoint(x, biases[-1], generator.random(samples), generator.standard_normal(samples)))
    return biases


def figure(rows: Sequence[Contraction]) -> Figure:
    """Measured contraction with two standard errors on the curve C(x).

    Args:
        rows: what :func:`simulate` gives.

    Example:
        >>> figure(simulate([0.0, 1.0], samples=2000, repeats=4)).axes[0].get_ylabel()
        'contraction of the bias'
    """
    grid = np.linspace(0, max(row["x"] for row in rows), 101)
    with drawing(COLUMN, 2.1) as drawn:
        axis = drawn.subplots()
        axis.plot(grid, [contraction(x) for x in grid], color=COLOURS[-1], label="C(x), closed form")
        axis.errorbar(
            [row["x"] for row in rows],
            [row["measured"] for row in rows],
            [2 * row["standard_error"] for row in rows],
            fmt="o",
            color=COLOURS[0],
            label="simulated, ± 2 standard errors",
        )
        axis.set(xlabel="x, half the distance of the class means", ylabel="contraction of the bias")
        axis.set_ylim(bottom=0)
        axis.grid(axis="y")
        axis.legend()
    return drawn


def _midpoint(x: float, delta: float, uniform: NDArray[np.float64], noise: NDArray[np.float64]) -> float:
    """Midpoint of the two sides' means when data with odds exp(2 x delta) are split at ``delta``."""
    head = uniform < 1 / (1 + math.exp(-2 * x * delta))
    points = noise + np.where(head, -x, x)
    left = points < delta
    return float(points[left].mean() + points[~left].mean()) / 2
