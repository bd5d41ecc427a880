"""Writing a graph store: arrays one by one into a hidden directory, which gets its name only when it is whole."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import GraphError
from imgcl._core.files import remove_stale, reserve, save_array, sync_directory, temporary_path
from imgcl.data.store import manifest
from imgcl.data.store.names import encode_names
from imgcl.data.store.reader import assemble
from imgcl.graph import Graph
from imgcl.graph.checks import Cleaning
from imgcl.graph.relations import Relation

ROWS_AT_ONCE = 1 << 16


class StoreWriter:
    """Writes a store piece by piece; nothing of the target is visible until :meth:`commit`.

    Args:
        path: of the store; it must not exist yet.

    Example:
        >>> import tempfile
        >>> from imgcl.data.store import open_store
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with StoreWriter(f"{folder}/pair.store") as writer:
        ...         writer.array("indptr", np.array([0, 1, 2]))
        ...         writer.array("indices", np.array([1, 0], dtype=np.int32))
        ...         writer.create("x", (2, 3), np.float32)[:] = 1
        ...         path = writer.commit("pair")
        ...     open_store(path)
        Graph('pair', nodes=2, edges=1, features=3, classes=0)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        remove_stale(self.path)
        if os.path.lexists(self.path):
            raise GraphError(f"{self.path} already exists: choose another path, or delete it first")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.folder, self._scratch = temporary_path(self.path), temporary_path(self.path, "scratch")
        self.folder.mkdir()
        self._names: list[str] = []

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)  # nothing is left of it after a commit
        shutil.rmtree(self._scratch, ignore_errors=True)

    def scratch(self) -> Path:
        """A directory on the store's disk for what is needed until the store is written."""
        self._scratch.mkdir(exist_ok=True)
        return self._scratch

    def file(self, name: str) -> Path:
        """Where the array of this name will lie; the caller writes an ``.npy`` file there."""
        if name not in self._names:
            self._names.append(name)
        return self.folder / f"{name}.npy"

    def create(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """A memory-mapped array to fill."""
        path = self.file(name)
        if 0 in shape:  # an empty file cannot be mapped
            np.save(path, np.empty(shape, dtype), allow_pickle=False)
            return np.empty(shape, dtype)
        size, free = math.prod(shape) * np.dtype(dtype).itemsize, shutil.disk_usage(self.folder).free
        if (
            size > free
        ):  # a file of that size, mostly holes, could be made, and would kill the process when it is filled
            raise GraphError(
                f"no space left for {self.path}: {name} takes {size:,} bytes, {free:,} are free; free some space"
            )
        array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
        with open(path, "rb+") as handle:
            reserve(handle.fileno(), path.stat().st_size)
        return array

    def array(self, name: str, values: NDArray[Any]) -> None:
        """Write a whole array."""
        with open(self.file(name), "wb") as handle:
            save_array(handle, np.ascontiguousarray(values))

    def names(self, what: str, names: Iterable[str]) -> None:
        """Write names; ``what`` is ``node`` or ``feature``."""
        text, ends = encode_names(names)
        self.array(f"{what}_names", text)
        self.array(f"{what}_names_ends", ends)

    def commit(
        self,
        name: str,
        *,
        class_names: Sequence[str] | None = None,
        cleaning: Cleaning | None = None,
        relations: Sequence[str] = (),
        notes: Mapping[str, str] | None = None,
        time: tuple[str, bool] = ("time", False),
    ) -> Path:
        """Check that the arrays make a graph, write the manifest and give the directory its name."""
        arrays = {array: manifest.StoredArray.describe(self.file(array)) for array in self._names}
        facts = manifest.Manifest(
            name,
            "",
            arrays,
            None if class_names is None else tuple(class_names),
            asdict(cleaning or Cleaning()),
            tuple(relations),
            dict(notes or {}),
            *time,
        )
        graph = assemble(self.folder, facts)
        whole = replace(facts, fingerprint=graph.fingerprint)
        (self.folder / manifest.FILE).write_text(whole.to_json(), encoding="utf-8")
        for file in self.folder.iterdir():
            with open(file, "rb+") as handle:
                os.fsync(handle.fileno())
        sync_directory(self.folder)
        try:
            os.rename(self.folder, self.path)
        except OSError:
            if not self.path.exists():
                raise
            raise GraphError(f"{self.path} was made by another process in the meantime: it is left as it is") from None
        sync_directory(self.path.parent)
        return self.path


def write_store(graph: Graph, path: str | Path) -> Path:
    """Write a graph as a store.

    Args:
        graph: any graph; float16 features stay float16.
        path: of the directory to create.

    Example:
        >>> import tempfile
        >>> from imgcl.data import digits_graph
        >>> from imgcl.data.store import open_store
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     open_store(write_store(digits_graph(), f"{folder}/digits.store"))
        Graph('digits', nodes=1797, edges=12339, features=64, classes=10)
    """
    with StoreWriter(path) as writer:
        _write_edges(writer, "", graph)
        if isinstance(graph.x, np.ndarray):
            _copy(writer, "x", graph.x)
        else:
            writer.array("x_indptr", np.asarray(graph.x.indptr, dtype=np.int64))
            _copy(writer, "x_indices", graph.x.indices)
            _copy(writer, "x_data", graph.x.data)
            writer.array("x_shape", np.asarray(graph.x.shape, dtype=np.int64))
        if graph.y is not None:
            writer.array("y", np.asarray(graph.y, dtype=np.int64))
        time = graph.node_time
        if time is not None:
            writer.array("node_time", np.asarray(time.values, dtype=np.float64))
        for what, names in (("node", graph.node_names), ("feature", graph.feature_names)):
            if names is not None:
                writer.names(what, names)
        for i, relation in enumerate(graph.relations):
            _write_edges(writer, f"relation_{i}_", relation)
        if graph.received is not None:
            _write_edges(writer, "received_", graph.received)
        return writer.commit(
            graph.name,
            class_names=graph.class_names,
            cleaning=graph.cleaning,
            relations=[relation.name for relation in graph.relations],
            notes=graph.notes,
            time=("time", False) if time is None else (time.column, time.dates),
        )


def _write_edges(writer: StoreWriter, prefix: str, edges: Graph | Relation) -> None:
    writer.array(f"{prefix}indptr", np.asarray(edges.indptr, dtype=np.int64))
    _copy(writer, f"{prefix}indices", edges.indices)
    if edges.edge_weight is not None:
        _copy(writer, f"{prefix}edge_weight", edges.edge_weight)


def _copy(writer: StoreWriter, name: str, array: NDArray[Any]) -> None:
    target = writer.create(name, array.shape, array.dtype)
    for rows in _slices(len(array)):
        target[rows] = array[rows]


def _slices(n: int) -> Iterator[slice]:
    for start in range(0, n, ROWS_AT_ONCE):
        yield slice(start, start + ROWS_AT_ONCE)
