"""Changing a public name without surprising anybody: the old one works, warns, and says what to write instead.

A name that goes is kept for at least one minor version. Every deprecation is listed in :data:`DEPRECATIONS`; a test
fails once the version is reached in which it should have been removed.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class ImgclDeprecationWarning(FutureWarning):
    """Something of imgcl will go; a ``FutureWarning``, so that users see it and not only developers."""


@dataclass(frozen=True)
class Deprecation:
    """One name that will go.

    Attributes:
        name: what is deprecated.
        instead: what to write instead.
        since: version in which the warning came.
        removed_in: version in which the name goes.
    """

    name: str
    instead: str
    since: str
    removed_in: str

    def __str__(self) -> str:
        return f"{self.name} is deprecated since imgcl {self.since} and goes in {self.removed_in}: use {self.instead}"

    def is_due(self, version: str) -> bool:
        """Whether the name should be gone in this version.

        Example:
            >>> Deprecation("old", "new", "0.2", "0.10").is_due("0.9.1")
            False
        """
        return _numbers(version) >= _numbers(self.removed_in)


DEPRECATIONS: list[Deprecation] = []


def deprecated(*, instead: str, since: str, removed_in: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function (or a class, to be called) as one that will go.

    Args:
        instead: what to write instead.
        since: version in which the warning comes.
        removed_in: version in which it goes.

    Example:
        >>> @deprecated(instead="sum", since="0.2", removed_in="0.4")
        ... def total(values):
        ...     return sum(values)
        >>> with warnings.catch_warnings(record=True) as seen:
        ...     warnings.simplefilter("always")
        ...     total([1, 2])
        3
        >>> print(seen[0].message)
        total is deprecated since imgcl 0.2 and goes in 0.4: use sum
        >>> _ = DEPRECATIONS.pop()  # this example is none of the package's
    """

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        notice = _listed(function.__qualname__, instead, since, removed_in)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            _warn(notice)
            return function(*args, **kwargs)

        return call

    return mark


def renamed_argument(
    old: str, new: str, *, since: str, removed_in: str
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a function take a keyword argument under its old name as well.

    Args:
        old: the name that will go.
        new: the name of today.
        since: version in which the warning comes.
        removed_in: version in which the old name goes.

    Example:
        >>> @renamed_argument("k", "n_clusters", since="0.2", removed_in="0.4")
        ... def cluster(n_clusters):
        ...     return n_clusters
        >>> cluster(n_clusters=3)
        3
        >>> _ = DEPRECATIONS.pop()  # this example is none of the package's
    """

    def mark(function: Callable[..., R]) -> Callable[..., R]:
        notice = _listed(f"{old}= of {function.__qualname__}", f"{new}=", since, removed_in)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{function.__qualname__}() got both {old}= and its new name {new}=: give {new}=")
                _warn(notice)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return mark


def _listed(name: str, instead: str, since: str, removed_in: str) -> Deprecation:
    notice = Deprecation(name, instead, since, removed_in)
    DEPRECATIONS.append(notice)
    return notice


def _warn(notice: Deprecation) -> None:
    warnings.warn(str(notice), ImgclDeprecationWarning, stacklevel=3)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
