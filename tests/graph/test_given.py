"""What users pass to the constructors: tensors of any type, tables of pandas, matrices with gaps."""

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from imgcl import GraphError
from imgcl.graph import Graph

NAMES = ["ann", "bob", "eve"]
PATH = [[0, 1], [1, 2]]


def path(**given: Any) -> Graph:
    return Graph.from_edges(PATH, **{"x": np.eye(3), "node_names": NAMES, **given})


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64])
def test_tensors_of_any_type_with_gradients(kind: torch.dtype) -> None:
    x, weight = torch.eye(3, dtype=kind, requires_grad=True), torch.tensor([0.5, 2.0], dtype=kind, requires_grad=True)
    y = torch.tensor([0, 1, -1], dtype=kind)
    graph = Graph.from_edges(torch.tensor(PATH), x=x, y=y, edge_weight=weight)
    assert graph.fingerprint == path(y=[0, 1, -1], edge_weight=[0.5, 2.0]).fingerprint
    sparse = Graph.from_edges(PATH, x=x.detach().to(torch.float32).to_sparse())
    assert sparse.x.toarray().tolist() == np.eye(3).tolist()


def test_a_data_of_bfloat16() -> None:
    data = pytest.importorskip("torch_geometric.data").Data
    half = torch.bfloat16
    y, weight = torch.tensor([0, 1, -1], dtype=half), torch.tensor([0.5, 2.0], dtype=half)
    graph = Graph.from_pyg(data(torch.eye(3, dtype=half), torch.tensor(PATH), y=y, edge_weight=weight))
    assert graph.fingerprint == path(y=[0, 1, -1], edge_weight=[0.5, 2.0]).fingerprint


def test_a_data_with_a_sparse_tensor_for_edges_says_what_to_do() -> None:
    data = pytest.importorskip("torch_geometric.data").Data
    with pytest.raises(GraphError, match="has no edge_index: it has adj_t in its place; read it before the transform"):
        Graph.from_pyg(data(torch.eye(3), adj_t=torch.eye(3).to_sparse()))


def test_a_table_of_several_types_of_numbers() -> None:
    table = pd.DataFrame({"age": pd.array([30, 40, 50], dtype="Int64"), "new": [True, False, True], "sum": [0.5, 1, 2]})
    graph = path(x=table)
    assert graph.x.tolist() == [[30, 1, 0.5], [40, 0, 1], [50, 1, 2]]
    assert graph.feature_names == ("age", "new", "sum")
    assert path(x=table[["sum"]].astype(np.float16)).x.dtype == np.float16
    with pytest.raises(GraphError, match=r"x\[1, 0\] is nan"):
        path(x=table.assign(age=pd.array([30, None, 50], dtype="Int64")))
    with pytest.raises(GraphError, match="x has dtype object: features must be numbers"):
        path(x=table.assign(new=["a", "b", "c"]))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (["eve", "ann", "bob"], r"row 0 is 'eve', node 0 is 'ann'; give {0}\.loc\[node_names\]"),
        ([0, 2, 1], r"row 1 is '2', node 1 is '1'; {0}\.sort_index\(\) takes them by number, {0}\.to_numpy\(\)"),
    ],
)
def test_tables_with_the_nodes_in_another_order_are_refused(index: list[Any], message: str) -> None:
    y, x = pd.Series([0, 1, 1], index=index), pd.DataFrame({"age": [1, 2, 3]}, index=index)
    network = nx.path_graph(NAMES)
    with pytest.raises(GraphError, match=message.format("y")):
        path(y=y)
    with pytest.raises(GraphError, match=message.format("x")):
        path(x=x)
    for again in (lambda: path().with_labels(y), lambda: Graph.from_networkx(network, x=np.eye(3), y=y)):
        with pytest.raises(GraphError, match="y is a Series whose index has the nodes in another order"):
            again()


@pytest.mark.parametrize("index", [None, NAMES, [7, 8, 9], ["x", "y", "z"]])
def test_other_tables_are_taken_by_position(index: list[Any] | None) -> None:
    y, x = pd.Series([0, 1, 1], index=index), pd.DataFrame(np.eye(3), index=index)
    assert path(x=x, y=y).fingerprint == path(y=[0, 1, 1]).fingerprint


@pytest.mark.parametrize("make", [np.array, sp.csr_array, sp.coo_array, pd.DataFrame])
def test_a_gap_in_an_adjacency_is_no_edge(make: Any) -> None:
    dense = np.array([[0, 1, np.nan], [1, 0, 0], [0, 0, 0]])
    with pytest.raises(GraphError, match=r"adjacency\[0, 2\] is nan: write 0 where there is no edge"):
        Graph.from_scipy(make(dense))
    assert Graph.from_scipy(make(np.nan_to_num(dense))).n_edges == 1


@pytest.mark.parametrize("edges", [[["ann"], ["bob"]], [[0.0], [1.0]]])
def test_edges_that_are_no_numbers_of_nodes(edges: list[Any]) -> None:
    with pytest.raises(GraphError, match=r"edges has dtype .*: node numbers must be integers"):
        Graph.from_edges(edges)  # it said that the graph is empty
