"""Mini-batches of weighted graphs: all neighbours give the whole graph's rows, samples estimate them."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from imgcl.data import synthetic_graph
from imgcl.encoders import make_encoder
from imgcl.graph.block import Block
from imgcl.training.sampling import FeatureSource, NeighbourSampler, encode_by_rows, sampled_block
from imgcl.views import EdgeRemoving, PPRDiffusion


def weighted(graph):
    rng = np.random.default_rng(0)
    matrix = graph.adjacency.toarray() * rng.uniform(0.2, 3, size=(graph.n_nodes,) * 2)
    matrix = np.tril(matrix) + np.tril(matrix).T
    rows = np.repeat(np.arange(graph.n_nodes), graph.degree)
    return replace(graph, edge_weight=matrix[rows, graph.indices].astype(np.float32))


GRAPH = weighted(synthetic_graph(class_sizes=[90, 40, 20], mean_degree=9, n_features=12, seed=2))
ANCHORS = np.array([5, 100, 17, 3])
ENCODERS = ("gcn", "sage", "gin", "gat")


def block_of(anchors, fanout, seed=0):
    found = NeighbourSampler(GRAPH).sample(anchors, fanout, seed)
    return sampled_block(GRAPH, found, FeatureSource(GRAPH), len(fanout))


@pytest.mark.parametrize("name", ENCODERS)
def test_all_neighbours_give_the_rows_of_the_whole_graph(name):
    torch.manual_seed(0)
    encoder = make_encoder(name, 12, [8, 8])
    whole, piece = copy.deepcopy(encoder), copy.deepcopy(encoder)
    z = whole([Block.from_graph(GRAPH)], torch.from_numpy(ANCHORS))[0]
    z_piece = piece([block_of(ANCHORS, [1000, 1000])], torch.arange(len(ANCHORS)))[0]
    torch.testing.assert_close(z_piece, z, rtol=1e-4, atol=1e-5)
    for out in (z, z_piece):
        out.square().sum().backward()
    for ours, theirs in zip(piece.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-3, atol=1e-4 * float(theirs.grad.abs().max() + 1e-6))


@pytest.mark.parametrize("name", ["gcn", "gin"])
def test_samples_estimate_the_whole_graph(name):
    torch.manual_seed(0)
    encoder = make_encoder(name, 12, [6], activation="none", finish=False).eval()
    if name == "gin":
        encoder.layers[0].bias.data.fill_(1e3)  # its ReLU passes everything on
    with torch.no_grad():
        exact = encoder([Block.from_graph(GRAPH)], torch.from_numpy(ANCHORS))[0]
        rows = torch.arange(len(ANCHORS))
        drawn = torch.stack([encoder([block_of(ANCHORS, [3], seed)], rows)[0] for seed in range(600)])
    spread = drawn.std(dim=0) / len(drawn) ** 0.5
    assert float(((drawn.mean(dim=0) - exact).abs() / (spread + 1e-4)).max()) < 5


@pytest.mark.parametrize("name", ENCODERS)
def test_embeddings_by_rows_are_those_of_the_whole_graph(name):
    torch.manual_seed(0)
    encoder = make_encoder(name, 12, [8, 4]).eval()
    with torch.no_grad():
        expected = encoder([Block.from_graph(GRAPH)])[0].numpy()
    assert encode_by_rows(encoder, GRAPH, FeatureSource(GRAPH)) == pytest.approx(expected, abs=1e-5)


def test_dropped_edges_are_those_of_the_whole_graph_and_keep_their_weights():
    dropped = Block.from_graph(GRAPH).adjacency.drop_edges(0.5, seed=9).to_scipy().toarray()
    lists = block_of(ANCHORS, [1000]).adjacency.drop_edges(0.5, seed=9)
    rows = lists.to_scipy().toarray()[: len(ANCHORS)]
    found = np.zeros((len(ANCHORS), GRAPH.n_nodes), dtype=np.float32)
    found[:, lists.nodes] = rows
    assert (found == dropped[ANCHORS]).all()
    view = EdgeRemoving(0.5)(block_of(ANCHORS, [1000]), torch.Generator().manual_seed(0))
    assert view.steps(1, None)[0][0].own_degree.isfinite().all()


def test_a_diffusion_of_anchors_is_that_of_the_whole_graph():
    view, encoder = PPRDiffusion(epsilon=1e-6, top_k=None), make_encoder("gcn", 12, [6]).eval()
    found = NeighbourSampler(GRAPH).sample(ANCHORS, [2], 0)
    block = sampled_block(GRAPH, found, FeatureSource(GRAPH), 1, diffusion=view.rows())
    with torch.no_grad():
        whole = encoder([view(Block.from_graph(GRAPH), torch.Generator())])[0]
        z = encoder([view(block, torch.Generator())], torch.arange(len(ANCHORS)))[0]
        by_rows = encode_by_rows(encoder, GRAPH, FeatureSource(GRAPH), diffusion=view.rows())
    # single rows are not symmetrised: entries are too small by up to the threshold
    torch.testing.assert_close(z, whole[torch.from_numpy(ANCHORS)], rtol=1e-2, atol=1e-2)
    assert by_rows == pytest.approx(whole.numpy(), abs=1e-2)
