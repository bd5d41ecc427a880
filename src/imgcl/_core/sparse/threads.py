"""Kernels in two forms: one thread, and several."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numba
import torch

from imgcl._core.compiled import njit

# Fast arithmetic except reassociation, which a kernel's serial and parallel form would use differently.
FAST = {"contract", "nsz", "nnan", "ninf", "arcp"}
SAFE_POOLS = ("omp", "tbb")  # numba's third one ends the process when two threads enter it at once
_ONE_AT_A_TIME = threading.Lock()
SMALL_WORK = 1 << 22  # multiplications below which waking the other threads costs more than they save


def threaded(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a kernel whose last argument is the number of threads, once serial and once parallel.

    A parallel region waits for all its threads, even idle ones; on a busy machine that wait is longer than a small
    kernel itself. One thread therefore never enters a parallel region.
    """

    def compile_both(function: Any) -> Callable[..., Any]:
        parallel = njit(cache=True, nogil=True, parallel=True, **options)(function)
        # A name of its own: numba's cache does not tell the two forms of one function apart.
        twin = types.FunctionType(function.__code__, function.__globals__, function.__name__ + "_serial")
        twin.__qualname__ = function.__qualname__ + "_serial"
        twin.__module__ = function.__module__
        serial = njit(cache=True, nogil=True, **options)(twin)

        def call(*arguments: Any) -> Any:
            if arguments[-1] <= 1:
                return serial(*arguments)
            with _turn():
                return parallel(*arguments) if _pool() is not None else _first(parallel, arguments)

        call.__doc__ = function.__doc__
        call.__name__ = function.__name__
        return call

    return compile_both


def _pool() -> str | None:
    """Which pool numba has settled on; ``None`` before its first parallel kernel."""
    try:
        return str(numba.threading_layer())
    except ValueError:
        return None


def _turn() -> AbstractContextManager[Any]:
    """What to hold while a parallel kernel runs."""
    return nullcontext() if _pool() in SAFE_POOLS else _ONE_AT_A_TIME


def _first(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The first parallel kernel, in a thread of its own.

    Starting its pool, numba sets OpenMP's number of threads to its own, and torch has the same OpenMP: in the thread
    that does so, torch would compute with another number of threads from then on.
    """
    with ThreadPoolExecutor(1) as other:
        return other.submit(kernel, *arguments).result()


def threads_for(work: int) -> int:
    """How many threads a kernel with this many multiplications should use."""
    return 1 if work < SMALL_WORK else torch.get_num_threads()
