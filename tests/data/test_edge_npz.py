"""The layout of an edge list in an ``.npz`` file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from imgcl._core.errors import GraphError
from imgcl.data import load_graph
from imgcl.data.edge_npz import read_npz

HETEROPHILOUS = ("node_features", "node_labels")
GRAPHMINING = ("features", "target")
X = np.array([[0.5, 0.0], [0.0, 3.0], [1.0, 1.0]], dtype=np.float32)


def write(path: Path, names: tuple[str, str] = HETEROPHILOUS, **changes: Any) -> Path:
    arrays = {"edges": np.array([[0, 1], [2, 1], [1, 2]]), names[0]: X, names[1]: np.array([0, 1, 1])}
    np.savez(path, **{name: value for name, value in {**arrays, **changes}.items() if value is not None})
    return path


@pytest.mark.parametrize("names", [HETEROPHILOUS, GRAPHMINING])
def test_both_sets_of_names(tmp_path: Path, names: tuple[str, str]) -> None:
    graph = load_graph(write(tmp_path / "small.npz", names))
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(graph.x, X)
    assert graph.y is not None
    assert (graph.name, graph.y.tolist()) == ("small", [0, 1, 1])


def test_binary_sparse_and_without_labels(tmp_path: Path) -> None:
    wide = np.zeros((3, 50))
    wide[0, 7] = 2.5
    path = write(tmp_path / "wide.npz", node_features=wide, node_labels=None)
    graph = read_npz(path, binarise=True, name="other")
    assert isinstance(graph.x, sp.csr_array)
    assert (graph.x[0, 7], graph.x.nnz, graph.y, graph.name) == (1, 1, None, "other")


def test_the_other_layout_is_still_read(tmp_path: Path) -> None:
    adjacency = {"adj_data": [1.0], "adj_indices": [1], "adj_indptr": [0, 1, 1], "adj_shape": [2, 2]}
    np.savez(tmp_path / "both.npz", **adjacency, attr_matrix=np.eye(2), edges=[[5, 6]])
    assert read_npz(tmp_path / "both.npz").n_nodes == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edges": np.array([[0, 1, 2]])}, r"edges has shape \(1, 3\): expected two node numbers per row"),
        ({"edges": np.array([[0, 3]])}, r"edge 0 is \(0, 3\): node numbers must be 0..2"),
        ({"node_labels": np.array([0, 1])}, r"labels have shape \(2,\)"),
        ({"edges": np.array([[{}, {}]], dtype=object)}, "stored as pickled objects"),
    ],
)
def test_what_is_not_a_graph(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "bad.npz", **changes)
    with pytest.raises(GraphError, match=message) as caught:
        read_npz(path)
    assert str(path) in str(caught.value)
