"""The strategies by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.labelling.auto import auto
from imgcl.labelling.balanced import balanced
from imgcl.labelling.cover import cover
from imgcl.labelling.random import random
from imgcl.labelling.search import search
from imgcl.labelling.task import LabellingTask
from imgcl.labelling.uncertain import uncertain

Strategy = Callable[[LabellingTask], NDArray[np.int64]]
"""Chooses ``task.budget`` nodes among ``task.open``, the most useful first."""

STRATEGIES: dict[str, Strategy] = {
    "auto": auto,
    "cover": cover,
    "balanced": balanced,
    "uncertain": uncertain,
    "random": random,
}
SEARCH = "search:"


def resolve_strategy(strategy: Any) -> Strategy:
    """A strategy by name, ``search:CLASS``, or a function of your own.

    Example:
        >>> resolve_strategy("covr")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        imgcl.InputError: unknown strategy 'covr': did you mean 'cover'? (choose from auto, cover, ...)
    """
    if callable(strategy):
        return strategy  # type: ignore[no-any-return]
    name = str(strategy)
    if name.startswith(SEARCH):
        return partial(search, wanted=name.removeprefix(SEARCH))
    if name not in STRATEGIES:
        raise InputError(f"unknown strategy {name!r}{did_you_mean(name, [*STRATEGIES, 'search:CLASS'])}")
    return STRATEGIES[name]
