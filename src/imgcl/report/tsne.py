"""t-SNE (van der Maaten and Hinton 2008) in time that grows with the number of nodes, for the map of a report.

Attraction is a sum over nearest neighbours. Repulsion is a convolution of all points with the kernel
(1 + d^2)^-2: points are spread onto a regular grid by quadratic interpolation, the grid is convolved by FFT, and forces
are read off at the points (Linderman et al. 2019). Every number is the same whatever the number of threads.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.fft
import scipy.sparse as sp
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.progress import tracked

Floats = NDArray[np.float64]

PERPLEXITY = 30.0
STEPS, EXPLORING = 500, 250  # of gradient descent; for the first ones attraction is exaggerated
EXAGGERATION = 12.0
NODES = 3  # interpolation nodes along each side of a box
BOXES = 16  # boxes along a side, at least; a box is no wider than 1, the width of the kernel
FEW = 200  # points whose repulsion is summed over all pairs: they lie far apart, and a grid over them would be huge
ROUNDS = 50  # of the bisection for a perplexity


def tsne(rows: NDArray[np.float32], start: NDArray[np.float32]) -> NDArray[np.float32]:
    """Points in the plane whose neighbours are those of the rows.

    Args:
        rows: (n, d), n at least 3.
        start: (n, 2), close to each other.
    """
    affinities = _affinities(rows, min(PERPLEXITY, (len(rows) - 1) / 3))
    rate = max(len(rows) / EXAGGERATION / 4, min(50.0, len(rows) / 2))  # of few points larger steps diverge
    y = np.array(start, dtype=np.float64)
    update, gains = np.zeros_like(y), np.ones_like(y)
    repulsion = _repulsion_of_pairs if len(rows) <= FEW else _repulsion
    for step in tracked(range(STEPS), "t-SNE", "step"):
        exploring = step < EXPLORING
        gradient = 4 * (_attraction(affinities, y) * (EXAGGERATION if exploring else 1.0) - repulsion(y))
        gains = np.maximum(np.where(update * gradient < 0, gains + 0.2, gains * 0.8), 0.01)
        update = (0.5 if exploring else 0.8) * update - rate * gains * gradient
        y += update
    return np.asarray(y, dtype=np.float32)


def _affinities(rows: NDArray[np.float32], perplexity: float) -> sp.csr_array:
    """Symmetric probabilities of pairs, with the wanted perplexity around every node; they add up to 1."""
    from sklearn.neighbors import NearestNeighbors

    n, k = len(rows), min(len(rows) - 1, int(3 * perplexity + 1))
    distance, neighbour = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors()
    share = _shares(distance.astype(np.float64) ** 2, perplexity)
    one_way = sp.csr_array((share.ravel(), neighbour.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    both = sp.csr_array((one_way + one_way.T) / (2 * n))
    both.sort_indices()
    return both


def _shares(squared: Floats, perplexity: float) -> Floats:
    """exp(-b_i d_ij^2) with sum 1 in every row, b_i such that the entropy of the row is log(perplexity)."""
    squared = squared - squared.min(axis=1, keepdims=True)
    low, high = np.zeros(len(squared)), np.full(len(squared), np.inf)
    b = 1 / np.maximum(squared.mean(axis=1), 1e-12)
    for _ in range(ROUNDS):
        weight = np.exp(-squared * b[:, None])
        total = weight.sum(axis=1)
        entropy = np.log(total) + b * (weight * squared).sum(axis=1) / total
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, b, low), np.where(wide, high, b)
        b = np.where(np.isinf(high), 2 * b, (low + np.where(np.isinf(high), low, high)) / 2)
    weight = np.exp(-squared * b[:, None])
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _attraction(affinities: sp.csr_array, y: Floats) -> Floats:
    """Sum over j of p_ij (y_i - y_j) / (1 + |y_i - y_j|^2)."""
    out = np.empty_like(y)
    _attract(affinities.indptr, affinities.indices, affinities.data, y, out)
    return out


@njit(cache=True, nogil=True)
def _attract(indptr, indices, p, y, out):  # type: ignore[no-untyped-def]
    for i in range(len(y)):
        x0, x1 = 0.0, 0.0
        for e in range(indptr[i], indptr[i + 1]):
            d0, d1 = y[i, 0] - y[indices[e], 0], y[i, 1] - y[indices[e], 1]
            w = p[e] / (1.0 + d0 * d0 + d1 * d1)
            x0 += w * d0
            x1 += w * d1
        out[i, 0], out[i, 1] = x0, x1


def _repulsion(y: Floats) -> Floats:
    """Sum over j of (y_i - y_j) (1 + d^2)^-2, divided by the sum over all pairs of (1 + d^2)^-1."""
    low, span = y.min(axis=0), float(np.ptp(y, axis=0).max())
    box = min(1.0, 2.0 ** np.ceil(np.log2(max(span, 1e-9) / BOXES)))
    boxes = 8 * (int(span / box) // 8 + 1)  # in steps, so that the kernel can be kept
    side = NODES * boxes
    charge = np.column_stack([np.ones(len(y)), y, (y**2).sum(axis=1)])
    grid = np.zeros((charge.shape[1], side, side))
    _spread(y, low, box, boxes, charge, grid)
    kernel, size = _kernel_spectrum(box / NODES, side)
    spectrum = scipy.fft.rfft2(grid, (size, size)) * kernel
    potential = scipy.fft.irfft2(spectrum, (size, size))[:, :side, :side]
    at = np.empty_like(charge)
    _gather(y, low, box, boxes, np.ascontiguousarray(potential), at)
    # (1 + d^2)^-1 is (1 + d^2) (1 + d^2)^-2, and d^2 = |y_i|^2 + |y_j|^2 - 2 y_i y_j: one kernel serves both sums
    pairs = ((1 + charge[:, 3]) * at[:, 0] - 2 * (y * at[:, 1:3]).sum(axis=1) + at[:, 3]).sum() - len(y)
    return np.asarray((y * at[:, :1] - at[:, 1:3]) / max(pairs, 1e-12))


def _repulsion_of_pairs(y: Floats) -> Floats:
    """The same, pair by pair."""
    away = y[:, None] - y
    near = 1 / (1 + (away**2).sum(axis=2))
    np.fill_diagonal(near, 0)
    return np.asarray(((near**2)[..., None] * away).sum(axis=1) / max(near.sum(), 1e-12))


@lru_cache(maxsize=2)
def _kernel_spectrum(spacing: float, side: int) -> tuple[NDArray[np.complex128], int]:
    """The transformed kernel on a grid with room for every difference of two nodes, and the size of that grid."""
    size = scipy.fft.next_fast_len(2 * side, real=True)
    away = np.minimum(np.arange(size), size - np.arange(size)) * spacing
    return scipy.fft.rfft2((1 + away[:, None] ** 2 + away**2) ** -2.0), size


@njit(cache=True, nogil=True, inline="always")
def _place(value, low, box, boxes, weight):  # type: ignore[no-untyped-def]
    """The first node of the box of a coordinate; ``weight`` gets Lagrange's weights of its three nodes."""
    number = min(int((value - low) / box), boxes - 1)
    t = ((value - low) / box - number) * 3.0 - 0.5  # nodes are at 0, 1 and 2
    weight[0] = (t - 1.0) * (t - 2.0) / 2.0
    weight[1] = t * (2.0 - t)
    weight[2] = t * (t - 1.0) / 2.0
    return number * 3


@njit(cache=True, nogil=True)
def _spread(y, low, box, boxes, charge, grid):  # type: ignore[no-untyped-def]
    wx, wy = np.empty(3), np.empty(3)
    for i in range(len(y)):
        a, b = _place(y[i, 0], low[0], box, boxes, wx), _place(y[i, 1], low[1], box, boxes, wy)
        for c in range(charge.shape[1]):
            for r in range(3):
                for s in range(3):
                    grid[c, a + r, b + s] += wx[r] * wy[s] * charge[i, c]


@njit(cache=True, nogil=True)
def _gather(y, low, box, boxes, potential, at):  # type: ignore[no-untyped-def]
    wx, wy = np.empty(3), np.empty(3)
    for i in range(len(y)):
        a, b = _place(y[i, 0], low[0], box, boxes, wx), _place(y[i, 1], low[1], box, boxes, wy)
        for c in range(at.shape[1]):
            total = 0.0
            for r in range(3):
                for s in range(3):
                    total += wx[r] * wy[s] * potential[c, a + r, b + s]
            at[i, c] = total
