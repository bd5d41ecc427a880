"""Sharing out a whole number of places by weights, between a floor and a cap per receiver.

Class sizes of training labels and edges per class of a synthetic graph are both such shares: proportional to
weights, in whole numbers, with an exact total.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError

TIE = 1e-9  # remainders closer than this are equal: the last bits of a power differ between machines


def apportion(
    weights: ArrayLike, total: int, *, least: ArrayLike = 0, most: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Whole numbers that are proportional to ``weights`` and sum to ``total`` exactly.

    The shares are ``clip(c * weights, least, most)`` with the one ``c`` that gives the total, rounded by largest
    remainder; of equal remainders the earlier one is rounded up.

    Args:
        weights: positive and finite.
        total: what the shares sum to.
        least: the smallest share allowed, one for all or one each.
        most: the largest share allowed, one for all or one each; ``None`` for no cap.

    Raises:
        InputError: when no shares between ``least`` and ``most`` have that total.

    Example:
        >>> apportion([100, 10, 1], 50, least=1).tolist()
        [45, 4, 1]
        >>> apportion([100, 10, 1], 50, least=1, most=[20, 40, 40]).tolist()
        [20, 27, 3]
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or not len(w) or not np.isfinite(w).all() or (w <= 0).any():
        raise InputError(f"weights must be positive finite numbers, at least one, not {weights!r}")
    low = np.broadcast_to(np.asarray(least, dtype=np.float64), w.shape)
    high = np.broadcast_to(np.asarray(total if most is None else most, dtype=np.float64), w.shape)
    if (low > high).any() or not low.sum() <= total <= high.sum():
        raise InputError(f"{total} cannot be shared out: the shares allow {low.sum():.0f} to {high.sum():.0f} in total")
    quota = _clipped_quota(w, total, low, high)
    shares = np.floor(quota + TIE).astype(np.int64)
    remainder = np.where(shares < high, np.round((quota - shares) / TIE), -np.inf)
    up = np.argsort(-remainder, kind="stable")[: total - int(shares.sum())]
    shares[up] += 1
    return shares


def _clipped_quota(
    w: NDArray[np.float64], total: int, low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``clip(c * w, low, high)`` with sum ``total``; the sum is piecewise linear and increasing in c."""
    starts, stops = low / w, high / w  # share k grows with c between these
    breaks = np.unique(np.concatenate([[0.0], starts, stops]))
    left, right = 0, len(breaks) - 1
    while right - left > 1:
        middle = (left + right) // 2
        if np.clip(breaks[middle] * w, low, high).sum() <= total:
            left = middle
        else:
            right = middle
    growing = (starts <= breaks[left]) & (stops >= breaks[right])
    quota = np.where(stops <= breaks[left], high, low)
    if growing.any():
        quota[growing] = (total - quota[~growing].sum()) * w[growing] / w[growing].sum()
    return np.clip(quota, low, high)
