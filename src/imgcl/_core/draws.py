"""Which generator the networks of a training draw from: one of its own, in its own thread.

torch's global generator belongs to the process. Two trainings that borrow it at the same time take each other's
numbers, and the caller's stream moves. Our layers therefore ask :func:`source` for their generator. Modules from
elsewhere know the global one only: for those it is lent to one training at a time, under a lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache

import torch
from torch import nn

_SOURCE: ContextVar[torch.Generator | None] = ContextVar("source", default=None)  # a new thread begins with None
_GLOBAL = threading.RLock()  # held by the training that torch's global generator is lent to

OURS = ("imgcl.", "torch.nn.modules.")
RANDOM = (nn.modules.dropout._DropoutNd, nn.RReLU)  # modules of torch that draw in training


def source() -> torch.Generator | None:
    """The generator to draw weights and dropout from; ``None``: torch's global one."""
    return _SOURCE.get()


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """In this thread our layers draw from the generator until the end of the block.

    Example:
        >>> with drawing_from(torch.Generator().manual_seed(1)):
        ...     drawn = torch.rand(1, generator=source())
        >>> bool(drawn == torch.rand(1, generator=torch.Generator().manual_seed(1)))
        True
    """
    token = _SOURCE.set(generator)
    try:
        yield
    finally:
        _SOURCE.reset(token)


@contextmanager
def lent_globally(generator: torch.Generator) -> Iterator[None]:
    """Torch's global generator gives the numbers of this one until the end of the block, then goes on as before.

    The default type of new tensors is single precision meanwhile. Both belong to the process: trainings wait for each
    other here, but threads of the caller that draw at the same time get numbers of this generator.
    """
    with _GLOBAL, _default_dtype(torch.float32):
        outer = torch.get_rng_state()
        torch.set_rng_state(generator.get_state())
        token = _SOURCE.set(None)  # our layers take their turn in the same stream
        try:
            yield
        finally:
            _SOURCE.reset(token)
            generator.set_state(torch.get_rng_state())
            torch.set_rng_state(outer)


def lent_source() -> AbstractContextManager[None]:
    """While the block lasts, modules from elsewhere draw what our layers would draw, through the global generator."""
    generator = source()
    return nullcontext() if generator is None else lent_globally(generator)


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    outer = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(outer)


@cache
def is_ours(kind: type[nn.Module]) -> bool:
    """Whether modules of this class draw from :func:`source`, or not at all.

    Example:
        >>> is_ours(nn.Linear), is_ours(nn.Dropout)
        (True, False)
    """
    return f"{kind.__module__}.".startswith(OURS) and not issubclass(kind, RANDOM)


def draws_of(kinds: Iterable[type[nn.Module]], generator: torch.Generator) -> AbstractContextManager[None]:
    """While the block lasts, modules of these classes draw from the generator.

    If all are ours, in this thread only; see :func:`lent_globally` for others.
    """
    return drawing_from(generator) if all(map(is_ours, kinds)) else lent_globally(generator)  # type: ignore[arg-type]
