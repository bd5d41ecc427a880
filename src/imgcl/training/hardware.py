"""Where a run computes, and how it treats tiny numbers and freed memory there."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from imgcl._core.errors import InputError

AUTO = "auto"
TYPES = ("cpu", "cuda")  # what the kernels, or torch's own sparse products, compute on
SMALLEST = 2.0**-126  # of the normal single-precision numbers
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of the parameters in malloc.h
KEPT, LARGEST = 2**30, 2**25  # bytes

_COUNTING = threading.Lock()
_trainings = 0  # at once in this process: the last one to end hands the memory back


def device_name(device: str | torch.device | None) -> str:
    """The name of a device, if it is one to compute on; ``None`` stands for ``auto``.

    Example:
        >>> device_name(None), device_name("cuda:1")
        ('auto', 'cuda:1')
    """
    if device is None or device == AUTO:
        return AUTO
    try:
        if torch.device(device).type in TYPES and not isinstance(device, int):
            return str(device)
    except (RuntimeError, TypeError):  # not a name of torch's
        pass
    reason = " (it has no double precision, which losses and views need)" if str(device).startswith("mps") else ""
    raise InputError(f"device {device!r} cannot be used{reason}: choose auto, cpu, cuda or cuda:N")


def resolve_device(device: str | torch.device | None) -> torch.device:
    """``auto`` is the GPU if there is one, else the CPU; anything else is torch's own name."""
    name = device_name(device)
    if name == AUTO:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    chosen, gpus = torch.device(name), torch.cuda.device_count()
    if chosen.type == "cuda" and (chosen.index or 0) >= gpus:
        raise InputError(f"device {name!r} is not available: torch sees {gpus or 'no'} GPU: use `device='auto'`")
    return torch.device("cpu") if chosen.type == "cpu" else chosen


@contextmanager
def denormals_are_zero() -> Iterator[None]:
    """In this thread, and in those it starts, denormal numbers are zero until the end of the block.

    Saturated activations and vanishing gradients make many of them, and a processor takes far longer for each:
    InfoGraph's epochs became slower and slower as its loss came near its end.
    """
    before = float(torch.tensor(SMALLEST, dtype=torch.float32, device="cpu") / 2) == 0
    torch.set_flush_denormal(True)  # False on processors that cannot: nothing changes there
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


@contextmanager
def reuse_freed_memory() -> Iterator[None]:
    """Freed memory, up to a gigabyte, stays in the process until the end of the block; without glibc, no effect.

    Every epoch frees and allocates the same large arrays. glibc hands them back each time, and the system fills each
    page with zeros anew: a fifth of a DGI or GBT epoch. Arrays of up to 32 MB (glibc's limit) are kept.
    """
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is None or not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        yield
        return
    _count(libc, 1)
    try:
        yield
    finally:
        _count(libc, -1)


def _count(libc: ctypes.CDLL, change: int) -> None:
    """Count trainings; the parameters of malloc belong to the process, and change with the first and the last."""
    global _trainings
    with _COUNTING:
        before, _trainings = _trainings, _trainings + change
        if before == 0:
            libc.mallopt(MMAP_THRESHOLD, LARGEST)
            libc.mallopt(TRIM_THRESHOLD, KEPT)
        elif _trainings == 0:
            libc.mallopt(TRIM_THRESHOLD, 2 * LARGEST)  # what glibc itself comes to after freeing arrays of that size
            libc.malloc_trim(0)
