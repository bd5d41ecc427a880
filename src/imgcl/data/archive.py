"""Reading arrays out of an ``.npz`` file that somebody else made.

Nothing is unpickled, only the arrays that are asked for are touched, and an array's claimed size is checked
against the bytes in the file before memory is allocated for it: a damaged or hostile file gives a
:class:`~imgcl.errors.GraphError`, not a crash.
"""

from __future__ import annotations

import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from imgcl.errors import DataNotFoundError, GraphError

MAX_HEADER = 10_000  # bytes of an array's description
MAX_RATIO = 1_100  # deflate cannot compress better than 1 : 1032
PLAIN_KINDS = "biufUS"  # numbers and text: everything else needs pickle or has no meaning here
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError),  # of the archive
    *(ValueError, SyntaxError, tokenize.TokenError),  # of an array's description
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

    def describe(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and type of one array, without reading it; checked against the bytes that are there."""
        info = self._member(name)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise GraphError(f"{self.path}: array {name!r} is compressed in a way that numpy does not write")
        with self._damage_is_a_graph_error(f"array {name!r} is damaged"), self._zip.open(info) as stream:
            shape, dtype = _read_header(stream)
            start = stream.tell()
        size = int(np.prod([int(length) for length in shape], dtype=object)) * dtype.itemsize
        possible = info.compress_size <= self.path.stat().st_size and info.file_size <= MAX_RATIO * (
            info.compress_size + 1024
        )
        if not possible or (not dtype.hasobject and size != info.file_size - start):
            raise GraphError(
                f"{self.path}: array {name!r} claims shape {shape} of {dtype}, {size:,} bytes, "
                f"but the file holds {info.compress_size:,} bytes for it"
            )
        return shape, dtype

    def is_plain(self, name: str) -> bool:
        """Whether the array is there and can be read without pickle."""
        return name in self._members and self.describe(name)[1].kind in PLAIN_KINDS

    def read(self, name: str, *, ndim: int | None = None) -> np.ndarray:
        """One array.

        Args:
            name: which.
            ndim: the number of dimensions it must have.

        Raises:
            GraphError: when it is missing, damaged, pickled, or has another number of dimensions.
        """
        shape, dtype = self.describe(name)
        if dtype.kind not in PLAIN_KINDS:
            raise GraphError(
                f"{self.path}: array {name!r} has dtype {dtype}, which is stored as pickled objects or records: "
                "save it as plain numbers or text"
            )
        if ndim is not None and len(shape) != ndim:
            raise GraphError(f"{self.path}: array {name!r} has shape {shape}, expected {ndim} dimension(s)")
        with self._damage_is_a_graph_error(f"array {name!r} is damaged"), self._zip.open(self._member(name)) as stream:
            return np.asarray(npy.read_array(stream, allow_pickle=False, max_header_size=MAX_HEADER))

    def _member(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            found = ", ".join(sorted(self._members)[:12]) or "no arrays at all"
            raise GraphError(f"{self.path}: array {name!r} is missing (the file has {found})")
        return self._members[name]

    @contextmanager
    def _damage_is_a_graph_error(self, what: str) -> Iterator[None]:
        try:
            with warnings.catch_warnings():  # headers of files that Python 2 wrote are fine
                warnings.filterwarnings("ignore", message="Reading `.npy` or `.npz` file required additional")
                yield
        except GraphError:
            raise
        except DAMAGE as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise GraphError(f"{self.path}: {what} ({reason}): get the file again") from error


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"unknown .npy version {version}")
    # version 3 differs from 2 only in allowing UTF-8 field names, and arrays with fields are refused anyway
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream, max_header_size=MAX_HEADER)
    if any(length < 0 for length in shape):
        raise ValueError(f"negative shape {shape}")
    return shape, dtype
