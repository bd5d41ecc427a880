"""Headers of ``.npy`` data from any source: sizes are checked before memory is allocated."""

from __future__ import annotations

import math
import os
import tokenize
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from imgcl._core.quiet import without_warning
from imgcl._core.words import one_line

MAX_HEADER = 10_000  # bytes
PLAIN_KINDS = "biufUS"  # numbers and text: everything else needs pickle or has no meaning here
MEMORY_SHARE = 0.5  # of the machine's memory: what is read is also copied and converted
UNKNOWN_MEMORY = 16 << 30  # bytes, where the system does not tell
CGROUP = Path("/sys/fs/cgroup/memory.max")  # what a container may use, if it is less
DAMAGE = (EOFError, SyntaxError, TypeError, tokenize.TokenError, RecursionError, OverflowError, MemoryError)


@dataclass(frozen=True)
class Header:
    """What the header of an array claims."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    column_major: bool

    @property
    def count(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes of the values."""
        return self.count * self.dtype.itemsize

    @property
    def plain(self) -> bool:
        """Whether the values are numbers or text, which need no pickle."""
        return self.dtype.kind in PLAIN_KINDS


def read_header(stream: IO[bytes]) -> Header:
    """Read the header of ``.npy`` data; the stream then stands at the first value.

    Raises:
        ValueError: when there is no such header, or it claims a shape that no machine could hold.

    Example:
        >>> import io
        >>> stream = io.BytesIO()
        >>> np.save(stream, np.zeros((2, 3), dtype=np.float32), allow_pickle=False)
        >>> _ = stream.seek(0)
        >>> read_header(stream)
        Header(shape=(2, 3), dtype=dtype('float32'), column_major=False)
    """
    try:
        with without_warning("Reading `.npy` or `.npz` file required additional"):  # headers that Python 2 wrote
            version = npy.read_magic(stream)
            if version not in ((1, 0), (2, 0), (3, 0)):
                raise ValueError(f"unknown .npy version {version}")
            # Version 3 differs from 2 only in the names of fields, and arrays with fields are refused anyway.
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, column_major, dtype = read(stream, max_header_size=MAX_HEADER)
    except DAMAGE as error:
        raise ValueError(one_line(error)) from None
    header = Header(tuple(int(length) for length in shape), dtype, column_major)
    if any(length < 0 for length in shape):
        raise ValueError(f"negative shape {header.shape}"[:200])
    if max(header.size, header.count) >= 2**63:
        raise ValueError("a shape that no machine could hold")
    if header.count and not dtype.itemsize:
        raise ValueError(f"values of no size in shape {header.shape}")
    return header


def map_array(path: Path) -> NDArray[Any]:
    """The array of an ``.npy`` file, mapped and not read; the file must be just as long as its header says.

    Raises:
        ValueError: when the file has no array of plain values, or another length.
    """
    with open(path, "rb") as stream:
        header = read_header(stream)
        begin, end = stream.tell(), os.fstat(stream.fileno()).st_size
    if not header.plain:
        raise ValueError(f"values of type {header.dtype}, which are pickled objects or records")
    if end - begin != header.size:
        raise ValueError(
            f"{header.size:,} bytes claimed by shape {header.shape} of {header.dtype}, {end - begin:,} there"
        )
    order: Any = "F" if header.column_major else "C"
    if not header.size:  # an empty file cannot be mapped
        return np.empty(header.shape, header.dtype, order)
    return np.memmap(path, header.dtype, "r", begin, header.shape, order)


def memory_limit() -> int:
    """Bytes that the arrays of one file may take: half of the machine's memory, or of the container's."""
    return int(MEMORY_SHARE * machine_memory())


def machine_memory() -> int:
    """Bytes of memory that the machine has, or that its container may use."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        total = UNKNOWN_MEMORY
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        total = min(total, int(CGROUP.read_text()))
    return total
