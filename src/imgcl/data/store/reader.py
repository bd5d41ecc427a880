"""Opening a graph store: arrays are mapped, not read, so it takes the same instant at any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from imgcl._core.checksums import file_checksum
from imgcl._core.errors import GraphError
from imgcl._core.npy import map_array
from imgcl.data.store.checks import check_content, layout_problem, relation_problem
from imgcl.data.store.manifest import FILE, Manifest, StoredArray
from imgcl.data.store.names import StoredNames
from imgcl.graph import Graph
from imgcl.graph.checks import Cleaning
from imgcl.graph.relations import Relation
from imgcl.graph.time import NodeTime

VERIFY_BELOW = 1 << 26  # bytes: a store this small is checked completely whenever it is opened


def is_store(path: str | Path) -> bool:
    """Whether the path is the directory of a graph store."""
    return (Path(path) / FILE).is_file()


def open_store(path: str | Path, *, verify: bool | None = None) -> Graph:
    """Open a graph store; nothing is read but the manifest and the arrays' headers.

    Args:
        path: of the directory.
        verify: read every byte, compare checksums and check every index; by default only stores below 64 MB. Sizes,
            shapes, types and the manifest's own checksum are always compared, so a store that was cut short is never
            opened. Verify a large store from another source once: compiled code relies on its indices.

    Raises:
        GraphError: when the store is incomplete, damaged or of another version.
    """
    directory = Path(path).expanduser()
    manifest = Manifest.read(directory)
    for name, entry in manifest.arrays.items():
        file = _array_file(directory, name)
        if not file.is_file():
            raise GraphError(f"{directory} is incomplete: {file.name} is missing; import the graph again")
        if file.stat().st_size != entry.bytes:
            raise GraphError(
                f"{file} has {file.stat().st_size:,} bytes instead of {entry.bytes:,}: it was cut short or changed; "
                "import the graph again"
            )
    size = sum(entry.bytes for entry in manifest.arrays.values())
    verified = size < VERIFY_BELOW if verify is None else verify
    if verified:
        _compare_checksums(directory, manifest)
    graph = assemble(directory, manifest)
    if verified:
        check_content(directory, graph)
    graph.__dict__["fingerprint"] = manifest.fingerprint  # known since the store was written: no need to read it all
    return graph


def verify_store(path: str | Path) -> None:
    """Read every byte of a store, compare it with its checksums, and check every index.

    Raises:
        GraphError: naming the first array that differs, or what makes it no graph.
    """
    open_store(path, verify=True)


def _compare_checksums(directory: Path, manifest: Manifest) -> None:
    for name, entry in manifest.arrays.items():
        file = _array_file(directory, name)
        if file_checksum(file) != entry.checksum:
            raise GraphError(f"{file} is damaged (its checksum does not fit): import the graph again")


def assemble(directory: Path, manifest: Manifest) -> Graph:
    """The graph over the mapped arrays, after checks that take no time."""
    arrays = {name: _map(directory, name, manifest.arrays[name]) for name in manifest.arrays}
    problem = layout_problem(arrays) or relation_problem(arrays, manifest.relations)
    if problem is not None:
        raise GraphError(f"{directory} is not a graph: {problem}; import the graph again")
    x: Any = arrays.get("x")
    if x is None:
        n_rows, n_columns = (int(size) for size in arrays["x_shape"])
        x = sp.csr_array((arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]), shape=(n_rows, n_columns))
        x.has_canonical_format = True  # the writer's graph was canonical; testing would read it all
    return Graph(
        arrays["indptr"],
        arrays["indices"],
        x,
        arrays.get("y"),
        manifest.name,
        _names(arrays, "node"),
        _names(arrays, "feature"),
        manifest.class_names,
        Cleaning(**manifest.cleaning),
        arrays.get("edge_weight"),
        tuple(_edges(arrays, f"relation_{i}", name) for i, name in enumerate(manifest.relations)),
        manifest.notes,
        NodeTime(manifest.time_column, arrays["node_time"], manifest.time_dates) if "node_time" in arrays else None,
        _edges(arrays, "received", "received") if "received_indptr" in arrays else None,
    )


def _edges(arrays: dict[str, NDArray[Any]], prefix: str, name: str) -> Relation:
    indptr, indices = arrays[f"{prefix}_indptr"], arrays[f"{prefix}_indices"]
    return Relation(name, indptr, indices, arrays.get(f"{prefix}_edge_weight"))


def _array_file(directory: Path, name: str) -> Path:
    """The file of an array; a link that leads out of the store is not followed."""
    file = directory / f"{name}.npy"
    if file.resolve().parent != directory.resolve():
        raise GraphError(f"{file} is a link to {file.resolve()}, outside the store: copy the file into the store")
    return file


def _map(directory: Path, name: str, entry: StoredArray) -> NDArray[Any]:
    file = _array_file(directory, name)
    try:
        array = map_array(file)
    except (ValueError, OSError) as error:
        raise GraphError(f"{file} is damaged ({error}): import the graph again") from None
    if tuple(array.shape) != entry.shape or array.dtype.str != entry.dtype:
        raise GraphError(
            f"{file} holds {array.shape} of {array.dtype.str}, the manifest says {entry.shape} of {entry.dtype}: "
            "import the graph again"
        )
    return np.asarray(array)


def _names(arrays: dict[str, NDArray[Any]], what: str) -> StoredNames | None:
    if f"{what}_names" not in arrays:
        return None
    return StoredNames(arrays[f"{what}_names"], arrays[f"{what}_names_ends"])
