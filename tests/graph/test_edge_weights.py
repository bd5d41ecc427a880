"""Edge weights: read, checked, symmetrised, and used by all that passes along edges, against dense references."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl import Graph, GraphError
from imgcl.balance.centrality import betweenness, core, degree, eigenvector, katz, pagerank
from imgcl.balance.clusters.communities import modularity
from imgcl.balance.inputs import as_graph
from imgcl.baselines.trees import neighbour_means
from imgcl.data import load_graph
from imgcl.data.store import open_store, verify_store, write_store
from imgcl.graph.block import Block
from imgcl.graph.reduction import Reduction, propagated

N = 24


def weighted_graph(n: int = N, edges: int = 60, seed: int = 3) -> Graph:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 4, size=edges)
    return Graph.from_edges(
        rng.integers(0, n, size=(2, edges)), x=rng.normal(size=(n, 5)), n_nodes=n, edge_weight=weights
    )


def dense_s(graph: Graph) -> np.ndarray:
    a = graph.adjacency.toarray().astype(float) + np.eye(graph.n_nodes)
    scale = 1 / np.sqrt(a.sum(axis=1))
    return a * scale[:, None] * scale


# ---------------------------------------------------------------- reading


def test_weights_are_symmetric_summed_and_averaged() -> None:
    edges = [[0, 0, 1, 1, 2, 3], [1, 1, 0, 2, 2, 1]]
    graph = Graph.from_edges(edges, n_nodes=4, edge_weight=[1, 2, 5, 0.5, 9, 2])
    # 0-1: 1 + 2 one way and 5 the other, so 4; 1-2 and 1-3 one way only; the loop at 2 goes
    assert graph.adjacency.toarray().tolist() == [[0, 4, 0, 0], [4, 0, 0.5, 2], [0, 0.5, 0, 0], [0, 2, 0, 0]]
    assert graph.weighted_degree.tolist() == [4, 6.5, 0.5, 2]
    assert graph.degree.tolist() == [1, 3, 1, 1]
    assert str(graph.cleaning) == (
        "1 self-loops removed, 1 duplicate edges merged and their weights summed, 2 one-directional edges mirrored, "
        "1 edges with two weights, one each way, given their mean"
    )


def test_mutual_keeps_what_points_both_ways() -> None:
    edges = [[0, 1, 1, 2, 0], [1, 0, 2, 3, 1]]
    graph = Graph.from_edges(edges, n_nodes=4, directed_as="mutual", edge_weight=[1, 5, 7, 7, 2])
    assert graph.adjacency.toarray()[:2, :2].tolist() == [[0, 4], [4, 0]]
    assert graph.n_edges == 1
    assert graph.cleaning.dropped == 2
    assert graph.summary()["direction"] == "only nodes that point at each other are linked"
    plain = Graph.from_edges(edges, n_nodes=4)
    assert (plain.n_edges, plain.summary()["direction"]) == (3, "an edge in either direction links both its ends")
    network = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    assert load_graph(network, directed_as="mutual", features="own").n_edges == 1
    with pytest.raises(GraphError, match="directed_as is 'up': choose from both, mutual"):
        Graph.from_edges(edges, directed_as="up")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0.01, 100)), max_size=30))
def test_any_list_gives_a_symmetric_matrix(rows: list[tuple[int, int, float]]) -> None:
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    graph = Graph.from_edges(table[:, :2].astype(int).T, n_nodes=6, edge_weight=table[:, 2])
    matrix = graph.adjacency.toarray()
    assert (matrix == matrix.T).all()
    assert (matrix[matrix != 0] > 0).all()


def test_a_list_in_both_directions_is_the_graph_of_one_direction() -> None:
    once = Graph.from_edges([[0, 1], [1, 2]], edge_weight=[0.5, 3])
    twice = Graph.from_edges([[0, 1, 1, 2], [1, 2, 0, 1]], edge_weight=[0.5, 3, 0.5, 3])
    assert once.fingerprint == twice.fingerprint


def test_weights_of_1_are_no_weights() -> None:
    plain, ones = (Graph.from_edges([[0, 1], [1, 2]], edge_weight=w) for w in (None, [1, 1]))
    assert ones.edge_weight is None
    assert ones.fingerprint == plain.fingerprint
    assert replace(plain, edge_weight=np.full(4, 2, np.float32)).fingerprint != plain.fingerprint


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2], "edge_weight[1] is -2 (1 such values): weights must be above 0 and finite"),
        ([0, 1], "edge_weight[0] is 0 (1 such values): weights must be above 0"),
        ([1, np.nan], "edge_weight[1] is nan (1 such values): weights must be above 0 and finite"),
        ([np.inf, 1], "edge_weight[0] is inf"),
        ([1e-30, 1], "weights must lie between 1e-15 and 1e+15; scale them first"),
        (["a", "b"], "edge_weight has dtype <U1: weights must be numbers"),
        ([1, 2, 3], "edge_weight has shape (3,), expected (2,): one weight per edge"),
    ],
)
def test_bad_weights(weights: list[object], message: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph.from_edges([[0, 1], [1, 2]], edge_weight=weights)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_subgraph_keeps_its_weights() -> None:
    graph = weighted_graph()
    nodes = np.array([7, 2, 15, 4, 9, 11])
    expected = graph.adjacency.toarray()[np.ix_(nodes, nodes)]
    assert (graph.subgraph(nodes).adjacency.toarray() == expected).all()
    assert graph.subgraph(nodes).edge_weight is not None


def test_the_weights_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        weighted_graph().edge_weight[0] = 5  # type: ignore[index]


def test_the_summary_says_the_weights() -> None:
    assert Graph.from_edges([[0, 1], [1, 2]]).summary()["edge weights"] == "none"
    assert Graph.from_edges([[0, 1], [1, 2]], edge_weight=[1, 4]).summary()["edge weights"] == "1 to 4, mean 2.5"


# ---------------------------------------------------------------- other libraries and files


def test_scipy_values_are_weights_if_asked() -> None:
    matrix = sp.csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.5], [0.0, 0.5, 0.0]]))
    assert (Graph.from_scipy(matrix, weighted=True).adjacency.toarray() == matrix.toarray()).all()
    assert Graph.from_scipy(matrix).edge_weight is None


def test_to_torch_geometric_and_back() -> None:
    pytest.importorskip("torch_geometric")
    graph = weighted_graph()
    data = graph.to_pyg()
    assert data.edge_weight.tolist() == graph.edge_weight.tolist()  # type: ignore[union-attr]
    assert Graph.from_pyg(data).fingerprint == graph.fingerprint
    assert load_graph(data, weighted=False).edge_weight is None
    assert "edge_weight" not in Graph.from_pyg(data, weighted=False).to_pyg()
    assert (pagerank(as_graph(data)) == pagerank(graph)).all()


def test_an_edge_attribute_of_one_column_is_the_weight() -> None:
    data = pytest.importorskip("torch_geometric.data").Data
    edges = torch.tensor([[0, 1], [1, 2]])
    one = data(edge_index=edges, edge_attr=torch.tensor([[2.0], [0.5]]), num_nodes=3)
    assert Graph.from_pyg(one).edge_weight.tolist() == [2, 2, 0.5, 0.5]  # type: ignore[union-attr]
    assert Graph.from_pyg(data(edge_index=edges, edge_attr=torch.ones(2, 3), num_nodes=3)).edge_weight is None
    signed = data(edge_index=edges, edge_attr=torch.tensor([2.0, -1.0]), num_nodes=3)
    with pytest.raises(GraphError, match=r"edge_attr has one column.*pass weighted=False"):
        Graph.from_pyg(signed)
    assert Graph.from_pyg(signed, weighted=False).n_edges == 2


def test_networkx_weights() -> None:
    network = nx.Graph()
    network.add_edge("a", "b", weight=2.5)
    network.add_edge("b", "c")
    graph = Graph.from_networkx(network)
    assert graph.adjacency.toarray().tolist() == [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]]
    assert Graph.from_networkx(network, weight=None).edge_weight is None
    with pytest.raises(GraphError, match=r"no edge has the attribute 'cost' \(`weight`\)"):
        load_graph(network, weight="cost")
    network["b"]["c"]["weight"] = "much"
    with pytest.raises(GraphError, match=r"'weight' of edge \('b', 'c'\) is 'much': weights must be numbers; pass"):
        Graph.from_networkx(network)


def test_a_multigraph_sums_its_parallel_edges() -> None:
    network = nx.MultiGraph([("a", "b", {"weight": 2}), ("a", "b", {"weight": 3})])
    assert Graph.from_networkx(network).edge_weight.tolist() == [5, 5]  # type: ignore[union-attr]


def test_a_store_keeps_the_weights(tmp_path) -> None:  # type: ignore[no-untyped-def]
    graph = weighted_graph()
    path = write_store(graph, tmp_path / "g.store")
    verify_store(path)
    opened = open_store(path)
    assert opened.edge_weight.tolist() == graph.edge_weight.tolist()  # type: ignore[union-attr]
    assert replace(opened, name="new").fingerprint == graph.fingerprint
    with pytest.raises(GraphError, match="edge_weight is not above 0 everywhere"):
        verify_store(write_store(replace(graph, edge_weight=-graph.edge_weight), tmp_path / "bad.store"))  # type: ignore[operator]


# ---------------------------------------------------------------- products


def test_operators_equal_the_dense_ones() -> None:
    graph, source = weighted_graph(), torch.randn(N, 7, dtype=torch.float64)
    a, block = graph.adjacency.toarray().astype(float), Block.from_graph(graph)
    sums = a.sum(axis=1, keepdims=True)
    for operator, dense in (
        (block.normalised, dense_s(graph)),
        (block.mean, a / np.where(sums > 0, sums, 1)),
        (block.total, a),
    ):
        source.grad = None
        leaf = source.clone().requires_grad_()
        result = operator @ leaf
        assert result.detach().numpy() == pytest.approx(dense @ source.numpy(), abs=1e-6)
        gradient = torch.randn_like(result)
        result.backward(gradient)  # type: ignore[no-untyped-call]
        assert leaf.grad.numpy() == pytest.approx(dense.T @ gradient.numpy(), abs=1e-6)  # type: ignore[union-attr]


def test_propagated_features_equal_the_dense_ones() -> None:
    graph = weighted_graph()
    expected = dense_s(graph) @ dense_s(graph) @ graph.x
    assert propagated(graph, np.array(graph.x), 2, None) == pytest.approx(expected, abs=1e-5)
    wide = Reduction.fit(graph, width=3, hops=2)
    left = np.linalg.svd(expected, full_matrices=False)[2][:3].T
    assert np.abs(np.sum(wide.components * left, axis=0)) == pytest.approx([1, 1, 1], abs=1e-4)


def test_dropped_edges_leave_the_weights_of_the_others() -> None:
    graph = weighted_graph()
    before, after = graph.adjacency.toarray(), Block.from_graph(graph).adjacency.drop_edges(0.5, seed=1)
    kept = after.to_scipy().toarray()
    assert 0 < (kept > 0).sum() < (before > 0).sum()
    assert (kept[kept > 0] == before[kept > 0]).all()
    assert (kept == kept.T).all()


def test_means_over_neighbours_are_weighted() -> None:
    star = Graph.from_edges([[0, 0], [1, 2]], x=[[0.0], [1.0], [5.0]], edge_weight=[3, 1])
    assert neighbour_means(star, np.array(star.x), hops=1)[0].ravel().tolist() == [2, 0, 0]


# ---------------------------------------------------------------- centralities and communities


def test_centralities_use_the_weights() -> None:
    graph = weighted_graph()
    network = nx.from_scipy_sparse_array(graph.adjacency)
    theirs = np.array(list(nx.pagerank(network, tol=1e-13, max_iter=10_000).values()))
    ours = pagerank(graph)
    assert ours / ours.sum() == pytest.approx(theirs, abs=1e-8)
    assert degree(graph) == pytest.approx(graph.adjacency.toarray().sum(axis=1))
    a = graph.adjacency.toarray().astype(float)
    values, vectors = np.linalg.eigh(a)
    assert eigenvector(graph) == pytest.approx(np.abs(vectors[:, -1]), abs=1e-6)
    expected = np.linalg.solve(np.eye(N) - 0.85 / values[-1] * a, np.ones(N))
    assert katz(graph) == pytest.approx(expected, rel=1e-6)


def test_core_number_and_betweenness_do_not() -> None:
    graph = weighted_graph()
    plain = replace(graph, edge_weight=None)
    assert (core(graph) == core(plain)).all()
    assert (betweenness(graph) == betweenness(plain)).all()


def test_modularity_counts_edges_by_weight() -> None:
    # a path whose middle edge is light: two pairs; shares of edge ends 10/11 inside, 1/11 between
    path = Graph.from_edges([[0, 1, 2], [1, 2, 3]], edge_weight=[5, 1, 5])
    assert modularity(path, np.array([0, 0, 1, 1]), 2) == pytest.approx(10 / 11 - 0.5)


def test_communities_follow_the_weights() -> None:
    pytest.importorskip("igraph")
    from imgcl.balance.clusters.communities import leiden

    ring = [[0, 1, 2, 3], [1, 2, 3, 0]]
    one = leiden(Graph.from_edges(ring, edge_weight=[9, 1, 9, 1]), 1.0, seed=0)
    other = leiden(Graph.from_edges(ring, edge_weight=[1, 9, 1, 9]), 1.0, seed=0)
    assert one[0] == one[1] != one[2] == one[3]
    assert other[1] == other[2] != other[3] == other[0]
