"""The Graph value: what it cleans, what it refuses and with which words, and that it never changes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import imgcl
from imgcl._core.errors import GraphError
from imgcl.graph import Graph
from imgcl.graph.checks import Cleaning

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # torch_geometric still uses torch.jit at import
    from torch_geometric.data import Data


@pytest.fixture
def path() -> Graph:
    """0 - 1 - 2 - 3, and node 4 alone."""
    return Graph.from_edges(
        [[0, 1, 2], [1, 2, 3]],
        x=np.arange(10).reshape(5, 2),
        y=[0, 0, 1, 2, -1],
        node_names=["a", "b", "c", "d", "e"],
        class_names=["p", "q", "r"],
    )


def test_sizes_and_degrees(path: Graph) -> None:
    assert (path.n_nodes, path.n_edges, path.n_features, path.n_classes) == (5, 3, 2, 3)
    np.testing.assert_array_equal(path.degree, [1, 2, 2, 1, 0])
    np.testing.assert_array_equal(path.class_sizes, [2, 1, 1])
    np.testing.assert_array_equal(path.indices, [1, 0, 2, 1, 3, 2])


def test_cleaning_is_done_and_counted() -> None:
    # (0,1) twice, its reverse once; (1,2) in one direction; two self-loops
    edges = [[0, 0, 1, 1, 2, 2], [1, 1, 0, 2, 2, 2]]
    graph = Graph.from_edges(edges, x=np.ones((3, 1)))
    assert graph.cleaning == Cleaning(self_loops=2, duplicates=1, one_directional=1)
    assert graph.n_edges == 2
    assert graph.summary()["cleaned"] == (
        "2 self-loops removed, 1 duplicate edges merged, 1 one-directional edges mirrored"
    )


def test_duplicates_beyond_a_byte_stay_one_edge() -> None:
    graph = Graph.from_edges(np.array([[0] * 256, [1] * 256]), x=np.ones((2, 1)))
    assert graph.n_edges == 1
    assert graph.cleaning.duplicates == 255


def test_summary(path: Graph) -> None:
    summary = path.summary()
    assert summary["isolated nodes"] == 1
    assert summary["mean degree"] == 1.2
    assert summary["class sizes"] == [2, 1, 1]
    assert summary["class-size ratio"] == 2.0
    assert summary["labelled nodes"] == 4
    assert summary["cleaned"] == "3 one-directional edges mirrored"
    assert repr(path) == "Graph('graph', nodes=5, edges=3, features=2, classes=3)"


BAD_INPUT = {
    "edge too large": ({"edges": [[0, 1], [1, 5]]}, r"edge 1 is \(1, 5\): node numbers must be 0\.\.2 for 3 nodes"),
    "edge negative": ({"edges": [[0, -1], [1, 0]]}, r"edge 1 is \(-1, 0\)"),
    "edges transposed": ({"edges": [[0, 1], [1, 2], [0, 2]]}, r"edges has shape \(3, 2\).*transpose it"),
    "edges not integer": ({"edges": [[0.0], [1.0]]}, "edges has dtype float64: node numbers must be integers"),
    "NaN feature": ({"x": [[1, 2], [np.nan, 1], [1, np.nan]]}, r"x\[1, 0\] is nan \(2 such values\)"),
    "infinite feature": ({"x": [[1, 2], [1, -np.inf], [1, 1]]}, r"x\[1, 1\] is -inf"),
    "float32 overflow": ({"x": [[1, 2], [1, 1e300], [1, 1]]}, r"x\[1, 1\] is 1e\+300 \(1 such values\).* up to 1e\+15"),
    "huge feature": ({"x": [[1, 2], [1, 1], [-1e30, 1]]}, r"x\[2, 0\] is -1e\+30 .*scale them first"),
    "huge sparse feature": (
        {"x": sp.csr_array(np.array([[0, 0], [0, 1e30], [1, 0]]))},
        r"x\[1, 1\] is 1e\+30 .*scale them first",
    ),
    "infinite sparse feature": (
        {"x": sp.csr_array(np.array([[0, 0], [0, np.inf], [1, 0]]))},
        r"x\[1, 1\] is inf \(1 such",
    ),
    "feature text": ({"x": [["a"], ["b"], ["c"]]}, "features must be numbers"),
    "complex features": ({"x": np.ones((3, 2), dtype=complex)}, "x has dtype complex128: features must be numbers"),
    "ragged features": ({"x": [[1], [1, 2], [3]]}, "x is not a matrix: its rows differ in length"),
    "features one-dimensional": ({"x": [1, 2, 3]}, r"x has shape \(3,\): it must be \(nodes, features\)"),
    "no feature columns": ({"x": np.zeros((3, 0))}, "x has no columns"),
    "neither features nor nodes": ({"x": None, "edges": np.zeros((2, 0)), "n_nodes": None}, "the graph is empty"),
    "wrong feature length": ({"n_nodes": 4}, "x has 3 rows but the graph has 4 nodes"),
    "wrong label length": ({"y": [0, 1]}, r"labels have shape \(2,\), expected \(3,\)"),
    "two-dimensional labels": ({"y": [[0, 1], [1, 0], [0, 0]]}, r"labels have shape \(3, 2\), expected \(3,\)"),
    "negative label": ({"y": [0, 1, -3]}, r"labels\[2\] is -3: labels must be integers 0\.\.K-1, or -1"),
    "fractional label": ({"y": [0, 1, 0.5]}, r"labels\[2\] is 0.5: labels must be integers"),
    "infinite label": ({"y": [0, 1, np.inf]}, r"labels\[2\] is inf, which is no class"),
    "enormous label": ({"y": [0, 1, 1e308]}, r"labels\[2\] is the float 1e\+308: above 2\^53"),
    "text label": ({"y": ["a", "b", "c"]}, "labels must be integers"),
    "label like an identifier": ({"y": [0, 1, 10**12]}, r"labels\[2\] is 1000000000000 but at most 1,048,576 classes"),
    "float label beyond 2^53": ({"y": [0, 1, 2.0**53]}, r"labels\[2\] is the float 9.*: above 2\^53"),
    "label beyond 64 bits": (
        {"y": np.array([0, 1, 2**64 - 1], dtype=np.uint64)},
        r"labels\[2\] is 18446744073709551615",
    ),
    "text among the labels": ({"y": [0, None, "b"]}, r"labels\[2\] is 'b': labels must be integers"),
    "nodes with one name": ({"node_names": ["a", "b", "a"]}, r"node_names\[0\] and node_names\[2\] are both 'a'"),
    "classes with one name": (
        {"y": [0, 1, 1], "class_names": ["a", "a"]},
        r"class_names\[0\] and class_names\[1\] are",
    ),
    "a name that is none": ({"node_names": ["a", "b", "\ud800"]}, r"node_names\[2\] is '\\ud800', which UTF-8 cannot"),
    "label without a name": ({"y": [0, 1, 2], "class_names": ["a", "b"]}, r"labels\[2\] is 2 but there are 2 class"),
    "wrong number of node names": ({"node_names": ["a"]}, "node_names has length 1, expected 3"),
    "wrong number of feature names": ({"feature_names": ["a"]}, "feature_names has length 1, expected 2"),
    "names as one text": ({"class_names": "ab"}, "class_names is the text 'ab'"),
    "empty graph": ({"edges": [], "x": np.zeros((0, 2))}, "the graph is empty: it has no nodes"),
    "empty graph without columns": ({"edges": [], "x": np.zeros((0, 0))}, "the graph is empty"),
}


@pytest.mark.parametrize(("change", "message"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_has_its_message(change: dict, message: str) -> None:
    arguments = {"edges": [[0, 1], [1, 2]], "x": np.ones((3, 2)), **change}
    with pytest.raises(GraphError, match=message) as caught:
        Graph.from_edges(**arguments)
    assert "\n" not in str(caught.value)


def test_adjacency_must_be_square() -> None:
    with pytest.raises(GraphError, match=r"adjacency has shape \(2, 3\): it must be square"):
        Graph.from_scipy(sp.csr_array((2, 3)), np.ones((2, 1)))
    with pytest.raises(GraphError, match="must be square"):
        Graph.from_scipy(np.ones(3), np.ones((3, 1)))
    with pytest.raises(GraphError, match="graph is empty"):
        Graph.from_scipy(sp.csr_array((0, 0)), np.zeros((0, 1)))


def test_from_scipy_ignores_stored_zeros_and_weights() -> None:
    adjacency = sp.coo_array(([0.0, 2.5, -1.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    graph = Graph.from_scipy(adjacency, np.ones((3, 1)))
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_half_precision_and_sparse_features_are_kept() -> None:
    half = Graph.from_edges([[0], [1]], x=np.ones((2, 3), dtype=np.float16))
    assert half.x.dtype == np.float16
    sparse = Graph.from_edges([[0], [1]], x=sp.coo_array(([1.0, 0.0, 2.0], ([0, 0, 1], [2, 1, 0])), shape=(2, 3)))
    assert isinstance(sparse.x, sp.csr_array)
    assert sparse.x.nnz == 2, "stored zeros are not part of the content"
    assert sparse.x.dtype == np.float32


def test_the_graph_cannot_be_written_and_the_callers_arrays_can() -> None:
    x, y = np.ones((2, 3), dtype=np.float32), np.array([0, 1])
    features = sp.csr_array((np.ones(2, dtype=np.float32), [2, 1], [0, 2, 2]), shape=(2, 3))
    dense = Graph.from_edges([[0], [1]], x=x, y=y)
    sparse = Graph.from_edges([[0], [1]], x=features)
    for array in (dense.x, dense.y, dense.indptr, dense.indices, sparse.x.data, sparse.x.indices):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    x[0, 0] = y[0] = 0
    features.data[0] = 5
    np.testing.assert_array_equal(features.indices, [2, 1])  # not sorted behind the caller's back
    with pytest.raises(AttributeError):
        dense.name = "other"  # type: ignore[misc]


def test_subgraph_keeps_order_names_and_edges(path: Graph) -> None:
    sub = path.subgraph([3, 1, 2])
    assert sub.node_names == ("d", "b", "c")
    np.testing.assert_array_equal(sub.y, [2, 0, 1])
    np.testing.assert_array_equal(sub.adjacency.toarray(), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(sub.x, path.x[[3, 1, 2]])
    assert sub.cleaning == Cleaning()
    masked = path.subgraph(np.array([False, True, True, True, False]))
    assert masked.node_names == ("b", "c", "d")


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "no nodes were chosen"),
        ([0, 5], r"nodes\[1\] is 5: node numbers must be 0\.\.4"),
        ([-1], r"nodes\[0\] is -1"),
        ([1, 1], "node 1 was chosen 2 times"),
        ([0.5], "give a list of node numbers"),
        (np.array([True]), r"mask has shape \(1,\), expected \(5,\)"),
    ],
)
def test_subgraph_refuses(path: Graph, nodes: list, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        path.subgraph(nodes)


def test_with_labels(path: Graph) -> None:
    relabelled = path.with_labels([1, 1, 0, 0, 0], class_names=["x", "y"])
    assert relabelled.class_names == ("x", "y")
    assert relabelled.fingerprint != path.fingerprint
    assert path.with_labels(None).n_classes == 0
    with pytest.raises(GraphError, match="no labels"):
        _ = path.with_labels(None).class_sizes


def test_torch_geometric_round_trip(path: Graph) -> None:
    back = Graph.from_pyg(path.to_pyg())
    assert back.fingerprint == path.fingerprint
    assert back.cleaning == Cleaning()


def test_torch_geometric_sparse_and_bfloat_features() -> None:
    graph = Graph.from_edges([[0], [1]], x=sp.csr_array(np.array([[1.0, 0, 0], [0, 0, 2.0]])))
    assert Graph.from_pyg(graph.to_pyg()).fingerprint == graph.fingerprint
    coordinates = torch.tensor([[1.0, 0, 0], [0, 0, 2.0]]).to_sparse_coo()
    data = Data(x=coordinates, edge_index=torch.tensor([[0], [1]]))
    assert Graph.from_pyg(data).fingerprint == graph.fingerprint
    data = Data(x=torch.ones(2, 3, dtype=torch.bfloat16), edge_index=torch.tensor([[0], [1]]))
    assert Graph.from_pyg(data).x.dtype == np.float32


@pytest.mark.parametrize("kind", [torch.tensor, np.array, list])
def test_torch_geometric_data_of_tensors_arrays_and_lists(kind: Callable[[Any], Any]) -> None:
    x, edges, y = [[1.0, 0.0], [0.0, 2.0], [0.0, 3.0]], [[0], [1]], [0, 1, -1]
    graph = Graph.from_pyg(Data(x=kind(x), edge_index=kind(edges), y=kind(y)))
    assert graph.fingerprint == Graph.from_edges(edges, x, y).fingerprint
    mixed = Data(x=kind(x), edge_index=torch.tensor(edges), y=np.array([[0], [1], [-1]]))
    assert Graph.from_pyg(mixed).fingerprint == graph.fingerprint
    with pytest.raises(GraphError, match="x has 3 rows but the graph has 5 nodes"):
        Graph.from_pyg(Data(x=kind(x), edge_index=kind(edges), num_nodes=5))
    with pytest.raises(GraphError, match="labels must be integers"):
        Graph.from_pyg(Data(x=kind(x), edge_index=torch.tensor(edges), y=["a", "b", "c"]))


def test_torch_geometric_column_labels_and_missing_parts() -> None:
    edge_index = torch.tensor([[0, 1], [1, 0]])
    graph = Graph.from_pyg(Data(x=torch.ones(2, 1), edge_index=edge_index, y=torch.tensor([[1], [0]])))
    np.testing.assert_array_equal(graph.y, [1, 0])
    with pytest.raises(GraphError, match="no edge_index"):
        Graph.from_pyg(Data(x=torch.ones(2, 1)))
    assert Graph.from_pyg(Data(edge_index=edge_index)).x.shape == (2, 0)


def test_a_graph_without_features() -> None:
    graph = Graph.from_edges([[0, 1], [1, 4]], y=[0, 1, -1, -1, 1])
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (5, 2, 0)
    assert Graph.from_edges([[0], [1]], n_nodes=3).n_nodes == 3
    assert Graph.from_scipy(np.ones((3, 3))).x.shape == (3, 0)
    assert Graph.from_networkx(nx.path_graph(3)).x.shape == (3, 0)
    assert graph.subgraph([0, 1]).x.shape == (2, 0)
    with pytest.raises(GraphError, match=r"edge 0 is \(0, 4\): node numbers must be 0\.\.2"):
        Graph.from_edges([[0], [4]], n_nodes=3)
    with pytest.raises(GraphError, match="the graph is empty"):
        Graph.from_edges(np.zeros((2, 0), dtype=np.int64))


def test_networkx() -> None:
    source = nx.Graph([("a", "b"), ("b", "c"), ("c", "c")])
    for i, node in enumerate(source):
        source.nodes[node]["x"] = [i, 1.0]
    source.nodes["b"]["y"] = 1
    graph = Graph.from_networkx(source, name="letters")
    assert graph.node_names == ("a", "b", "c")
    assert graph.name == "letters"
    assert graph.cleaning == Cleaning(self_loops=1)
    np.testing.assert_array_equal(graph.y, [-1, 1, -1])
    np.testing.assert_array_equal(graph.x, [[0, 1], [1, 1], [2, 1]])
    directed = Graph.from_networkx(nx.DiGraph([(0, 1), (1, 0), (1, 2)]), x=np.ones((3, 1)))
    assert directed.cleaning == Cleaning(one_directional=1)
    assert directed.y is None


@pytest.mark.parametrize(("what", "of"), [("feature", "node"), ("label", "node"), ("weight", "edge")])
def test_an_attribute_that_was_named_must_be_there(what: str, of: str) -> None:
    with pytest.raises(GraphError, match=rf"no {of} has the attribute 'colour' \(`{what}`\)"):
        Graph.from_networkx(nx.path_graph(3), **{what: "colour"})


def test_columns_of_a_frame_are_names_of_features() -> None:
    frame = pd.DataFrame(np.eye(3), columns=["a", "b", "c"])
    assert Graph.from_edges([[0], [1]], frame).feature_names == ("a", "b", "c")
    assert Graph.from_edges([[0], [1]], frame, feature_names=["d", "e", "f"]).feature_names == ("d", "e", "f")
    assert Graph.from_edges([[0], [1]], pd.DataFrame(np.eye(3))).feature_names is None
    model = imgcl.ImGCL(epochs=2, settings={"dim": 2}).fit(Graph.from_edges([[0], [1]], frame))
    turned = Graph.from_edges([[0], [1]], frame[["c", "a", "b"]])
    np.testing.assert_allclose(model.transform(turned), model.embedding_, atol=1e-6)


def test_networkx_nodes_that_share_a_name_are_refused_with_both() -> None:
    source = nx.Graph([(0, "0")])
    with pytest.raises(GraphError, match="nodes 0 and '0' are both called '0': rename one, or pass node_names"):
        Graph.from_networkx(source, x=np.eye(2))
    assert Graph.from_networkx(source, x=np.eye(2), node_names=["number", "text"]).node_names == ("number", "text")


@pytest.mark.parametrize(
    "y", [[0, None, 1], [0, np.nan, 1], [0, "", 1], np.array([0, np.nan, 1]), torch.tensor([0, -1, 1])]
)
def test_nodes_without_a_label(y: Any) -> None:
    np.testing.assert_array_equal(Graph.from_edges([[0], [1]], np.eye(3), y).y, [0, -1, 1])


def test_networkx_refuses() -> None:
    with pytest.raises(GraphError, match="graph is empty"):
        Graph.from_networkx(nx.Graph())
    source = nx.path_graph(2)
    source.nodes[0]["x"] = [1.0]
    with pytest.raises(GraphError, match="node 1 has no attribute 'x'"):
        Graph.from_networkx(source)
    source.nodes[1]["x"] = [1.0, 2.0]
    with pytest.raises(GraphError, match=r"'x' of node 1 has shape \(2,\) but \(1,\)"):
        Graph.from_networkx(source)


def test_fingerprint_is_the_content_not_the_storage(path: Graph) -> None:
    wide = Graph(path.indptr.astype(np.int64), path.indices.astype(np.int64), path.x, path.y, name="other")
    assert wide.fingerprint == path.fingerprint
    assert len(path.fingerprint) == 32
    moved = path.x.copy()
    moved[0, 0] += 1
    assert Graph(path.indptr, path.indices, moved, path.y).fingerprint != path.fingerprint
    assert Graph(path.indptr, path.indices, path.x).fingerprint != path.fingerprint


def test_memory_mapped_arrays_are_used_in_place(path: Graph, tmp_path) -> None:
    np.save(tmp_path / "x.npy", path.x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    graph = Graph(path.indptr, path.indices, mapped, path.y)
    assert np.shares_memory(graph.x, mapped)
    assert graph.fingerprint == path.fingerprint


EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40)


@given(EDGES)
@settings(deadline=None)
def test_any_edge_list_becomes_a_simple_symmetric_graph(pairs: list[tuple[int, int]]) -> None:
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = Graph.from_edges(edges, x=np.ones((8, 1)))
    dense = graph.adjacency.toarray()
    expected = {(u, v) for u, v in pairs if u != v} | {(v, u) for u, v in pairs if u != v}
    assert {tuple(e) for e in np.argwhere(dense)} == expected
    assert dense.max(initial=0) <= 1
    cleaned = graph.cleaning
    assert len(pairs) - cleaned.self_loops - cleaned.duplicates + cleaned.one_directional == 2 * graph.n_edges


@given(EDGES, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_edges_does_not_matter(pairs: list[tuple[int, int]], random) -> None:
    shuffled = [(v, u) if random.random() < 0.5 else (u, v) for u, v in pairs]
    random.shuffle(shuffled)
    first, second = (
        Graph.from_edges(np.array(p, dtype=np.int64).reshape(-1, 2).T, x=np.ones((8, 1))) for p in (pairs, shuffled)
    )
    assert first.fingerprint == second.fingerprint


@given(st.permutations(range(6)))
@settings(deadline=None)
def test_a_subgraph_of_all_nodes_is_a_relabelling(order: list[int]) -> None:
    graph = Graph.from_edges([[0, 1, 2, 4], [1, 2, 3, 5]], x=np.arange(6.0)[:, None])
    moved = graph.subgraph(order)
    np.testing.assert_array_equal(moved.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(order, order)])
    back = moved.subgraph(np.argsort(order))
    assert back.fingerprint == graph.fingerprint
