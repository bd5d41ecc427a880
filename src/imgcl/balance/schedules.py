"""How alpha falls over training: from the natural class sizes (alpha = 1) to balanced classes (alpha = 0), Eq. 3.

A schedule is a function of the progress t/T in [0, 1] and of one number of its own, written ``name`` or
``name:number`` in settings, for example ``step:0.25`` or ``constant:0.5``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean

Schedule = Callable[[float], float]


def linear(progress: float, end: float = 1.0) -> float:
    """The paper's schedule: 1 - t/T; ``end`` is the progress at which it arrives at 0.

    Example:
        >>> linear(0.25), linear(0.25, end=0.5)
        (0.75, 0.5)
    """
    return max(0.0, 1.0 - progress / end)


def cosine(progress: float, end: float = 1.0) -> float:
    """Half a cosine from 1 to 0: slow at both ends; ``end`` is the progress at which it arrives at 0.

    Example:
        >>> round(cosine(0.5), 6)
        0.5
    """
    return 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress / end)))


def step(progress: float, at: float = 0.5) -> float:
    """1 before the progress ``at``, 0 from there on.

    Example:
        >>> step(0.49), step(0.5)
        (1.0, 0.0)
    """
    return 1.0 if progress < at else 0.0


def constant(progress: float, value: float = 0.0) -> float:
    """The same alpha throughout; 0 unless told otherwise, that is balanced from the start.

    Example:
        >>> constant(0.7), constant(0.7, 0.3)
        (0.0, 0.3)
    """
    return value


SCHEDULES: dict[str, Callable[..., float]] = {
    "linear": linear,
    "cosine": cosine,
    "step": step,
    "constant": constant,
}


def schedule(name: str) -> Schedule:
    """The schedule written as ``name`` or ``name:number``.

    Example:
        >>> schedule("linear")(0.25), schedule("constant:0.3")(0.25)
        (0.75, 0.3)
    """
    kind, colon, number = name.partition(":")
    if kind not in SCHEDULES:
        raise InputError(f"unknown alpha schedule {name!r}{did_you_mean(kind, SCHEDULES, more='or name:number')}")
    function = SCHEDULES[kind]
    if not colon:
        return function
    try:
        value = float(number)
    except ValueError:
        raise InputError(f"alpha schedule {name!r}: {number!r} is not a number") from None
    lowest = 0.0 if kind in ("constant", "step") else 1e-6
    if not lowest <= value <= 1:
        raise InputError(f"alpha schedule {name!r}: the number must be in {'[0' if lowest == 0 else '(0'}, 1]")
    return lambda progress: function(progress, value)
