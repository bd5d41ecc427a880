"""GraphMAE against a dense autoencoder written out, and what its mask must and must not depend on."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor

from imgcl._core import seeding
from imgcl._core.sparse import BinaryFeatures, SparseFeatures
from imgcl.data import load_graph
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.losses import scaled_cosine
from imgcl.methods import GraphMAE
from imgcl.methods.graphmae import GraphMAESettings
from imgcl.training.sampling import FeatureSource, NeighbourSampler, sampled_block


def graph(kind: str = "dense", n: int = 60) -> Graph:
    made = load_graph("synthetic", class_sizes=[n // 2, n // 2], n_features=12, mean_degree=4, seed=0)
    if kind == "dense":
        return made
    bits = (np.asarray(made.x) > 0.5).astype(np.float32)
    return Graph(made.indptr, made.indices, bits if kind == "binary" else sp.csr_array(bits), made.y)


def built(**settings: float | str) -> GraphMAE:
    torch.manual_seed(0)
    method = GraphMAE(12, GraphMAESettings(**{"dim": 8, "norm": "none", **settings}))
    with torch.no_grad():  # tokens and bias start at zero: give them something to be seen by
        for name in ("feature_token", "code_token", "decoder_bias"):
            getattr(method.autoencoder, name).normal_(generator=torch.Generator().manual_seed(1))
    return method


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(4)


def written_out(method: GraphMAE, block: Block, rows: Tensor) -> Tensor:
    """The paper's steps, one after the other, on dense matrices."""
    mask, parts = method.draw(block, generator()), method.autoencoder
    x, masked = block.dense_features(), mask.masked
    seen = torch.where(masked.unsqueeze(1), parts.feature_token, x)
    if mask.other is not None:
        seen = torch.where(mask.replaced.unsqueeze(1), mask.other.dense_features(), seen)
    adjacency = torch.from_numpy(block.adjacency.to_scipy().toarray()).float() + torch.eye(block.n_nodes)
    scale = adjacency.sum(1).rsqrt()
    s = scale.unsqueeze(1) * adjacency * scale
    hidden = seen
    for layer, finish in zip(parts.encoder.layers, parts.encoder.finishes, strict=True):
        hidden = torch.nn.functional.prelu(s @ (hidden @ layer.weight) + finish.bias, finish.activation.weight)
    codes = torch.where(masked.unsqueeze(1), parts.code_token, hidden @ parts.code_map)
    x_hat = s @ (codes @ parts.decoder.T) + parts.decoder_bias
    chosen = rows[masked[rows]]
    return scaled_cosine(x_hat[chosen], x[chosen], method.settings.gamma)


@pytest.mark.parametrize("kind", ["dense", "sparse", "binary"])
@pytest.mark.parametrize("replace_rate", [0.0, 0.3])
def test_the_loss_is_the_paper_s(kind: str, replace_rate: float) -> None:
    block = Block.from_graph(graph(kind, 60 if kind == "dense" else 2100 if kind == "binary" else 60))
    assert isinstance(block.features, BinaryFeatures) == (kind == "binary")
    assert isinstance(block.features, SparseFeatures) == (kind == "sparse")
    for rows in (torch.arange(block.n_nodes), torch.arange(0, block.n_nodes, 7)):
        method, other = built(replace_rate=replace_rate), built(replace_rate=replace_rate)
        loss, expected = method.loss(block, rows, generator()), written_out(other, block, rows)
        loss.backward()
        expected.backward()
        torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-5)
        for (name, ours), theirs in zip(method.named_parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-3, atol=1e-5, msg=name)


@pytest.mark.parametrize("encoder", ["gcn", "sage", "gin", "gat"])
def test_every_encoder_trains_every_parameter(encoder: str) -> None:
    method = built(encoder=encoder)
    method.loss(Block.from_graph(graph()), None, generator()).backward()
    assert all(parameter.grad is not None for parameter in method.parameters())


def test_a_module_of_a_user_is_masked_too() -> None:
    block = Block.from_graph(graph())
    method = built(encoder="torch.nn:Linear", replace_rate=0.3)
    loss, codes = method.loss(block, None, generator()), method.autoencoder.encoder.module
    loss.backward()
    assert all(parameter.grad is not None for parameter in method.parameters())
    mask, x = method.draw(block, generator()), block.dense_features()
    seen = mask.apply([x, mask.other.dense_features()], method.autoencoder.feature_token)
    assert (seen[~mask.masked] == x[~mask.masked]).all()
    step = (codes(seen) @ method.autoencoder.code_map).detach()
    step[mask.masked] = method.autoencoder.code_token.detach()
    parts = method.autoencoder
    x_hat = (block.normalised @ step) @ parts.decoder.T + parts.decoder_bias
    torch.testing.assert_close(loss, scaled_cosine(x_hat[mask.masked], x[mask.masked]))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_batch_of_whole_neighbourhoods_gives_the_loss_of_the_graph(kind: str) -> None:
    """Mask and loss of the anchors do not depend on how much of the graph a step sees."""
    whole, anchors = graph(kind), np.arange(0, 60, 5)
    found = NeighbourSampler(whole).sample(anchors, [60, 60, 60], seeding.derive(0, "neighbours", 0))
    batch = sampled_block(whole, found, FeatureSource(whole), layers=3)
    method = built(replace_rate=0.0, norm="layer")
    expected = method.loss(Block.from_graph(whole), torch.from_numpy(anchors), generator())
    torch.testing.assert_close(method.loss(batch, torch.arange(len(anchors)), generator()), expected)


def test_the_mask_has_its_share_and_its_replaced_nodes() -> None:
    block = Block.from_graph(graph("dense", 4000))
    mask = built(mask_rate=0.3, replace_rate=0.2).draw(block, generator())
    assert float(mask.masked.float().mean()) == pytest.approx(0.3, abs=0.03)
    assert float(mask.replaced.float().sum() / mask.masked.float().sum()) == pytest.approx(0.2, abs=0.04)
    assert (mask.masked | ~mask.replaced).all()


def test_masked_features_are_not_seen() -> None:
    """Other features of a masked node change the targets of the loss, but no code."""
    block, method = Block.from_graph(graph()), built(replace_rate=0.0)
    mask, parts = method.draw(block, generator()), method.autoencoder
    spoilt = np.array(graph().x)
    spoilt[mask.masked.numpy()] = 100.0
    other = Block.from_graph(Graph(graph().indptr, graph().indices, spoilt, graph().y))
    products = [parts.first_product(each, mask, parts.encoder.input_weight) for each in (block, other)]
    assert torch.equal(*products)


def test_rows_without_a_masked_node_have_no_loss() -> None:
    block, method = Block.from_graph(graph()), built()
    kept = (~method.draw(block, generator()).masked).nonzero().flatten()[:2]
    loss = method.loss(block, kept, generator())
    loss.backward()
    assert float(loss.detach()) == 0


def test_the_embedding_is_the_encoder_s_without_a_mask() -> None:
    block, method = Block.from_graph(graph()), built().eval()
    assert torch.equal(method.embed(block), method.autoencoder.encoder([block])[0])
    assert method.embed(block).shape == (60, 8)
