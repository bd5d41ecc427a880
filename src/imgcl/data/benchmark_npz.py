"""The ``.npz`` layout of shchur/gnn-benchmark: CSR parts of the adjacency and of the features, and labels.

| array | meaning |
|---|---|
| `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape` | adjacency, CSR; may hold one direction only |
| `attr_data`, `attr_indices`, `attr_indptr`, `attr_shape` | features, CSR |
| `attr_matrix` | features, dense, instead of the four above; a graph without either has no features |
| `labels` | class per node, optional, -1 for unlabelled |
| `node_names`, `attr_names`, `class_names` | optional, used when stored as text |
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from imgcl._core.errors import GraphError
from imgcl.data.archive import Archive
from imgcl.graph import Graph
from imgcl.graph.checks import MAX_CLASSES, Features

SPARSE_BELOW = 0.05  # density under which a product with the sparse matrix beats the dense one
MOST_FEATURES = 1 << 24  # an encoder's first matrix has a row for each of them


def read_benchmark_npz(path: str | Path, *, name: str | None = None, binarise: bool = False) -> Graph:
    """Read a graph in the layout of gnn-benchmark.

    Args:
        path: the ``.npz`` file; pickled arrays beside the needed ones are not touched.
        name: what to call the graph; by default the file's name.
        binarise: set positive features to 1, as torch_geometric does for the public graphs of this layout.
            Off by default: the features of your own file are kept as they are.

    Returns:
        The graph; features with fewer than 5 % non-zeros stay sparse, others become dense float32.

    Raises:
        GraphError: naming the array, when one is missing, damaged or does not fit the others.
    """
    path = Path(path)
    with Archive(path) as archive:
        adjacency = _read_csr(archive, "adj")
        features = _read_features(archive, rows=adjacency.shape[0])
        if binarise and features is not None:
            features = binarised(features)
        labels = archive.read("labels", ndim=1) if "labels" in archive.names else None
        if labels is None and "labels_data" in archive.names:
            raise GraphError(f"{path}: labels are a matrix (several classes per node): give one class per node")
        names: dict[str, Any] = {
            "node_names": _read_names(archive, "node_names", adjacency.shape[0]),
            "feature_names": None if features is None else _read_names(archive, "attr_names", features.shape[1]),
            "class_names": _read_names(archive, "class_names", MAX_CLASSES),
        }
    try:
        return Graph.from_scipy(adjacency, features, labels, name=name or path.stem, **names)
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None


def _read_csr(archive: Archive, prefix: str) -> sp.csr_array:
    """A CSR matrix from its four arrays, every index checked before scipy's compiled code sees it."""
    shape = archive.read(f"{prefix}_shape", ndim=1)
    if shape.dtype.kind not in "iu" or len(shape) != 2 or (shape < 0).any() or (shape >= 2**31).any():
        raise GraphError(f"{archive.path}: {prefix}_shape is {shape.tolist()}: expected rows and columns below 2^31")
    rows, columns = int(shape[0]), int(shape[1])
    indptr = archive.read(f"{prefix}_indptr", ndim=1)
    indices = archive.read(f"{prefix}_indices", ndim=1)
    data = archive.read(f"{prefix}_data", ndim=1)
    problem = None
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        problem = f"{prefix}_indptr and {prefix}_indices must be integers"
    elif data.dtype.kind not in "biuf":
        problem = f"{prefix}_data has dtype {data.dtype}, expected numbers"
    elif len(indptr) != rows + 1:
        problem = f"{prefix}_indptr has length {len(indptr)}, expected {rows + 1} for {rows} rows"
    elif len(indices) != len(data):
        problem = f"{prefix}_indices and {prefix}_data have lengths {len(indices)} and {len(data)}"
    elif indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        problem = f"{prefix}_indptr must rise from 0 to {len(indices)}"
    elif len(indices) and (indices.min() < 0 or indices.max() >= columns):
        problem = f"{prefix}_indices must be 0..{columns - 1}"
    if problem:
        raise GraphError(f"{archive.path}: {problem}")
    return sp.csr_array((data, indices, indptr), shape=(rows, columns))


def _read_features(archive: Archive, rows: int) -> Features | None:
    if "attr_data" in archive.names:
        matrix = _read_csr(archive, "attr")
        if matrix.shape[1] > MOST_FEATURES:
            raise GraphError(
                f"{archive.path}: attr_shape says {matrix.shape[1]:,} features: at most {MOST_FEATURES:,} are supported"
            )
        dense_enough = matrix.nnz >= SPARSE_BELOW * matrix.shape[0] * matrix.shape[1]
        return matrix.toarray() if dense_enough and matrix.shape[0] == rows else matrix
    if "attr_matrix" in archive.names:
        dense = archive.read("attr_matrix", ndim=2)
        return compact(dense)
    return None


def compact(dense: np.ndarray) -> Features:
    """Sparse when few entries are not zero."""
    if np.count_nonzero(dense) < SPARSE_BELOW * dense.size and dense.dtype.kind in "biuf":
        return sp.csr_array(dense)
    return dense


def binarised(x: Features) -> Features:
    """Ones for what is above 0; values that are no numbers are left for the graph's own checks to refuse."""
    if x.dtype.kind not in "biuf":
        return x
    if isinstance(x, np.ndarray):
        return np.where(x > 0, np.float32(1), x).astype(np.float32)
    matrix = x.copy()
    matrix.sum_duplicates()
    matrix.data = np.where(matrix.data > 0, 1, matrix.data).astype(np.float32)
    return matrix


def _read_names(archive: Archive, array: str, most: int) -> list[str] | None:
    """Stored names, unless they would need pickle: names are worth having, never worth running code for."""
    if not archive.is_plain(array):
        return None
    shape = archive.describe(array).shape
    if len(shape) == 1 and shape[0] > most:
        raise GraphError(f"{archive.path}: {array} has length {shape[0]}, expected {most}")
    values = archive.read(array, ndim=1)
    if values.dtype.kind == "S":
        return [value.decode("utf-8", errors="replace") for value in values]
    try:
        return [str(value) for value in values]
    except (SystemError, ValueError):
        raise GraphError(f"{archive.path}: {array} holds characters that do not exist") from None
