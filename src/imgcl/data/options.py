"""Checks of the parameters of built-in graphs, which may come from a text such as ``synthetic:n_nodes=1e3``."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from imgcl._core.errors import InputError


def whole_number(name: str, value: Any) -> int:
    """A whole number, perhaps written as 1e3.

    Example:
        >>> whole_number("n_nodes", 1e3)
        1000
        >>> whole_number("n_nodes", 0.5)
        Traceback (most recent call last):
        imgcl.InputError: n_nodes is 0.5: give a whole number
    """
    if _is_number(value) and value == value // 1:
        return int(value)
    raise InputError(f"{name} is {value!r}: give a whole number")


def check_number(name: str, value: Any) -> None:
    """Refuse what is not a number."""
    if not _is_number(value):
        raise InputError(f"{name} is {value!r}: give a number")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
