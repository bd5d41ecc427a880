"""Blocks that the tests of the views share."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl.graph import Graph
from imgcl.graph.block import Block

N = 40


@pytest.fixture(params=["dense", "sparse"])
def block(request: pytest.FixtureRequest) -> Block:
    rng = np.random.default_rng(0)
    x = (rng.random((N, 12)) < 0.4) * rng.normal(size=(N, 12))
    edges = rng.integers(0, N - 3, size=(2, 90))  # the last three nodes are isolated
    return Block.from_graph(Graph.from_edges(edges, x=sp.csr_array(x) if request.param == "sparse" else x))


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)
