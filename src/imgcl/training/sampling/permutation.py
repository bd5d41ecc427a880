"""A random permutation of N things that is computed on demand and not stored."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl._core.compiled import njit
from imgcl._core.sparse.kernels import GOLDEN, mix

ROUNDS = 4  # of a Feistel network with a good round function: enough for any statistic (Luby and Rackoff, 1988)


def permuted(nodes: NDArray[np.int64], n: int, seed: int) -> NDArray[np.int64]:
    """Where a random permutation of 0..n-1 sends these numbers.

    Example:
        >>> sorted(permuted(np.arange(10), 10, seed=1).tolist())
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    half = max(1, ((n - 1).bit_length() + 1) // 2)
    return np.asarray(_feistel(np.ascontiguousarray(nodes, dtype=np.int64), n, half, np.uint64(seed)))


@njit(cache=True, nogil=True)
def _feistel(nodes: NDArray[np.int64], n: int, half: int, seed: np.uint64) -> NDArray[np.int64]:
    """A Feistel network permutes 0..4^half - 1; walking its cycles until 0..n-1 is met again permutes that."""
    bits, mask = np.uint64(half), (np.uint64(1) << np.uint64(half)) - np.uint64(1)
    out = np.empty(len(nodes), dtype=np.int64)
    for i in range(len(nodes)):
        value = np.uint64(nodes[i])
        while True:
            left, right = value >> bits, value & mask
            for turn in range(ROUNDS):
                key = mix(seed + np.uint64(turn + 1) * GOLDEN)
                left, right = right, left ^ (mix(right + key) & mask)
            value = (left << bits) | right
            if value < np.uint64(n):
                break
        out[i] = value
    return out
