"""The ``.npz`` layout of an edge list, and the reader of any ``.npz`` file that holds a graph.

| array | meaning |
|---|---|
| `edges` | two node numbers per row |
| `node_features` or `features` | features, dense, optional |
| `node_labels` or `target` | class per node, optional |

yandex-research/heterophilous-graphs has the first of these names, graphmining.ai the second.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from imgcl._core.errors import GraphError
from imgcl.data.archive import Archive
from imgcl.data.benchmark_npz import binarised, compact, read_benchmark_npz
from imgcl.graph import Graph


def read_npz(path: str | Path, *, name: str | None = None, binarise: bool = False) -> Graph:
    """Read a graph from an ``.npz`` file in either layout: gnn-benchmark's, or an edge list.

    Args:
        path: the file; pickled arrays beside the needed ones are not touched.
        name: what to call the graph; by default the file's name.
        binarise: set positive features to 1.

    Raises:
        GraphError: naming the array, when one is missing, damaged or does not fit the others.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/path.npz", edges=[[0, 1], [1, 2]], features=np.eye(3), target=[0, 1, 1])
        ...     read_npz(f"{folder}/path.npz")
        Graph('path', nodes=3, edges=2, features=3, classes=2)
    """
    with Archive(path) as archive:
        if "edges" in archive.names and "adj_indptr" not in archive.names:
            return _read_edge_list(archive, name, binarise)
    return read_benchmark_npz(path, name=name, binarise=binarise)


def _read_edge_list(archive: Archive, name: str | None, binarise: bool) -> Graph:
    edges = archive.read("edges", ndim=2)
    if edges.shape[1] != 2:
        raise GraphError(f"{archive.path}: edges has shape {edges.shape}: expected two node numbers per row")
    x = _first(archive, ("node_features", "features"), ndim=2)
    features = None if x is None else compact(np.asarray(binarised(x)) if binarise else x)
    labels = _first(archive, ("node_labels", "target"), ndim=1)
    rows = next((len(each) for each in (x, labels) if each is not None), None)
    try:
        return Graph.from_edges(edges.T, features, labels, n_nodes=rows, name=name or archive.path.stem)
    except GraphError as error:
        raise GraphError(f"{archive.path}: {error}") from None


def _first(archive: Archive, names: tuple[str, ...], ndim: int) -> np.ndarray | None:
    """The first of the arrays that is there."""
    return next((archive.read(name, ndim=ndim) for name in names if name in archive.names), None)
