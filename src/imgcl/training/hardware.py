"""Where a run computes, and how it treats tiny numbers and freed memory there."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from imgcl._core.errors import InputError

SMALLEST = 2.0**-126  # of the normal single-precision numbers
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of the parameters in malloc.h
KEPT, LARGEST = 2**30, 2**25  # bytes


def resolve_device(device: str) -> torch.device:
    """``auto`` is the GPU if there is one, else the CPU; anything else is torch's own name."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise InputError(f"unknown device {device!r}: use auto, cpu, cuda or cuda:N") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device {device!r} was asked for, but torch sees no GPU: use --device auto")
    return chosen


@contextmanager
def denormals_are_zero() -> Iterator[None]:
    """In this thread, and in those it starts, denormal numbers are zero until the end of the block.

    Saturated activations and vanishing gradients make many of them, and a processor takes far longer for each:
    InfoGraph's epochs became slower and slower as its loss came near its end.
    """
    before = float(torch.tensor(SMALLEST) / 2) == 0
    torch.set_flush_denormal(True)  # False on processors that cannot: nothing changes there
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


@contextmanager
def reuse_freed_memory() -> Iterator[None]:
    """Freed memory, up to a gigabyte, stays in the process until the end of the block; without glibc, no effect.

    Every epoch frees and asks for the same large arrays. glibc hands them back each time, and the system fills each
    page with zeros anew: a fifth of a DGI or GBT epoch. Arrays of up to 32 MB (glibc's limit) are kept.
    """
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is None or not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        yield
        return
    libc.mallopt(MMAP_THRESHOLD, LARGEST)
    libc.mallopt(TRIM_THRESHOLD, KEPT)
    try:
        yield
    finally:
        libc.mallopt(TRIM_THRESHOLD, 2 * LARGEST)  # what glibc itself comes to after freeing arrays of that size
        libc.malloc_trim(0)
