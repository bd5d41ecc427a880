"""One seed, many independent streams.

Every consumer of randomness names itself; its stream depends on the seed and that name alone, so adding a
consumer never changes the others.
"""

from __future__ import annotations

import hashlib
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from imgcl._core.errors import InputError

if TYPE_CHECKING:
    import torch

RandomState = int | np.random.RandomState | np.random.Generator | None
LARGEST_DRAWN = 2**31 - 1


def as_seed(random_state: Any) -> int:
    """The seed that a ``random_state`` stands for, as in scikit-learn.

    Args:
        random_state: a whole number is the seed itself; a ``RandomState`` or ``Generator`` gives the next number of its
            stream, so that two calls give two seeds; ``None`` stands for numpy's global ``RandomState``.

    Raises:
        InputError: when it is something else.

    Example:
        >>> as_seed(7), as_seed(np.random.RandomState(7)) == as_seed(np.random.RandomState(7))
        (7, True)
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_DRAWN))
    if random_state is None or isinstance(random_state, np.random.RandomState):
        from sklearn.utils import check_random_state

        return int(check_random_state(random_state).randint(LARGEST_DRAWN))
    raise InputError(
        f"random_state is {random_state!r}: give a whole number, a numpy RandomState or Generator, or None"
    )


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
