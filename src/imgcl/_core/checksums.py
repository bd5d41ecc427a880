"""JSON and ``.npy`` files that carry their own checksum: damage is found when they are read.

The checksum lies in the file itself, so that the two are never of different moments: in JSON as one more key, in
``.npy`` behind the array, where readers of that format have stopped reading.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from imgcl._core.documents import read_json
from imgcl._core.errors import RunError
from imgcl._core.files import atomic_path, save_array, write_json
from imgcl._core.npy import read_header
from imgcl._core.words import one_line

DIGEST = 16  # bytes
MARK = b"\nblake2b "
TRAILER = len(MARK) + 2 * DIGEST + 1
CHUNK = 1 << 24  # bytes hashed at once
MAPPED_FROM = 1 << 27  # bytes


def hasher(*parts: bytes | memoryview) -> hashlib.blake2b:
    """A fresh hash, fed with these bytes."""
    digest = hashlib.blake2b(digest_size=DIGEST)
    for part in parts:
        digest.update(part)
    return digest


def json_checksum(content: Any) -> str:
    """The checksum of a JSON value, however it is written down.

    Example:
        >>> json_checksum({"b": 1, "a": [1.5]}) == json_checksum({"a": [1.5], "b": 1})
        True
    """
    return hasher(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def write_checked_json(path: str | Path, content: dict[str, Any], kind: str) -> None:
    """Write a JSON object atomically, with its format and its checksum.

    Args:
        path: of the file.
        content: the object; the keys ``format`` and ``checksum`` are added.
        kind: name and version of the format, such as ``imgcl-run-2``.
    """
    whole = {"format": kind, **content}
    # Keys that JSON would turn into text, and values into others, must be what a reader will see.
    seen = json.loads(json.dumps(whole))
    write_json(path, {**whole, "checksum": json_checksum(seen)})


def read_checked_json(path: Path, kind: str, remedy: str, *, largest: int | None = None) -> dict[str, Any]:
    """Read what :func:`write_checked_json` wrote; files from before there were checksums have neither added key.

    Args:
        path: of the file.
        kind: the format that is understood.
        remedy: what to do when the file is damaged, for the message.
        largest: bytes that it may have; by default what fits into memory.

    Raises:
        RunError: when the file is damaged, too large or of another format.
        FileNotFoundError: when it is not there.
    """
    try:
        content = read_json(path, largest=largest)
    except ValueError as error:
        raise RunError(f"{path} is damaged ({one_line(error)}): {remedy}") from None
    if not isinstance(content, dict):
        raise RunError(f"{path} is damaged (not an object): {remedy}")
    found, claimed = content.pop("format", None), content.pop("checksum", None)
    if found is None and claimed is None:
        return content
    if isinstance(found, str):
        check_format(path, found, kind)
    try:
        fits = claimed == json_checksum({"format": found, **content})
    except ValueError:  # half a character, which no writer can have hashed
        fits = False
    if not fits:
        raise RunError(f"{path} is damaged (its checksum does not fit): {remedy}")
    return content


def check_format(path: Path, found: str, kind: str) -> None:
    """Refuse a file of another format, saying which program to use."""
    if found == kind:
        return
    family, _, version = kind.rpartition("-")
    number = found.removeprefix(family + "-")
    newer = number.isdecimal() and len(number) < 9 and int(number) > int(version)
    remedy = "install a newer imgcl" if newer else "make it again with this version"
    raise RunError(f"{path} has format {found!r}, this version reads {kind!r}: {remedy}")


def write_checked_array(path: str | Path, array: np.ndarray) -> None:
    """Write an ``.npy`` file atomically, with its checksum behind the array."""
    with atomic_path(path) as temporary, open(temporary, "wb") as handle:
        digest = hasher()
        save_array(_Both(handle, digest), array)
        handle.write(MARK + digest.hexdigest().encode() + b"\n")


def read_checked_array(path: Path, remedy: str) -> NDArray[Any]:
    """Read an ``.npy`` file, or map it when it is large; a size that the file does not have is never allocated.

    Args:
        path: of the file, with or without a checksum.
        remedy: what to do when it is damaged, for the message.

    Raises:
        RunError: when the file is damaged.
        FileNotFoundError: when it is not there.
    """
    try:
        return _read(path)
    except ValueError as error:
        raise RunError(f"{path} is damaged ({one_line(error)}): {remedy}") from None


def file_checksums(folder: Path) -> dict[str, str]:
    """The checksum of every file below a directory, by its path in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): file_checksum(path) for path in files}


def check_files(folder: Path, claimed: dict[str, str], remedy: str) -> None:
    """Refuse a directory whose files are not those that :func:`file_checksums` saw; further ones do not matter.

    Raises:
        RunError: naming the first file that is another one.
        FileNotFoundError: when one is not there.
        ValueError: for a path that leads out of the directory.
    """
    for name, checksum in claimed.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"file {name!r}")
        if file_checksum(folder / path) != checksum:
            raise RunError(f"{folder / path} is not the file that was saved here: {remedy}")


def file_checksum(path: Path) -> str:
    """The checksum of a file's bytes."""
    digest = hasher()
    with open(path, "rb") as handle:
        while data := handle.read(CHUNK):
            digest.update(data)
    return digest.hexdigest()


class _Both:
    """Writes to a file and a hash."""

    def __init__(self, handle: BinaryIO, digest: hashlib.blake2b) -> None:
        self.handle, self.digest = handle, digest

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self.handle.write(data)


def _read(path: Path) -> NDArray[Any]:
    with open(path, "rb") as handle:
        header, begin = read_header(handle), handle.tell()
        if not header.plain:
            raise ValueError(f"values of type {header.dtype}")
        rest = os.fstat(handle.fileno()).st_size - begin - header.size
        if rest not in (0, TRAILER):
            many = f"{-rest:,} bytes are missing" if rest < 0 else f"{rest:,} bytes too many"
            raise ValueError(f"{many} for shape {header.shape} of {header.dtype}")
        if rest:
            _compare(handle, begin + header.size)
        order: Any = "F" if header.column_major else "C"
        if header.size >= MAPPED_FROM:  # changes of the array stay in memory
            return np.memmap(path, header.dtype, "c", begin, header.shape, order)
        handle.seek(begin)
        return np.fromfile(handle, header.dtype, header.count).reshape(header.shape, order=order)


def _compare(handle: BinaryIO, length: int) -> None:
    """Compare the checksum at the end of a file with that of everything before it."""
    digest = hasher()
    handle.seek(0)
    for begin in range(0, length, CHUNK):
        digest.update(handle.read(min(CHUNK, length - begin)))
    if handle.read() != MARK + digest.hexdigest().encode() + b"\n":
        raise ValueError("its checksum does not fit")
