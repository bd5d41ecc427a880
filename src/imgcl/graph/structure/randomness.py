"""Random numbers inside kernels: one small state per stream, the same on every machine and for any number of threads.

SplitMix64 (Steele, Lea and Flood 2014): the state is a counter, a number is the counter scrambled.
"""

from __future__ import annotations

import numpy as np

from imgcl._core.compiled import njit
from imgcl._core.sparse.kernels import GOLDEN, mix

TO_UNIT = 2.0**-53


@njit(cache=True, nogil=True, inline="always")
def stream(seed, number):  # type: ignore[no-untyped-def]
    """The state with which stream ``number`` of a seed begins."""
    return mix(seed + mix(np.uint64(number) + GOLDEN))


@njit(cache=True, nogil=True, inline="always")
def next_float(state):  # type: ignore[no-untyped-def]
    """The next state, and a number in [0, 1)."""
    state = state + GOLDEN
    return state, (mix(state) >> np.uint64(11)) * TO_UNIT


@njit(cache=True, nogil=True, inline="always")
def next_index(state, n):  # type: ignore[no-untyped-def]
    """The next state, and a whole number in 0..n-1 (n below 2^32)."""
    state = state + GOLDEN
    return state, np.int64(((mix(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
