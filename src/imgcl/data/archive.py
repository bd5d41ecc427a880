"""Reading arrays out of an ``.npz`` file from any source.

Nothing is unpickled or unpacked to disk, only the arrays that are needed are read, and what they claim to hold
is checked against the bytes in the file and the memory of the machine before any is allocated: a damaged or hostile
file gives a :class:`~imgcl.GraphError`, not a crash.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from numpy.lib import format as npy

from imgcl._core.errors import DataNotFoundError, GraphError
from imgcl._core.npy import MAX_HEADER, Header, memory_limit, read_header
from imgcl._core.words import one_line

MAX_RATIO = 1_100  # deflate cannot compress better than 1 : 1032
BOMB_RATIO, BOMB_SIZE = 200, 1 << 30  # so many times the file, and so many bytes: no graph, but a decompression bomb
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError),  # of the archive
    *(ValueError, OverflowError, MemoryError),  # of an array
)


class Archive:
    """The arrays of one ``.npz`` file, read one at a time.

    Example:
        >>> import tempfile, numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/file.npz", labels=np.arange(3))
        ...     with Archive(f"{folder}/file.npz") as archive:
        ...         archive.names, archive.read("labels").tolist()
        (('labels',), [0, 1, 2])
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise DataNotFoundError(f"there is no file {self.path}")
        with self._damage_is_a_graph_error("is not a readable .npz file"):
            self._zip = zipfile.ZipFile(self.path)
        self._claimed: dict[str, int] = {}  # bytes of the arrays read so far
        self._members = {
            info.filename.removesuffix(".npy"): info
            for info in self._zip.infolist()
            if info.filename.endswith(".npy") and not info.is_dir()
        }

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays in the file."""
        return tuple(self._members)

    def describe(self, name: str) -> Header:
        """What one array is, without reading it; checked against the bytes that are there."""
        info = self._member(name)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise GraphError(f"{self.path}: array {name!r} is compressed in a way that numpy does not write")
        with self._damage_is_a_graph_error(f"array {name!r} is damaged"), self._zip.open(info) as stream:
            header = read_header(stream)
            start = stream.tell()
        possible = info.compress_size <= self.path.stat().st_size and info.file_size <= MAX_RATIO * (
            info.compress_size + 1024
        )
        if not possible or (header.plain and header.size != info.file_size - start):
            raise GraphError(
                f"{self.path}: array {name!r} claims shape {header.shape} of {header.dtype}, {header.size:,} bytes, "
                f"but the file holds {info.compress_size:,} bytes for it"
            )
        return header

    def is_plain(self, name: str) -> bool:
        """Whether the array is there and can be read without pickle."""
        return name in self._members and self.describe(name).plain

    def read(self, name: str, *, ndim: int | None = None) -> np.ndarray:
        """One array.

        Args:
            name: which.
            ndim: the number of dimensions it must have.

        Raises:
            GraphError: when it is missing, damaged, pickled, or has another number of dimensions.
        """
        header = self._plain(name)
        if ndim is not None and len(header.shape) != ndim:
            raise GraphError(f"{self.path}: array {name!r} has shape {header.shape}, expected {ndim} dimension(s)")
        self._claim(name, header.size)
        with self._damage_is_a_graph_error(f"array {name!r} is damaged"), self._zip.open(self._member(name)) as stream:
            return np.asarray(npy.read_array(stream, allow_pickle=False, max_header_size=MAX_HEADER))

    @contextmanager
    def stream(self, name: str) -> Iterator[tuple[Header, IO[bytes]]]:
        """One array of plain values as a stream that stands at the first value, for arrays larger than memory."""
        header = self._plain(name)
        with self._damage_is_a_graph_error(f"array {name!r} is damaged"), self._zip.open(self._member(name)) as stream:
            read_header(stream)
            yield header, stream

    def _plain(self, name: str) -> Header:
        header = self.describe(name)
        if not header.plain:
            raise GraphError(
                f"{self.path}: array {name!r} has dtype {header.dtype}, which is stored as pickled objects or records: "
                "save it as plain numbers or text"
            )
        return header

    def _claim(self, name: str, size: int) -> None:
        """Refuse to read more than the machine can hold, or than a file of this size says."""
        self._claimed[name] = size
        total, limit, there = sum(self._claimed.values()), memory_limit(), self.path.stat().st_size
        if total > limit:
            raise GraphError(
                f"{self.path}: its arrays up to {name!r} take {total / 1e9:,.1f} GB, more than half of the memory here "
                f"({limit / 1e9:,.1f} GB): write them as tables and use imgcl import, which keeps a graph on disk"
            )
        if total > max(BOMB_SIZE, BOMB_RATIO * there):
            raise GraphError(
                f"{self.path}: its {there / 1e6:,.1f} MB unpack to {total / 1e9:,.1f} GB, as in a decompression bomb: "
                "if this is meant, save the file with numpy.savez instead of savez_compressed"
            )

    def _member(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            found = ", ".join(sorted(self._members)[:12]) or "no arrays at all"
            raise GraphError(f"{self.path}: array {name!r} is missing (the file has {found})")
        return self._members[name]

    @contextmanager
    def _damage_is_a_graph_error(self, what: str) -> Iterator[None]:
        try:
            yield
        except GraphError:
            raise
        except DAMAGE as error:
            raise GraphError(f"{self.path}: {what} ({one_line(error)}): get the file again") from error
