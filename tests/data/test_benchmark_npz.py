"""The layout of gnn-benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from imgcl._core.errors import GraphError
from imgcl.data.benchmark_npz import read_benchmark_npz
from imgcl.graph.checks import Cleaning


def csr_parts(prefix: str, matrix: sp.csr_array) -> dict[str, Any]:
    return {
        f"{prefix}_data": matrix.data,
        f"{prefix}_indices": matrix.indices,
        f"{prefix}_indptr": matrix.indptr,
        f"{prefix}_shape": np.array(matrix.shape),
    }


@pytest.fixture
def arrays() -> dict[str, Any]:
    """0 - 1 - 2 and 3 alone, one direction stored, a self-loop; 0.5 and 2 among the features."""
    adjacency = sp.csr_array(np.array([[0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
    features = sp.csr_array(np.array([[0.5, 0, 0], [0, 2, 0], [0, 0, 1], [1, 1, 0]]))
    return {
        **csr_parts("adj", adjacency),
        **csr_parts("attr", features),
        "labels": np.array([0, 1, 1, 0]),
        "class_names": np.array(["cats", "dogs"]),
    }


def write(folder: Path, arrays: dict[str, Any], **changes: Any) -> Path:
    """The arrays with changes (``None`` leaves one out) as a file."""
    merged = {name: value for name, value in {**arrays, **changes}.items() if value is not None}
    np.savez_compressed(folder / "small.npz", **merged)
    return folder / "small.npz"


def test_reads_cleans_and_names(tmp_path: Path, arrays: dict[str, Any]) -> None:
    graph = read_benchmark_npz(write(tmp_path, arrays))
    assert graph.name == "small"
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    assert graph.cleaning == Cleaning(self_loops=1, one_directional=2)
    np.testing.assert_array_equal(graph.y, [0, 1, 1, 0])
    assert graph.class_names == ("cats", "dogs")
    np.testing.assert_array_equal(graph.x, [[0.5, 0, 0], [0, 2, 0], [0, 0, 1], [1, 1, 0]])


def test_binarise(tmp_path: Path, arrays: dict[str, Any]) -> None:
    graph = read_benchmark_npz(write(tmp_path, arrays), binarise=True, name="other")
    np.testing.assert_array_equal(graph.x, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    assert graph.name == "other"


def test_dense_features_and_absent_labels(tmp_path: Path, arrays: dict[str, Any]) -> None:
    without = {f"attr_{part}": None for part in ("data", "indices", "indptr", "shape")}
    matrix = np.arange(8.0).reshape(4, 2)
    graph = read_benchmark_npz(write(tmp_path, arrays, **without, attr_matrix=matrix, labels=None))
    np.testing.assert_array_equal(graph.x, matrix)
    assert graph.y is None


@pytest.mark.parametrize("stored", ["sparse", "dense"])
def test_very_sparse_features_stay_sparse(tmp_path: Path, arrays: dict[str, Any], stored: str) -> None:
    matrix = sp.csr_array(([1.0, 3.0], ([0, 2], [7, 90])), shape=(4, 100))
    changes = csr_parts("attr", matrix)
    if stored == "dense":
        changes = {**dict.fromkeys(changes), "attr_matrix": matrix.toarray()}
    graph = read_benchmark_npz(write(tmp_path, arrays, **changes), binarise=True)
    assert isinstance(graph.x, sp.csr_array)
    np.testing.assert_array_equal(graph.x.toarray(), matrix.toarray() > 0)


def test_pickled_arrays_beside_are_not_touched(tmp_path: Path, arrays: dict[str, Any]) -> None:
    names = np.array([{"a": 1}] * 4, dtype=object)
    graph = read_benchmark_npz(write(tmp_path, arrays, node_names=names, metadata=names, attr_names=names))
    assert graph.node_names is None
    assert graph.feature_names is None


def test_byte_names(tmp_path: Path, arrays: dict[str, Any]) -> None:
    graph = read_benchmark_npz(write(tmp_path, arrays, attr_names=np.array([b"x", b"y", b"z"])))
    assert graph.feature_names == ("x", "y", "z")


def test_features_of_text_are_refused_also_where_they_are_made_binary(tmp_path: Path, arrays: dict[str, Any]) -> None:
    without = {f"attr_{part}": None for part in ("data", "indices", "indptr", "shape")}
    path = write(tmp_path, arrays, **without, attr_matrix=np.full((4, 2), "high"))
    with pytest.raises(GraphError):
        read_benchmark_npz(path, binarise=True)


def test_names_with_characters_that_do_not_exist(tmp_path: Path, arrays: dict[str, Any]) -> None:
    names = np.frombuffer(np.array([0x7FFFFFFF] * 3, dtype=np.uint32).tobytes(), dtype="<U1")
    with pytest.raises(GraphError, match="attr_names holds characters that do not exist"):
        read_benchmark_npz(write(tmp_path, arrays, attr_names=names))


BAD = {
    "no adjacency": ({"adj_indptr": None}, "array 'adj_indptr' is missing"),
    "half the features": ({"attr_shape": None}, "array 'attr_shape' is missing"),
    "pickled labels": ({"labels": np.array([0, 1, 1, None])}, "'labels' has dtype object"),
    "label matrix": ({"labels": np.eye(4)}, r"'labels' has shape \(4, 4\), expected 1 dim"),
    "sparse label matrix": ({"labels": None, "labels_data": np.ones(3)}, "labels are a matrix"),
    "absurd shape": ({"adj_shape": np.array([2**40, 2**40])}, r"adj_shape is \[1099511627776, 1099511627776\]"),
    "negative shape": ({"adj_shape": np.array([-4, 4])}, r"adj_shape is \[-4, 4\]"),
    "shape of three": ({"adj_shape": np.array([4, 4, 4])}, "expected rows and columns"),
    "fractional shape": ({"adj_shape": np.array([4.0, 4.0])}, "expected rows and columns"),
    "shape and pointers differ": ({"adj_shape": np.array([5, 4])}, "adj_indptr has length 5, expected 6"),
    "indices too large": ({"adj_indices": np.array([1, 9, 2])}, r"adj_indices must be 0\.\.3"),
    "indices negative": ({"adj_indices": np.array([1, -1, 2])}, r"adj_indices must be 0\.\.3"),
    "pointers fall": ({"adj_indptr": np.array([0, 3, 1, 3, 3])}, "adj_indptr must rise from 0 to 3"),
    "pointers overshoot": ({"adj_indptr": np.array([0, 1, 2, 3, 99])}, "adj_indptr must rise"),
    "pointers are text": ({"adj_indptr": np.array(list("01233"))}, "must be integers"),
    "data is text": ({"adj_data": np.array(["a", "b", "c"])}, "adj_data has dtype <U1"),
    "lengths differ": ({"adj_data": np.ones(2)}, "have lengths 3 and 2"),
    "not square": ({"adj_shape": np.array([4, 5])}, "adjacency has shape.*must be square"),
    "feature rows": (
        {"attr_indptr": np.array([0, 1, 5]), "attr_shape": np.array([2, 3])},
        "x has 2 rows but the graph has 4 nodes",
    ),
    "NaN feature": ({"attr_data": np.array([1, np.nan, 1, 1, 1])}, r"x\[1, 1\] is nan"),
    "negative label": ({"labels": np.array([0, 1, -2, 0])}, r"labels\[2\] is -2"),
    "too many features": ({"attr_shape": np.array([4, 2**30])}, "1,073,741,824 features: at most 16,777,216"),
    "too many names": ({"node_names": np.array(["a"] * 5)}, "node_names has length 5, expected 4"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_bad_files_have_their_message(
    tmp_path: Path, arrays: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    file = write(tmp_path, arrays, **changes)
    with pytest.raises(GraphError, match=message) as caught:
        read_benchmark_npz(file)
    assert str(file) in str(caught.value), "the message says which file"
    assert "\n" not in str(caught.value)
