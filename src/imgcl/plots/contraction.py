"""Proposition 1: the measured contraction on the curve of its closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from imgcl._core.errors import InputError
from imgcl.plots.style import COLOURS, COLUMN, checked, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def contraction(
    curve: tuple[ArrayLike, ArrayLike], x: ArrayLike, measured: ArrayLike, standard_error: ArrayLike
) -> Figure:
    """Points with two standard errors on the curve C(x).

    Args:
        curve: x and C(x) of the closed form.
        x: where it was measured.
        measured: contraction there.
        standard_error: of each measurement.

    Example:
        >>> from imgcl_lab.contraction import contraction as closed_form
        >>> grid = [0.0, 0.5, 1.0]
        >>> figure = contraction((grid, [closed_form(x) for x in grid]), [0.0], [0.63], [0.01])
        >>> figure.axes[0].get_ylabel()
        'contraction of the bias'
    """
    grid, closed = (np.asarray(values, dtype=np.float64) for values in curve)
    places = np.asarray(x, dtype=np.float64)
    if grid.shape != closed.shape or grid.ndim != 1:
        raise InputError(f"the curve has {grid.shape} places but {closed.shape} values: give as many of each")
    with drawing(COLUMN, 2.1) as figure:
        axis = figure.subplots()
        axis.plot(grid, closed, color=COLOURS[-1], label="C(x), closed form")
        axis.errorbar(
            places,
            checked("measured", measured, places.shape),
            2 * checked("standard_error", standard_error, places.shape),
            fmt="o",
            color=COLOURS[0],
            label="simulated, ± 2 standard errors",
        )
        axis.set(xlabel="x, half the distance of the class means", ylabel="contraction of the bias")
        axis.set_ylim(bottom=0)
        axis.grid(axis="y")
        axis.legend()
    return figure
