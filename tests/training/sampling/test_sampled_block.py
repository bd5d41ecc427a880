"""A neighbourhood in which nothing was left out gives what the whole graph gives; a sample estimates it."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.errors import InputError
from imgcl._core.sparse import features_of
from imgcl.data import synthetic_graph
from imgcl.encoders import make_encoder
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.methods import METHODS
from imgcl.training.sampling import FeatureSource, NeighbourSampler, encode_by_rows, sampled_block
from imgcl.views import EdgeRemoving, FeatureMasking, FeatureShuffling, PPRDiffusion

GRAPH = synthetic_graph(class_sizes=[90, 40, 20], mean_degree=9, n_features=12, seed=2)
ANCHORS = np.array([5, 100, 17, 3])
ENCODERS = ("gcn", "sage", "gin", "gat")


def block_of(graph, anchors, fanout, seed=0, normalise="none"):
    source = FeatureSource(graph, normalise)
    found = NeighbourSampler(graph).sample(anchors, fanout, seed)
    return sampled_block(graph, found, source, len(fanout))


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("name", ENCODERS)
def test_all_neighbours_give_the_rows_of_the_whole_graph(name, layers):
    torch.manual_seed(0)
    encoder = make_encoder(name, 12, [8] * layers, residual=layers > 1, jumping="cat" if layers == 2 else "last")
    whole, piece = copy.deepcopy(encoder), copy.deepcopy(encoder)
    z = whole([Block.from_graph(GRAPH)], torch.from_numpy(ANCHORS))[0]
    block = block_of(GRAPH, ANCHORS, [1000] * layers)
    z_piece = piece([block], torch.arange(len(ANCHORS)))[0]
    torch.testing.assert_close(z_piece, z, rtol=1e-4, atol=1e-5)
    for out in (z, z_piece):
        out.square().sum().backward()
    for (key, ours), theirs in zip(piece.named_parameters(), whole.parameters(), strict=True):
        scale = float(theirs.grad.abs().max()) + 1e-6
        torch.testing.assert_close(
            ours.grad, theirs.grad, rtol=1e-3, atol=1e-4 * scale, msg=lambda m, k=key: f"{k}: {m}"
        )


@pytest.mark.parametrize("name", ENCODERS)
def test_masked_columns_are_those_of_the_whole_graph(name):
    torch.manual_seed(0)
    encoder = make_encoder(name, 12, [8, 4]).eval()
    view = FeatureMasking(0.5)(block_of(GRAPH, ANCHORS, [1000, 1000]), torch.Generator().manual_seed(1))
    assert 0 < view.column_mask.sum() < 12
    masked = Graph(GRAPH.indptr, GRAPH.indices, GRAPH.x * view.column_mask.numpy())
    expected = encoder([Block.from_graph(masked)], torch.from_numpy(ANCHORS))[0]
    torch.testing.assert_close(encoder([view], torch.arange(len(ANCHORS)))[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["gcn", "gin", "sage"])
def test_samples_estimate_the_whole_graph(name):
    """One layer is linear in the neighbours: the mean over many samples comes near the whole graph's rows."""
    torch.manual_seed(0)
    encoder = make_encoder(name, 12, [6], activation="none", finish=False).eval()
    if name == "gin":
        encoder.layers[0].bias.data.fill_(1e3)  # its ReLU passes everything on
    with torch.no_grad():
        exact = encoder([Block.from_graph(GRAPH)], torch.from_numpy(ANCHORS))[0]
        rows = torch.arange(len(ANCHORS))
        drawn = torch.stack([encoder([block_of(GRAPH, ANCHORS, [3], seed)], rows)[0] for seed in range(800)])
    spread = drawn.std(dim=0) / len(drawn) ** 0.5
    assert float(((drawn.mean(dim=0) - exact).abs() / (spread + 1e-4)).max()) < 5


def test_edges_are_dropped_as_in_the_whole_graph():
    dropped = Block.from_graph(GRAPH).adjacency.drop_edges(0.5, seed=9).to_scipy().toarray()
    block = block_of(GRAPH, ANCHORS, [1000, 1000])
    view = block.with_adjacency(block.adjacency.drop_edges(0.5, seed=9))
    inside = view.reach[1]
    local = view.adjacency.to_scipy().toarray()[:inside]
    np.testing.assert_array_equal(local, dropped[np.ix_(view.nodes[:inside], view.nodes)])
    assert 0 < local.sum() < block.adjacency.n_entries


def test_normalisation_follows_the_dropped_edges():
    block = block_of(GRAPH, ANCHORS, [1000, 1000])
    view = EdgeRemoving(0.25)(EdgeRemoving(0.5)(block, torch.Generator().manual_seed(0)), torch.Generator())
    piece, _ = view.steps(2, None)[0]
    left = torch.diff(view.adjacency.indptr)[: view.reach[1]].float()
    torch.testing.assert_close(piece.own_degree, left)  # nothing was left out of the lists, so this is exact
    torch.testing.assert_close(piece.degree, 0.5 * 0.75 * view.degree)
    plain, _ = block.steps(2, None)[0]
    torch.testing.assert_close(plain.own_degree, plain.degree[: block.reach[1]])


def test_shuffled_features_are_those_of_the_shuffled_graph():
    generator = torch.Generator().manual_seed(4)
    blocks = [block_of(GRAPH, anchors, [2]) for anchors in (ANCHORS, ANCHORS[:2])]
    shuffled = [FeatureShuffling()(block, generator.manual_seed(4)) for block in blocks]
    first = {
        node: row for block in shuffled for node, row in zip(block.nodes, block.dense_features().tolist(), strict=True)
    }
    for block in shuffled:  # a node gets the same features in both neighbourhoods
        assert [first[node] for node in block.nodes] == block.dense_features().tolist()
    known = {tuple(row) for row in GRAPH.x.tolist()}
    assert all(tuple(row) in known for row in first.values())
    assert not np.allclose(blocks[0].dense_features(), shuffled[0].dense_features())


def test_diffusion_rows_of_the_anchors():
    """The push's own rows, before the whole matrix is made symmetric: the same up to the push's threshold."""
    view = PPRDiffusion(epsilon=1e-9, top_k=None)
    torch.manual_seed(0)
    encoder = make_encoder("gcn", 12, [4])
    generator = torch.Generator()
    exact = encoder([view(Block.from_graph(GRAPH), generator)], torch.from_numpy(ANCHORS))[0]
    found = NeighbourSampler(GRAPH).sample(ANCHORS, [2], 0)
    block = sampled_block(GRAPH, found, FeatureSource(GRAPH), 1, diffusion=view.rows())
    assert block.n_nodes > found.reach[-1]
    out = encoder([view(block, generator)], torch.arange(len(ANCHORS)))[0]
    torch.testing.assert_close(out, exact, rtol=1e-3, atol=1e-5)
    out.sum().backward()
    near = encoder([block], torch.arange(len(ANCHORS)))[0]  # the other nodes do not disturb the neighbourhood
    torch.testing.assert_close(near, encoder([block_of(GRAPH, ANCHORS, [2])], None)[0])
    with pytest.raises(InputError, match="one layer"):
        sampled_block(GRAPH, found, FeatureSource(GRAPH), 2, diffusion=view.rows())


# ---------------------------------------------------------------------- features


@pytest.mark.parametrize("normalise", ["none", "row", "column"])
@pytest.mark.parametrize("kind", ["dense", "half", "sparse"])
def test_features_of_some_nodes(normalise, kind, monkeypatch):
    monkeypatch.setattr("imgcl.graph.rows.ROWS_AT_ONCE", 7)
    x = np.abs(np.random.default_rng(0).normal(size=(30, 5))).astype(np.float32) * 100 + 3
    x = {"dense": x, "half": x.astype(np.float16), "sparse": sp.csr_array(x * (x > 100))}[kind]
    graph = Graph.from_edges([[0], [1]], x)
    nodes = np.array([7, 0, 29, 3])
    expected = features_of(graph.x, normalise).to_dense()
    source = FeatureSource(graph, normalise)
    torch.testing.assert_close(source.take(nodes).to_dense(), expected[nodes], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(source.rows(4, 9).to_dense(), expected[4:9], rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------- embedding by rows


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("settings", [{}, {"residual": True, "norm": "batch"}, {"jumping": "cat"}], ids=str)
def test_by_rows_is_the_same_as_at_once(name, settings, monkeypatch, tmp_path):
    monkeypatch.setattr("imgcl.graph.rows.ENTRIES_AT_ONCE", 40)
    monkeypatch.setattr("imgcl.graph.rows.ROWS_AT_ONCE", 11)
    monkeypatch.setattr("imgcl.training.sampling.inference.ROWS_AT_ONCE", 11)
    torch.manual_seed(0)
    encoder = make_encoder(name, 12, [8, 8, 4], **settings)
    encoder.train()([Block.from_graph(GRAPH)])  # so that the batch norm has seen something
    encoder.eval()
    with torch.no_grad():
        expected = encoder([Block.from_graph(GRAPH)])[0].numpy()
    found = encode_by_rows(encoder, GRAPH, FeatureSource(GRAPH), scratch=tmp_path)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("normalise", ["none", "column"])
@pytest.mark.parametrize("name", ENCODERS)
def test_few_features_by_rows(name, normalise, tmp_path):
    torch.manual_seed(0)
    encoder = make_encoder(name, 12, [20, 4]).eval()
    with torch.no_grad():
        expected = encoder([Block.from_graph(GRAPH, normalise=normalise)])[0].numpy()
    source = FeatureSource(GRAPH, normalise)
    assert (source.plain is GRAPH.x) == (normalise == "none")
    found = encode_by_rows(encoder, GRAPH, source, scratch=tmp_path)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("width", [8, 16])
def test_diffusion_by_rows(width):
    view = PPRDiffusion(epsilon=1e-9, top_k=None)
    torch.manual_seed(0)
    encoder = make_encoder("gcn", 12, [width]).eval()
    with torch.no_grad():
        expected = encoder([view(Block.from_graph(GRAPH), torch.Generator())])[0].numpy()
    found = encode_by_rows(encoder, GRAPH, FeatureSource(GRAPH), diffusion=view.rows())
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_branches_add_up_to_the_embedding(name):
    exact = {"epsilon": 1e-9, "top_k": None} if name == "mvgrl" else {}
    torch.manual_seed(0)
    method = METHODS[name](12, METHODS[name].Settings(dim=8, **exact)).eval()
    with torch.no_grad():
        expected = method.embed(Block.from_graph(GRAPH)).numpy()
    parts = [
        encode_by_rows(encoder, GRAPH, FeatureSource(GRAPH), diffusion=None if view is None else view.rows())
        for encoder, view in method.branches()
    ]
    np.testing.assert_allclose(sum(parts), expected, rtol=1e-4, atol=1e-5)
