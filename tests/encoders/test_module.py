"""Modules of torch and torch_geometric as encoders."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric import nn as gnn

from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR
from imgcl.encoders import GCN, ModuleEncoder
from imgcl.graph import Graph
from imgcl.graph.block import Block


@pytest.fixture
def block() -> Block:
    rng = np.random.default_rng(0)
    block = Block.from_graph(Graph.from_edges(rng.integers(0, 12, size=(2, 30)), x=rng.normal(size=(12, 4))))
    return replace(block, column_mask=torch.tensor([1.0, 0, 1, 1]))


def same_weights(conv: gnn.GCNConv) -> GCN:
    encoder = GCN(4, [3], activation="none")
    encoder.layers[0].weight.data, encoder.finishes[0].bias.data = conv.lin.weight.data.T, conv.bias.data
    return encoder


def test_a_convolution_sees_the_view(block: Block) -> None:
    conv = gnn.GCNConv(4, 3)
    (out,) = ModuleEncoder(conv)([block])
    assert torch.allclose(out, same_weights(conv)([block])[0], atol=1e-6)
    rows = torch.tensor([7, 2])
    assert torch.equal(ModuleEncoder(conv)([block, block], rows)[1], out[rows])


def test_weights_of_edges_are_passed_where_they_are_taken(block: Block) -> None:
    adjacency = block.adjacency
    weights = (adjacency.row_index + adjacency.indices).float() / 10
    weighted = block.with_adjacency(CSR(adjacency.indptr, adjacency.indices, weights, adjacency.n_columns))
    conv = gnn.GCNConv(4, 3)
    assert torch.allclose(ModuleEncoder(conv)([weighted])[0], same_weights(conv)([weighted])[0], atol=1e-6)
    sage = ModuleEncoder(gnn.SAGEConv(4, 3))
    assert torch.equal(sage([weighted])[0], sage([block])[0])


@pytest.mark.parametrize(
    ("module", "width"),
    [
        (gnn.GATConv(4, 3, heads=2), 6),
        (gnn.GATConv(4, 3, heads=2, concat=False), 3),
        (gnn.GIN(4, 8, num_layers=2, out_channels=5), 5),
    ],
)
def test_the_width_is_read_from_the_module(block: Block, module: nn.Module, width: int) -> None:
    encoder = ModuleEncoder(module)
    assert encoder.out_features == width == encoder([block])[0].shape[1]


def test_a_sequential_needs_its_width(block: Block) -> None:
    steps = [(gnn.GCNConv(4, 8), "x, edge_index -> x"), nn.ReLU(), (gnn.GCNConv(8, 2), "x, edge_index -> x")]
    module = gnn.Sequential("x, edge_index", steps)
    with pytest.raises(InputError, match="pass out_features"):
        ModuleEncoder(module)
    assert ModuleEncoder(module, 2)([block])[0].shape == (12, 2)
