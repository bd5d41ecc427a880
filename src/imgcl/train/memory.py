"""Keep freed memory for the next epoch instead of handing it back to the system, and in large pages.

Every epoch frees and asks for the same large arrays. glibc hands them back each time, and the system fills each page
with zeros anew: a fifth of a DGI or GBT epoch. Arrays of up to 32 MB (glibc's limit) are kept while training runs.
A sparse product reads rows from all over such an array; in pages of 4 kB the processor looks up a page for nearly
every row.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of the parameters in malloc.h
KEPT, LARGEST = 2**30, 2**25  # bytes
IN_LARGE_PAGES, LARGE_PAGE = 15 * 2**26, 2**21  # bytes
MADV_HUGEPAGE = 14


@contextmanager
def reuse_freed_memory() -> Iterator[None]:
    """Freed memory, up to a gigabyte, stays in the process until the end of the block; without glibc, no effect."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is None or not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        yield
        return
    libc.mallopt(MMAP_THRESHOLD, LARGEST)
    libc.mallopt(TRIM_THRESHOLD, KEPT)
    _grow_in_large_pages(libc)
    try:
        yield
    finally:
        libc.mallopt(TRIM_THRESHOLD, 2 * LARGEST)  # what glibc itself comes to after freeing arrays of that size
        libc.malloc_trim(0)


def _grow_in_large_pages(libc: ctypes.CDLL) -> None:
    """Extend the heap, untouched and so without cost, and ask for large pages there; if there are none, no effect."""
    libc.sbrk.restype = libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes, libc.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    begin = libc.sbrk(0)
    size = LARGEST // 2  # half the size from which on an array lies outside the heap
    blocks = [libc.malloc(size) for _ in range(IN_LARGE_PAGES // size)]
    first, end = -(-begin // LARGE_PAGE) * LARGE_PAGE, libc.sbrk(0)
    if end > first:
        libc.madvise(first, end - first, MADV_HUGEPAGE)
    for block in blocks:
        libc.free(block)
