"""Sizes that no machine of this kind can hold are refused before anything is allocated."""

from __future__ import annotations

from imgcl._core.errors import InputError
from imgcl._core.npy import machine_memory

GIGABYTE = 10**9


def check_memory(what: str, needed: int, remedy: str, available: int | None = None) -> None:
    """Refuse what needs more memory than there is.

    The system would otherwise end the process without a word, some time after it began.

    Args:
        what: what needs the memory, to begin the message with.
        needed: bytes, a lower bound.
        remedy: what to do, to end the message with.
        available: bytes; by default those of the machine.

    Example:
        >>> check_memory("a graph", 1000, "ask for a smaller one")
        >>> check_memory("a graph", 10**15, "ask for a smaller one", available=8 * 10**9)
        Traceback (most recent call last):
        imgcl.InputError: a graph needs at least 1,000,000 GB of memory, there are 8: ask for a smaller one
    """
    limit = machine_memory() if available is None else available
    if needed > limit:
        raise InputError(
            f"{what} needs at least {needed // GIGABYTE:,} GB of memory, there are {limit // GIGABYTE:,}: {remedy}"
        )
