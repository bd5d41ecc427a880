"""Every encoder against torch_geometric's own convolution with the same weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv

from imgcl._core.sparse import CSR
from imgcl.encoders import GAT, GCN, GIN, GraphSAGE
from imgcl.graph import Graph
from imgcl.graph.block import Block

N, F, H = 30, 6, 8


@pytest.fixture
def block() -> Block:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, N - 2, size=(2, 60))  # the last two nodes are isolated
    return Block.from_graph(Graph.from_edges(edges, x=rng.normal(size=(N, F))))


def weighted(block: Block) -> Block:
    adjacency = block.adjacency
    weights = ((adjacency.row_index + adjacency.indices) % 5 + 1).float() / 3  # the same from both ends
    return block.with_adjacency(CSR(adjacency.indptr, adjacency.indices, weights, adjacency.n_columns))


def edge_index(block: Block) -> Tensor:
    return torch.stack([block.adjacency.indices.long(), block.adjacency.row_index])


def assert_same(encoder: nn.Module, block: Block, expected: Tensor) -> None:
    (out,) = encoder([block])
    assert torch.allclose(out, expected, atol=1e-5)
    rows = torch.tensor([4, N - 1, 0, 17])
    assert torch.allclose(encoder([block], rows)[0], expected[rows], atol=1e-5)


def plain(kind: type[nn.Module], **settings: object) -> nn.Module:
    torch.manual_seed(1)
    encoder = kind(F, [H], activation="none", **settings)
    nn.init.normal_(encoder.finishes[0].bias)  # type: ignore[union-attr, index, arg-type]
    return encoder


@pytest.mark.parametrize("with_weights", [False, True])
def test_gcn(block: Block, with_weights: bool) -> None:
    block = weighted(block) if with_weights else block
    encoder, stock = plain(GCN), GCNConv(F, H)
    stock.lin.weight.data, stock.bias.data = encoder.layers[0].weight.data.T, encoder.finishes[0].bias.data
    assert_same(encoder, block, stock(block.dense_features(), edge_index(block), block.adjacency.weights))


def test_gcn_on_a_diffusion_matrix_uses_it_as_it_is(block: Block) -> None:
    block = replace(weighted(block), diffused=True)
    encoder, stock = plain(GCN), GCNConv(F, H, normalize=False)
    stock.lin.weight.data, stock.bias.data = encoder.layers[0].weight.data.T, encoder.finishes[0].bias.data
    assert_same(encoder, block, stock(block.dense_features(), edge_index(block), block.adjacency.weights))


def test_sage(block: Block) -> None:
    encoder, stock = plain(GraphSAGE), SAGEConv(F, H, aggr="mean")
    stock.lin_l.weight.data, stock.lin_l.bias.data = (
        encoder.layers[0].neighbour_weight.data.T,
        encoder.finishes[0].bias.data,
    )
    stock.lin_r.weight.data = encoder.layers[0].own_weight.data.T
    assert_same(encoder, block, stock(block.dense_features(), edge_index(block)))


@pytest.mark.parametrize("learn_eps", [False, True])
def test_gin(block: Block, learn_eps: bool) -> None:
    encoder = plain(GIN, eps=0.3, learn_eps=learn_eps)
    layer = encoder.layers[0]
    nn.init.normal_(layer.bias)
    stock = GINConv(nn.Sequential(nn.Linear(F, H), nn.ReLU(), nn.Linear(H, H)), eps=0.3, train_eps=learn_eps)
    stock.nn[0].weight.data, stock.nn[0].bias.data = layer.weight.data.T, layer.bias.data
    stock.nn[2].weight.data, stock.nn[2].bias.data = layer.out_weight.data.T, encoder.finishes[0].bias.data
    assert_same(encoder, block, stock(block.dense_features(), edge_index(block)))
    if learn_eps:
        encoder([block])[0].square().sum().backward()
        stock(block.dense_features(), edge_index(block)).square().sum().backward()
        assert torch.allclose(layer.eps.grad, stock.eps.grad, rtol=1e-4)


@pytest.mark.parametrize("heads", [1, 4])
def test_gat(block: Block, heads: int) -> None:
    encoder, stock = plain(GAT, heads=heads), GATConv(F, H // heads, heads=heads)
    layer = encoder.layers[0]
    stock.lin.weight.data, stock.bias.data = layer.weight.data.T, encoder.finishes[0].bias.data
    stock.att_src.data, stock.att_dst.data = layer.source.data[None], layer.target.data[None]
    expected = stock(block.dense_features(), edge_index(block))
    assert_same(encoder, block, expected)
    encoder([block])[0].square().sum().backward()
    expected.square().sum().backward()
    for ours, theirs in ((layer.weight, stock.lin.weight.grad.T), (layer.source, stock.att_src.grad[0])):
        assert torch.allclose(ours.grad, theirs, atol=1e-4)
    assert torch.allclose(layer.target.grad, stock.att_dst.grad[0], atol=1e-4)
