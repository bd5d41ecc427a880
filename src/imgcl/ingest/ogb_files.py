"""The two layouts of an OGB node data set on disk, read piece by piece.

Most of them are gzipped CSV files; the largest (ogbn-papers100M) are arrays in ``.npz`` files.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from imgcl.errors import DataNotFoundError, InputError
from imgcl.ingest.database import chunks, quoted_text, run

VALUES_AT_ONCE = 1 << 22


class OGBFiles(Protocol):
    """What an import reads of a data set, in pieces of some rows."""

    def node_counts(self) -> list[int]: ...

    def labels(self) -> Iterator[NDArray[np.float64]]: ...

    def features(self) -> Iterator[NDArray[Any]]: ...

    def edges(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]: ...


def open_ogb(directory: Path, connection: Any) -> OGBFiles:
    """The files of the data set in a directory, in whichever layout they are."""
    raw = directory / "raw" if (directory / "raw").is_dir() else directory
    return ArrayFiles(raw) if (raw / "data.npz").is_file() else TableFiles(raw, connection)


class TableFiles:
    """``edge``, ``node-feat``, ``node-label`` and ``num-node-list`` as CSV files without a header."""

    def __init__(self, raw: Path, connection: Any) -> None:
        self._connection, self._paths = connection, {}
        for name in ("edge", "node-feat", "node-label", "num-node-list"):
            candidates = (raw / f"{name}.csv.gz", raw / f"{name}.csv")
            file = next((candidate for candidate in candidates if candidate.is_file()), None)
            if file is None:
                raise DataNotFoundError(
                    f"{raw} has no {name}.csv.gz (nor data.npz): give the directory of an OGB node data set (ogbn_…)"
                )
            self._paths[name] = str(file)

    def node_counts(self) -> list[int]:
        return [int(count) for part in self._read("num-node-list") for count in part[:, 0]]

    def labels(self) -> Iterator[NDArray[np.float64]]:
        return (part[:, 0] for part in self._read("node-label"))

    def features(self) -> Iterator[NDArray[Any]]:
        return (part.astype(np.float32) for part in self._read("node-feat"))

    def edges(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        return ((part[:, 0], part[:, 1]) for part in self._read("edge", np.int64))

    def _read(self, name: str, dtype: Any = np.float64) -> Iterator[NDArray[Any]]:
        path = self._paths[name]
        query = f"SELECT * FROM read_csv({quoted_text(path)}, header = false)"
        for frame in chunks(run(self._connection, query, path), path):
            yield frame.to_numpy(dtype=dtype)


class ArrayFiles:
    """``data.npz`` with ``edge_index`` (2, E), ``node_feat`` and ``num_nodes_list``; ``node-label.npz``."""

    def __init__(self, raw: Path) -> None:
        self._data, self._labels = raw / "data.npz", raw / "node-label.npz"
        if not self._labels.is_file():
            raise DataNotFoundError(f"{raw} has no {self._labels.name}: give the directory of an OGB node data set")

    def node_counts(self) -> list[int]:
        return [int(count) for part in _pieces(self._data, "num_nodes_list") for count in part]

    def labels(self) -> Iterator[NDArray[np.float64]]:
        return (part.reshape(len(part), -1)[:, 0].astype(np.float64) for part in _pieces(self._labels, "node_label"))

    def features(self) -> Iterator[NDArray[Any]]:
        return (
            part.astype(np.float16 if part.dtype == np.float16 else np.float32)
            for part in _pieces(self._data, "node_feat")
        )

    def edges(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        halves = (_pieces(self._data, "edge_index", row) for row in (0, 1))
        return zip(*halves, strict=True)


def _pieces(path: Path, name: str, row: int | None = None) -> Iterator[NDArray[Any]]:
    """Some rows at a time of an array in an ``.npz`` file, or some entries of one row of a matrix; never all."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as handle:
            shape, dtype = _header(handle)
            if row is not None:
                handle.seek(row * shape[1] * dtype.itemsize, 1)
                shape = shape[1:]
            width = int(np.prod(shape[1:], dtype=np.int64))
            step = max(1, VALUES_AT_ONCE // max(1, width))
            for begin in range(0, shape[0], step):
                rows = min(step, shape[0] - begin)
                content = _exactly(handle.read, rows * width * dtype.itemsize)
                yield np.frombuffer(content, dtype).reshape(rows, *shape[1:])
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile, OSError) as error:
        raise InputError(f"{path} cannot be read ({error}): download the data set again") from None


def _header(handle: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(handle)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, column_major, dtype = read(handle)
    if column_major or dtype.hasobject:
        raise ValueError("its arrays are not plain numbers in rows")
    return shape, dtype


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    content = read(size)
    if len(content) != size:
        raise EOFError("it was cut short")
    return content
