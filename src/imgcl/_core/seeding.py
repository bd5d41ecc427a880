"""One seed, many independent streams.

Every consumer of randomness names itself; its stream depends on the seed and that name alone, so adding a
consumer never changes the others.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def derive(seed: int, *names: str | int) -> int:
    """A 63-bit seed for the stream called ``names``.

    Example:
        >>> derive(0, "views") == derive(0, "views"), derive(0, "views") == derive(0, "split")
        (True, False)
    """
    text = "/".join([str(int(seed)), *map(str, names)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A numpy generator for the stream called ``names``."""
    return np.random.default_rng(derive(seed, *names))


def torch_generator(seed: int, *names: str | int) -> torch.Generator:
    """A torch (CPU) generator for the stream called ``names``."""
    import torch

    return torch.Generator().manual_seed(derive(seed, *names))
