"""One direction of the edges: whose features a node sees, against dense references; what takes edges both ways."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import imgcl
from imgcl import Graph, GraphError, InputError
from imgcl.balance.centrality import pagerank
from imgcl.baselines.trees import neighbour_means
from imgcl.data.store import open_store, verify_store, write_store
from imgcl.encoders import make_encoder
from imgcl.graph.block import Block
from imgcl.graph.reduction import Reduction, propagated
from imgcl.training.sampling import FeatureSource, NeighbourSampler, encode_by_rows, sampled_block
from imgcl.views import AdaptiveEdgeRemoving, EdgeAdding, EdgeRemoving, PPRDiffusion

N = 30
RNG = np.random.default_rng(5)
EDGES, WEIGHTS, X = RNG.integers(0, N, size=(2, 90)), RNG.uniform(0.5, 3, size=90), RNG.normal(size=(N, 6))


def graph_of(directed_as: str = "in", weighted: bool = True) -> Graph:
    weights = WEIGHTS if weighted else None
    return Graph.from_edges(EDGES, x=X, n_nodes=N, edge_weight=weights, directed_as=directed_as)


def dense(directed_as: str, weighted: bool = True) -> np.ndarray:
    """a[i, j] is the weight by which i sees j."""
    a = np.zeros((N, N))
    for (u, v), w in zip(EDGES.T, WEIGHTS, strict=True):
        if u != v:
            i, j = (v, u) if directed_as == "in" else (u, v)
            a[i, j] = a[i, j] + w if weighted else 1
    return a


def dense_s(a: np.ndarray) -> np.ndarray:
    scale = 1 / np.sqrt(a.sum(axis=1) + 1)
    return (a + np.eye(N)) * scale[:, None] * scale


@pytest.mark.parametrize("directed_as", ["in", "out"])
@pytest.mark.parametrize("weighted", [True, False])
def test_operators_and_their_gradients(directed_as: str, weighted: bool) -> None:
    a, block = dense(directed_as, weighted), Block.from_graph(graph_of(directed_as, weighted))
    sums = a.sum(axis=1, keepdims=True)
    for operator, expected in (
        (block.normalised, dense_s(a)),
        (block.mean, a / np.where(sums > 0, sums, 1)),
        (block.total, a),
    ):
        leaf = torch.randn(N, 4, dtype=torch.float64, requires_grad=True)
        rows = torch.tensor([3, 17, 8])
        for chosen, part in ((operator, expected), (operator.select(rows), expected[rows])):
            leaf.grad = None
            result = chosen @ leaf
            assert result.detach().numpy() == pytest.approx(part @ leaf.detach().numpy(), abs=1e-6)
            gradient = torch.randn_like(result)
            result.backward(gradient)
            assert leaf.grad.numpy() == pytest.approx(part.T @ gradient.numpy(), abs=1e-6)


def test_in_and_out_are_each_other_turned_round() -> None:
    turned = Graph.from_edges(EDGES[::-1], x=X, n_nodes=N, edge_weight=WEIGHTS, directed_as="out")
    assert turned.fingerprint == graph_of("in").fingerprint != graph_of("out").fingerprint


def test_propagated_features_and_their_reduction() -> None:
    graph, s = graph_of("in"), dense_s(dense("in"))
    assert propagated(graph, np.array(graph.x), 2, None) == pytest.approx(s @ s @ X, abs=1e-5)
    back = propagated(graph, np.array(graph.x), 2, None, transposed=True)
    assert back == pytest.approx(s.T @ s.T @ X, abs=1e-5)
    found = Reduction.fit(graph, width=3, hops=2)
    expected = np.linalg.svd(s @ s @ X, full_matrices=False)[2][:3].T
    assert np.abs(np.sum(found.components * expected, axis=0)) == pytest.approx([1, 1, 1], abs=1e-4)


def test_structure_takes_edges_both_ways() -> None:
    graph, both = graph_of("in"), graph_of("both")
    assert (graph.adjacency != both.adjacency).nnz == 0
    assert (pagerank(graph) == pagerank(both)).all()
    assert graph.summary()["direction"] == (
        "features pass from source to target: a node sees the nodes that point at it"
    )


def test_means_over_the_nodes_that_are_seen() -> None:
    star = Graph.from_edges([[0, 0], [1, 2]], x=[[5.0], [1.0], [2.0]], directed_as="in")
    assert neighbour_means(star, np.array(star.x), hops=1)[0].ravel().tolist() == [0, 5, 5]


@pytest.mark.parametrize("name", ["gcn", "sage", "gin", "gat"])
def test_mini_batches_and_rows_are_those_of_the_whole_graph(name: str) -> None:
    torch.manual_seed(0)
    graph, anchors = graph_of("in"), np.array([4, 11, 20])
    encoder = make_encoder(name, 6, [8, 4]).eval()
    lists = graph.messages
    found = NeighbourSampler(lists).sample(anchors, [100, 100], 0)
    with torch.no_grad():
        whole = encoder([Block.from_graph(graph)])[0]
        block = sampled_block(lists, found, FeatureSource(lists), 2)
        piece = encoder([block], torch.arange(3))[0]
    torch.testing.assert_close(piece, whole[torch.from_numpy(anchors)], rtol=1e-4, atol=1e-5)
    assert encode_by_rows(encoder, lists, FeatureSource(lists)) == pytest.approx(whole.numpy(), abs=1e-5)


def test_views() -> None:
    block = Block.from_graph(graph_of("in"))
    dropped = EdgeRemoving(0.5)(block, torch.Generator().manual_seed(0))
    assert dropped.directed
    kept = dropped.adjacency.to_scipy().toarray()
    assert 0 < (kept > 0).sum() < (dense("in") > 0).sum()
    for view in (PPRDiffusion(), EdgeAdding(0.2), AdaptiveEdgeRemoving(0.2)):
        with pytest.raises(InputError, match="needs edges that link both their ends: use `directed_as='both'`"):
            view(block, torch.Generator())


def test_stores_subgraphs_and_torch_geometric_keep_the_direction(tmp_path) -> None:
    graph = graph_of("out")
    path = write_store(graph, tmp_path / "g.store")
    verify_store(path)
    assert replace(open_store(path), name="x").fingerprint == graph.fingerprint
    nodes = np.arange(10)
    assert (graph.subgraph(nodes).messages.adjacency.toarray() == dense("out")[:10, :10].astype(np.float32)).all()
    pytest.importorskip("torch_geometric")
    again = Graph.from_pyg(graph_of("in").to_pyg(), directed_as="in")
    assert (again.messages.adjacency != graph_of("in").messages.adjacency).nnz == 0


def test_relations_side_by_side_have_no_direction() -> None:
    with pytest.raises(GraphError, match=r"and relations side by side exclude each other"):
        Graph.from_relations({"a": EDGES}, n_nodes=N, relations="side-by-side", directed_as="in")


def test_training_whole_and_in_mini_batches() -> None:
    graph = replace(graph_of("in"), y=np.tile([0, 1], 15))
    for size in (0, 10):
        model = imgcl.ImGCL(n_clusters=2, epochs=2, settings={"dim": 4, "batch_size": size}).fit(graph)
        s = dense_s(dense("in"))
        expected = s @ s @ ((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))
        assert model.blocks_["neighbours"] == pytest.approx(expected, abs=1e-5)
