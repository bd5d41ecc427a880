"""The embedded graph: scikit-learn's handwritten digits, each linked to those that look most alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl.data.options import whole_number
from imgcl.graph import Graph

ROWS_AT_ONCE = 256


def digits_graph(*, neighbours: int = 10) -> Graph:
    """1797 handwritten digits (8 x 8 pixels, 10 classes) as a symmetric nearest-neighbour graph.

    The images come with scikit-learn, so no network is needed. Pixel values are whole numbers, so distances are
    exact and the graph is the same on every machine.

    Args:
        neighbours: how many nearest images each image is linked to; a link in one direction counts for both.

    Example:
        >>> digits_graph().n_nodes
        1797
    """
    from sklearn.datasets import load_digits

    neighbours = whole_number("neighbours", neighbours)
    bunch = load_digits()
    pixels = np.asarray(bunch.data, dtype=np.float64)  # whole numbers 0..16, so sums and products are exact
    if not 1 <= neighbours < len(pixels):
        raise InputError(f"neighbours is {neighbours}: it must be 1..{len(pixels) - 1}")
    directed = _nearest(pixels, neighbours)
    both = np.unique(np.concatenate([directed, directed[::-1]], axis=1), axis=1)
    return Graph.from_edges(
        both,
        x=pixels / 16,
        y=bunch.target,
        name="digits",
        feature_names=[f"pixel {row},{column}" for row in range(8) for column in range(8)],
        class_names=[str(name) for name in bunch.target_names],
    )


def _nearest(points: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Directed edges from each point (whole numbers) to its ``k`` nearest, lower numbers first among equally near."""
    square = (points**2).sum(axis=1)
    nearest = np.empty((len(points), k), dtype=np.int64)
    for start in range(0, len(points), ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, len(points)))
        distance = (square[rows, None] + square[None, :] - 2 * points[rows] @ points.T).astype(np.int64)
        distance[np.arange(len(rows)), rows] = np.iinfo(np.int32).max  # not a neighbour of itself
        ranked = distance * len(points) + np.arange(len(points))  # ties end with the number
        nearest[rows] = np.sort(np.partition(ranked, k, axis=1)[:, :k], axis=1) % len(points)
    return np.stack([np.repeat(np.arange(len(points)), k), nearest.ravel()])
