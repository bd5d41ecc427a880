"""The two layouts of an OGB node data set on disk, read piece by piece.

Most of them are gzipped CSV files; the largest (ogbn-papers100M) are arrays in ``.npz`` files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import DataNotFoundError, InputError
from imgcl.data.archive import Archive
from imgcl.data.importing.database import chunks, quoted_text, run

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
        return [
            int(n) for part in self._read("num-node-list") for n in _whole(part[:, 0], self._paths["num-node-list"])
        ]

    def labels(self) -> Iterator[NDArray[np.float64]]:
        return (part[:, 0].astype(np.float64) for part in self._read("node-label"))

    def features(self) -> Iterator[NDArray[Any]]:
        return (part.astype(np.float32) for part in self._read("node-feat"))

    def edges(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        for part in self._read("edge", columns=2):
            pairs = _whole(part, self._paths["edge"])
            yield pairs[:, 0], pairs[:, 1]

    def _read(self, name: str, columns: int = 1) -> Iterator[NDArray[Any]]:
        path = self._paths[name]
        query = f"SELECT * FROM read_csv({quoted_text(path)}, header = false)"
        for frame in chunks(run(self._connection, query, path), path):
            if frame.shape[1] < columns or not all(kind.kind in "biuf" for kind in frame.dtypes):
                raise InputError(f"{path} is no table of numbers in {columns} column(s): download the data set again")
            missing = bool(frame.isna().to_numpy().any())
            yield frame.to_numpy(dtype=np.float64, na_value=np.nan) if missing else frame.to_numpy()


class ArrayFiles:
    """``data.npz`` with ``edge_index`` (2, E), ``node_feat`` and ``num_nodes_list``; ``node-label.npz``."""

    def __init__(self, raw: Path) -> None:
        self._data, self._labels = raw / "data.npz", raw / "node-label.npz"
        if not self._labels.is_file():
            raise DataNotFoundError(f"{raw} has no {self._labels.name}: give the directory of an OGB node data set")

    def node_counts(self) -> list[int]:
        return [int(n) for part in _pieces(self._data, "num_nodes_list") for n in _whole(part.reshape(-1), self._data)]

    def labels(self) -> Iterator[NDArray[np.float64]]:
        for part in _pieces(self._labels, "node_label"):
            yield (part if part.ndim == 1 else part[:, 0]).astype(np.float64)

    def features(self) -> Iterator[NDArray[Any]]:
        return (
            part.astype(np.float16 if part.dtype == np.float16 else np.float32)
            for part in _pieces(self._data, "node_feat")
        )

    def edges(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        for begin, end in zip(*(_pieces(self._data, "edge_index", row) for row in (0, 1)), strict=True):
            yield _whole(begin, self._data), _whole(end, self._data)


def _pieces(path: Path, name: str, row: int | None = None) -> Iterator[NDArray[Any]]:
    """Some rows at a time of an array in an ``.npz`` file, or some entries of one row of a matrix; never all."""
    with Archive(path) as archive, archive.stream(name) as (header, stream):
        shape, dtype = header.shape, header.dtype
        if dtype.kind not in "biuf" or header.column_major or len(shape) not in ((1, 2) if row is None else (2,)):
            raise InputError(f"{path}: {name} has shape {shape} of {dtype}: expected numbers, row by row")
        if row is not None:
            if shape[0] != 2:
                raise InputError(f"{path}: {name} has shape {shape}: expected two rows, where edges begin and end")
            stream.seek(row * shape[1] * dtype.itemsize, 1)
            shape = shape[1:]
        width = int(np.prod(shape[1:], dtype=np.int64))
        step = max(1, VALUES_AT_ONCE // max(1, width))
        for begin in range(0, shape[0], step):
            rows = min(step, shape[0] - begin)
            content = _exactly(stream.read, rows * width * dtype.itemsize)
            yield np.frombuffer(content, dtype).reshape(rows, *shape[1:])


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    content = read(size)
    if len(content) != size:
        raise EOFError("it was cut short")
    return content


def _whole(values: NDArray[Any], path: str | Path) -> NDArray[np.int64]:
    """The values as integers; anything else is an error, not rounded."""
    with np.errstate(invalid="ignore"):
        numbers = values.astype(np.int64)
    if not (numbers == values).all():
        raise InputError(f"{path} holds {values[numbers != values][0]} where a whole number belongs")
    return numbers
