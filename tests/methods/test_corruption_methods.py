"""DGI, MVGRL and InfoGraph: what is contrasted with what, recomputed by hand from the encoders."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from imgcl.data import load_graph
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.methods import DGI, MVGRL, InfoGraph
from imgcl.methods.dgi import DGISettings
from imgcl.methods.infograph import InfoGraphSettings
from imgcl.methods.mvgrl import MVGRLSettings
from imgcl.methods.parts import Bilinear, summarise

ROWS = torch.tensor([1, 4, 9, 16, 25])


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("synthetic", class_sizes=[20, 10], n_features=6, mean_degree=4, seed=0)


def shuffled(graph: Graph, seed: int) -> Graph:
    order = torch.randperm(graph.n_nodes, generator=torch.Generator().manual_seed(seed)).numpy()
    return Graph(graph.indptr, graph.indices, graph.x[order])


def cross_entropy(scores: list[torch.Tensor], label: int) -> torch.Tensor:
    joined = torch.cat(scores)
    return functional.binary_cross_entropy_with_logits(joined, torch.full_like(joined, label))


def test_bilinear_by_hand() -> None:
    discriminator = Bilinear(2)
    with torch.no_grad():
        discriminator.weight.copy_(torch.tensor([[1.0, 2.0], [0.0, -1.0]]))
        discriminator.bias.fill_(0.5)
    scores = discriminator(torch.tensor([[1.0, 1.0], [2.0, 0.0]]), torch.tensor([3.0, 1.0]))
    assert scores.tolist() == [5 - 1 + 0.5, 10 + 0.5]  # W s = (5, -1)


def test_summary_by_hand() -> None:
    assert summarise(torch.tensor([[1.0, -1.0], [-1.0, 5.0]])).tolist() == pytest.approx([0.5, 1 / (1 + np.exp(-2))])


def test_dgi(graph: Graph) -> None:
    method = DGI(6, DGISettings(dim=8))
    loss = method.loss(Block.from_graph(graph), ROWS, torch.Generator().manual_seed(5)).item()
    h = method.encoder([Block.from_graph(graph)])[0][ROWS]
    h_corrupted = method.encoder([Block.from_graph(shuffled(graph, 5))])[0][ROWS]  # the same rows
    summary = torch.sigmoid(h.mean(dim=0))  # of the selected rows
    scores = [h @ method.discriminator.weight @ summary], [h_corrupted @ method.discriminator.weight @ summary]
    expected = (cross_entropy(scores[0], 1) + cross_entropy(scores[1], 0)) / 2
    assert loss == pytest.approx(expected.item(), rel=1e-5)


def test_mvgrl(graph: Graph) -> None:
    method = MVGRL(6, MVGRLSettings(dim=8))
    block, corrupted = Block.from_graph(graph), Block.from_graph(shuffled(graph, 5))
    loss = method.loss(block, ROWS, torch.Generator().manual_seed(5)).item()
    diffusion = method.diffusion.matrix(block.adjacency).to_scipy().toarray()
    near, near_corrupted = (method.encoder([each])[0][ROWS] for each in (block, corrupted))
    layer, finish = method.diffusion_encoder.layers[0], method.diffusion_encoder.finishes[0]
    far, far_corrupted = (
        finish(torch.from_numpy(diffusion) @ each.dense_features() @ layer.weight)[ROWS] for each in (block, corrupted)
    )
    score = method.discriminator
    near_summary, far_summary = torch.sigmoid(near.mean(dim=0)), torch.sigmoid(far.mean(dim=0))
    positive = cross_entropy([score(far, near_summary), score(near, far_summary)], 1)
    negative = cross_entropy([score(far_corrupted, near_summary), score(near_corrupted, far_summary)], 0)
    assert loss == pytest.approx(((positive + negative) / 2).item(), rel=1e-5)


def test_mvgrl_embeds_by_the_sum_of_both_encoders(graph: Graph) -> None:
    method, block = MVGRL(6, MVGRLSettings(dim=8)).eval(), Block.from_graph(graph)
    diffused = method.diffusion(block, torch.Generator())
    expected = method.encoder([block])[0] + method.diffusion_encoder([diffused])[0]
    assert torch.equal(method.embed(block), expected)
    assert not torch.allclose(method.encoder([block])[0], method.diffusion_encoder([diffused])[0])


def test_infograph(graph: Graph) -> None:
    method = InfoGraph(6, InfoGraphSettings(dim=4, layers=3, norm="none"))
    loss = method.loss(Block.from_graph(graph), ROWS, torch.Generator().manual_seed(5)).item()
    local = method.encoder([Block.from_graph(graph)])[0][ROWS]
    corrupted = method.encoder([Block.from_graph(shuffled(graph, 5))])[0][ROWS]
    assert local.shape == (5, 12)  # all three layers side by side
    whole = method.global_net(local.sum(dim=0) / 5)
    positive, negative = method.local_net(local) @ whole, method.local_net(corrupted) @ whole
    expected = functional.softplus(negative).mean() + functional.softplus(-positive).mean() - 2 * np.log(2)
    assert loss == pytest.approx(expected.item(), rel=1e-4, abs=1e-5)
