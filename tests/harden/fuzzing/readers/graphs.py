"""Readers of graphs: ``.npz``, Wiki-CS's JSON, the graph store."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from imgcl._core.checksums import file_checksum, json_checksum
from imgcl.data import read_benchmark_npz, read_wiki_cs, synthetic_graph
from imgcl.data.store import open_store, write_store
from imgcl.data.store.manifest import FILE
from imgcl.graph import Graph

CSR = ("data", "indices", "indptr", "shape")


@cache
def small_graph() -> Graph:
    return synthetic_graph(class_sizes=[40, 20], mean_degree=3, n_features=4, seed=1)


def use(graph: Graph) -> None:
    """What compiled code relies on in a graph that could be read, and what everybody asks it."""
    n = graph.n_nodes
    assert np.all(np.diff(graph.indptr) >= 0), "indptr falls"
    assert (graph.indptr[0], graph.indptr[-1]) == (0, len(graph.indices)), "indptr does not span indices"
    assert _within(graph.indices, n), "a neighbour does not exist"
    assert graph.x.shape[0] == n, "x has other rows"
    if isinstance(graph.x, sp.csr_array):
        assert _within(graph.x.indices, graph.x.shape[1]), "a feature does not exist"
        assert np.isfinite(graph.x.data).all()
    else:
        assert np.isfinite(graph.x).all()
    if graph.y is not None:
        assert graph.class_sizes.sum() <= n
    for names, size in ((graph.node_names, n), (graph.feature_names, graph.n_features)):
        assert names is None or len([str(name) for name in names]) == size, "names"
    str(graph.cleaning), repr(graph)


def _within(numbers: np.ndarray, end: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < end)


def write_npz(path: Path, **changes: Any) -> None:
    """The small graph in gnn-benchmark's layout; a change to ``None`` leaves an array out."""
    graph = small_graph()
    matrices = {"adj": graph.adjacency, "attr": sp.csr_array(graph.x)}
    arrays = {f"{name}_{part}": np.asarray(getattr(matrix, part)) for name, matrix in matrices.items() for part in CSR}
    arrays |= {"labels": graph.y, **changes}
    path.parent.mkdir()
    np.savez_compressed(path, **{name: array for name, array in arrays.items() if array is not None})


def prepare_npz(root: Path) -> None:
    names = np.array([f"n{i}" for i in range(small_graph().n_nodes)])
    write_npz(root / "0" / "graph.npz", node_names=names, class_names=np.array([b"a", b"b"]))
    without = dict.fromkeys(f"attr_{part}" for part in CSR)
    write_npz(root / "1" / "graph.npz", **without, attr_matrix=small_graph().x, labels=None)


def read_npz(folder: Path, flags: int) -> None:
    use(read_benchmark_npz(folder / "graph.npz", binarise=bool(flags & 1)))


def prepare_wiki_cs(root: Path) -> None:
    graph = small_graph()
    links = [row.tolist() for row in np.split(graph.indices, graph.indptr[1:-1])]
    content = {"features": np.asarray(graph.x).round(2).tolist(), "labels": graph.y.tolist(), "links": links}
    (root / "0").mkdir()
    (root / "0" / "data.json").write_text(json.dumps(content))


def read_wiki(folder: Path, flags: int) -> None:
    use(read_wiki_cs(folder / "data.json"))


def prepare_store(root: Path) -> None:
    graph = small_graph()
    names = {"node_names": [f"n{i}" for i in range(graph.n_nodes)], "feature_names": list("abcd")}
    edges = np.stack([np.repeat(np.arange(graph.n_nodes), graph.degree), graph.indices])
    for number, x in enumerate((graph.x, sp.csr_array(graph.x))):
        write_store(Graph.from_edges(edges, x, graph.y, class_names=["a", "b"], **names), root / str(number))


def read_store(folder: Path, flags: int) -> None:
    if flags & 1:
        sign(folder)
    use(open_store(folder))


def sign(folder: Path) -> None:
    """Make sizes and checksums of the manifest right again, as somebody would who changes a store on purpose."""
    try:
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
        for name, entry in content["arrays"].items():
            file = folder / f"{name}.npy"
            if file.is_file():
                entry |= {"bytes": file.stat().st_size, "checksum": file_checksum(file)}
        content.pop("checksum", None)
        (folder / FILE).write_text(json.dumps({**content, "checksum": json_checksum(content)}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        return  # changed beyond signing: it is read as it is
