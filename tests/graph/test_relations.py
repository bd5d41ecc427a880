"""Several kinds of edges between the same nodes: their union, and each by itself."""

import numpy as np
import pytest
import torch

from imgcl import Graph, GraphError
from imgcl.data import load_graph
from imgcl.data.store import open_store, verify_store, write_store

KINDS = {"product": np.array([[0, 1, 2], [1, 2, 3]]), "star": np.array([[0, 3], [1, 0]])}


def both(**options) -> Graph:
    return Graph.from_relations(KINDS, x=np.eye(4), relations="side-by-side", **options)


def test_the_union_has_every_edge_once() -> None:
    graph = Graph.from_relations(KINDS, x=np.eye(4))
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    assert graph.relations == ()
    assert graph.summary()["relations"] == "union of product, star"


def test_side_by_side_keeps_each() -> None:
    graph = both()
    assert graph.fingerprint != Graph.from_relations(KINDS, x=np.eye(4)).fingerprint
    assert graph.relation("star").adjacency.toarray().tolist() == [
        [0, 1, 0, 1],
        [1, 0, 0, 0],
        [0, 0, 0, 0],
        [1, 0, 0, 0],
    ]
    assert graph.relation("star").relations == ()
    assert graph.summary()["relations"] == "side by side: product (3 edges), star (2 edges)"
    with pytest.raises(GraphError, match=r"has no relation 'text' side by side: it has 'product', 'star'"):
        graph.relation("text")


def test_weights_are_summed_over_relations() -> None:
    graph = both(edge_weight={"star": [2.0, 5.0]})
    assert graph.adjacency.toarray()[0].tolist() == [0, 3, 0, 5]  # 0-1 is a product link of 1 and a star link of 2
    assert graph.relation("star").adjacency.toarray()[0].tolist() == [0, 2, 0, 5]
    assert graph.relation("product").edge_weight is None
    with pytest.raises(GraphError, match="edge_weight names the relation 'text'"):
        both(edge_weight={"text": [1.0]})


def test_subgraphs_and_stores_keep_the_relations(tmp_path) -> None:
    graph = both(edge_weight={"star": [2.0, 5.0]})
    part = graph.subgraph([3, 0])
    assert part.relation("star").adjacency.toarray().tolist() == [[0, 5], [5, 0]]
    assert part.relation("product").n_edges == 0
    path = write_store(graph, tmp_path / "g.store")
    verify_store(path)
    opened = open_store(path)
    assert opened.fingerprint == graph.fingerprint
    assert (opened.relation("star").adjacency != graph.relation("star").adjacency).nnz == 0


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ({}, "there are no relations"),
        ([[[0], [1]]], "edges is a list: give a mapping from names of relations to their edges"),
        ({"a": [[0, 1, 2]]}, "edges of the relation 'a' have shape (1, 3)"),
        ({"": [[0], [1]]}, "'' is no name of a relation"),
        ({f"r{i}": [[0], [1]] for i in range(17)}, "there are 17 relations: at most 16"),
    ],
)
def test_what_is_refused(edges, message) -> None:
    with pytest.raises(GraphError) as caught:
        Graph.from_relations(edges, relations="side-by-side")
    assert message in str(caught.value)


def test_hetero_data_with_one_type_of_nodes() -> None:
    hetero = pytest.importorskip("torch_geometric.data").HeteroData
    data = hetero()
    data["user"].x, data["user"].y = torch.eye(4), torch.tensor([0, 1, 0, 1])
    data["user", "product", "user"].edge_index = torch.from_numpy(KINDS["product"])
    data["user", "star", "user"].edge_index = torch.from_numpy(KINDS["star"])
    data["user", "star", "user"].edge_weight = torch.tensor([2.0, 5.0])
    graph = load_graph(data, relations="side-by-side")
    assert graph.fingerprint == both(edge_weight={"star": [2.0, 5.0]}, y=[0, 1, 0, 1]).fingerprint
    assert Graph.from_pyg(data).relations == ()
    assert Graph.from_pyg(data, weighted=False).edge_weight is None
    data["user"].y = data["user"].y[:, None]
    assert Graph.from_pyg(data).y.tolist() == [0, 1, 0, 1]
    data["item"].x = torch.eye(2)
    with pytest.raises(GraphError, match=r"2 types of nodes \('user', 'item'\), a graph has one: link the nodes"):
        Graph.from_pyg(data)
