"""Opening a graph store: arrays are mapped, not read, so it takes the same instant at any size."""

from __future__ import annotations

import tokenize
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from imgcl.errors import GraphError
from imgcl.graph import Graph
from imgcl.graph_checks import Cleaning
from imgcl.store.manifest import FILE, Manifest, checksum
from imgcl.store.names import StoredNames

VERIFY_BELOW = 1 << 26  # bytes: a store this small is checked completely whenever it is opened


def is_store(path: str | Path) -> bool:
    """Whether the path is the directory of a graph store."""
    return (Path(path) / FILE).is_file()


def open_store(path: str | Path, *, verify: bool | None = None) -> Graph:
    """Open a graph store; nothing is read but the manifest and the arrays' headers.

    Args:
        path: of the directory.
        verify: read every byte and compare checksums; by default only stores below 64 MB. Sizes, shapes, types and
            the manifest's own checksum are always compared, so a store that was cut short is never opened.

    Raises:
        GraphError: when the store is incomplete, damaged or of another version.
    """
    directory = Path(path).expanduser()
    manifest = Manifest.read(directory)
    for name, entry in manifest.arrays.items():
        file = directory / f"{name}.npy"
        if not file.is_file():
            raise GraphError(f"{directory} is incomplete: {file.name} is missing; import the graph again")
        if file.stat().st_size != entry.bytes:
            raise GraphError(
                f"{file} has {file.stat().st_size:,} bytes instead of {entry.bytes:,}: it was cut short or changed; "
                "import the graph again"
            )
    size = sum(entry.bytes for entry in manifest.arrays.values())
    if size < VERIFY_BELOW if verify is None else verify:
        _compare_checksums(directory, manifest)
    graph = assemble(directory, manifest)
    graph.__dict__["fingerprint"] = manifest.fingerprint  # known since the store was written: no need to read it all
    return graph


def verify_store(path: str | Path) -> None:
    """Read every byte of a store and compare it with its checksums.

    Raises:
        GraphError: naming the first array that differs.
    """
    open_store(path, verify=True)


def _compare_checksums(directory: Path, manifest: Manifest) -> None:
    for name, entry in manifest.arrays.items():
        file = directory / f"{name}.npy"
        if checksum(file) != entry.checksum:
            raise GraphError(f"{file} is damaged (its checksum does not fit): import the graph again")


def assemble(directory: Path, manifest: Manifest) -> Graph:
    """The graph over the mapped arrays, after checks that take no time."""
    arrays = {name: _map(directory / f"{name}.npy", manifest) for name in manifest.arrays}
    missing = [name for name in ("indptr", "indices") if name not in arrays]
    if missing or ("x" not in arrays and "x_data" not in arrays):
        raise GraphError(f"{directory} is not a graph: it lacks {' and '.join(missing) or 'features'}")
    indptr, indices = arrays["indptr"], arrays["indices"]
    x: Any = arrays.get("x")
    if x is None:
        n_rows, n_columns = (int(size) for size in arrays["x_shape"])
        x = sp.csr_array((arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]), shape=(n_rows, n_columns))
        x.has_canonical_format = True  # the writer's graph was canonical; testing would read it all
    for what, holds in (
        ("indptr does not span indices", indptr[0] == 0 and indptr[-1] == len(indices)),
        ("x does not have one row per node", x.shape[0] == len(indptr) - 1),
        ("y does not have one label per node", "y" not in arrays or arrays["y"].shape == (len(indptr) - 1,)),
    ):
        if not holds:
            raise GraphError(f"{directory} is not a graph: {what}; import the graph again")
    return Graph(
        indptr,
        indices,
        x,
        arrays.get("y"),
        manifest.name,
        _names(arrays, "node"),
        _names(arrays, "feature"),
        manifest.class_names,
        Cleaning(**manifest.cleaning),
    )


def _map(file: Path, manifest: Manifest) -> NDArray[Any]:
    entry = manifest.arrays[file.stem]
    try:
        array: NDArray[Any] = np.load(file, mmap_mode="r" if 0 not in entry.shape else None, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, tokenize.TokenError, OSError) as error:
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
