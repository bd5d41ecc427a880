"""Random numbers inside kernels: one small state per stream, the same on every machine and for any number of threads.

SplitMix64 (Steele, Lea and Flood 2014): the state is a counter, a number is the counter scrambled.
"""

from __future__ import annotations

import numpy as np

from imgcl._core.compiled import njit

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
TO_UNIT = 2.0**-53


@njit(cache=True, nogil=True, inline="always")
def scramble(z):  # type: ignore[no-untyped-def]
    """Mix the bits of a 64-bit number."""
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def stream(seed, number):  # type: ignore[no-untyped-def]
    """The state with which stream ``number`` of a seed begins."""
    return scramble(seed + scramble(np.uint64(number) + STEP))


@njit(cache=True, nogil=True, inline="always")
def next_float(state):  # type: ignore[no-untyped-def]
    """The next state, and a number in [0, 1)."""
    state = state + STEP
    return state, (scramble(state) >> np.uint64(11)) * TO_UNIT


@njit(cache=True, nogil=True, inline="always")
def next_index(state, n):  # type: ignore[no-untyped-def]
    """The next state, and a whole number in 0..n-1 (n below 2^32)."""
    state = state + STEP
    return state, np.int64(((scramble(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
