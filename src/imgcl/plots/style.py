"""What all figures share: size, fonts and colours that stay distinct for any colour vision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from imgcl._core.errors import InputError
from imgcl._core.extras import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN = 3.3  # inches: one column of a two-column paper
PAGE = 7.0  # inches: both columns

# Okabe & Ito's eight colours; black last, so that it serves lines and rarely a class.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
MARKERS = ("o", "^", "s", "D", "v", "P")
GROUP_COLOURS = {"head": "#0072B2", "middle": "#E69F00", "tail": "#D55E00"}

SETTINGS: Any = {  # matplotlib types its keys one by one
    "font.size": 7,
    "axes.titlesize": 8,
    "axes.labelsize": 7,
    "xtick.labelsize": 6,
    "ytick.labelsize": 6,
    "legend.fontsize": 6,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "grid.linewidth": 0.4,
    "grid.color": "#dddddd",
    "savefig.dpi": 300,
    "svg.hashsalt": "imgcl",  # element ids of an SVG are the same on every run
    "svg.fonttype": "none",  # text stays text: searchable, and in the page's font
    "pdf.fonttype": 42,
}


@contextmanager
def drawing(width: float, height: float) -> Iterator[Figure]:
    """A figure of this size in inches; everything drawn on it inside the block has the style of the papers."""
    need("plots", "a figure")
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(SETTINGS):
        yield Figure(figsize=(width, height), layout="constrained")


def class_style(k: int) -> tuple[str, str]:
    """Colour and marker of class k: different for the first 48 classes.

    Example:
        >>> class_style(0), class_style(9)
        (('#0072B2', 'o'), ('#E69F00', '^'))
    """
    return COLOURS[k % len(COLOURS)], MARKERS[k // len(COLOURS) % len(MARKERS)]


def names_of(class_names: Sequence[str] | None, n_classes: int) -> list[str]:
    """The given names, or the class numbers."""
    if class_names is None:
        return [str(k) for k in range(n_classes)]
    if len(class_names) != n_classes:
        raise InputError(f"there are {len(class_names)} class names but {n_classes} classes: give one for each")
    return [plain(name) for name in class_names]


def plain(text: str) -> str:
    """Text without matplotlib's formulas: a dollar sign in a name is a dollar sign."""
    return str(text).replace("$", r"\$")


def by_size(sizes: ArrayLike) -> np.ndarray:
    """Class numbers from the largest class to the smallest."""
    return np.argsort(-np.asarray(sizes), kind="stable")


def checked(name: str, values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """An array of numbers of this shape, or an error that names it."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}: expected {shape}")
    return array
