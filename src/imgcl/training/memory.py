"""Keep freed memory for the next epoch instead of handing it back to the system.

Every epoch frees and asks for the same large arrays. glibc hands them back each time, and the system fills each page
with zeros anew: a fifth of a DGI or GBT epoch. Arrays of up to 32 MB (glibc's limit) are kept while training runs.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of the parameters in malloc.h
KEPT, LARGEST = 2**30, 2**25  # bytes


@contextmanager
def reuse_freed_memory() -> Iterator[None]:
    """Freed memory, up to a gigabyte, stays in the process until the end of the block; without glibc, no effect."""
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
