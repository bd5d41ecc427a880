"""What every encoder must do, and the settings they share."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imgcl._core.errors import InputError
from imgcl._core.sparse import DenseFeatures
from imgcl.encoders import ENCODERS, GCN, GIN, Encoder, make_encoder
from imgcl.encoders.layered import multiply
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.views import Compose, EdgeRemoving, FeatureMasking, FeatureShuffling, NodeDropping, PPRDiffusion

each_encoder = pytest.mark.parametrize("name", ENCODERS)
VARIANTS = [
    {},
    {"norm": "batch"},
    {"norm": "layer", "activation": "elu", "residual": True},
    {"norm": "batch", "activation": "relu", "norm_first": False, "jumping": "cat", "finish": False},
]
each_variant = pytest.mark.parametrize("variant", VARIANTS, ids=["plain", "batch", "residual", "infograph"])


def random_graph(n: int = 24, seed: int = 0, sparse: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.5)
    return Graph.from_edges(rng.integers(0, n, size=(2, 2 * n)), x=sp.csr_array(x) if sparse else x)


def build(name: str, variant: dict[str, object] | None = None) -> Encoder:
    torch.manual_seed(0)
    return make_encoder(name, 5, [8, 8, 4], **(variant or {}))


@each_encoder
@each_variant
def test_selected_rows_equal_the_rows_of_the_full_result(name: str, variant: dict[str, object]) -> None:
    encoder, block = build(name, variant).eval(), Block.from_graph(random_graph())
    rows = torch.tensor([20, 3, 11])
    full, some = encoder([block])[0], encoder([block], rows)[0]
    assert full.shape == (24, encoder.out_features)
    assert torch.allclose(some, full[rows], atol=1e-5)


@each_encoder
@each_variant
def test_gradients_reach_every_parameter(name: str, variant: dict[str, object]) -> None:
    encoder, block = build(name, variant), Block.from_graph(random_graph())
    encoder([block], torch.arange(12))[0].pow(3).sum().backward()
    # A batch norm removes the bias before it, so that one may be left without a gradient.
    missing = {key for key, weight in encoder.named_parameters() if weight.grad is None}
    assert all(key.endswith("bias") and variant.get("norm") == "batch" for key in missing)


@each_encoder
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), variant=st.sampled_from(VARIANTS))
def test_permuting_the_nodes_permutes_the_embeddings(name: str, seed: int, variant: dict[str, object]) -> None:
    graph = random_graph(seed=seed)
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    encoder = build(name, variant).eval()
    original, permuted = (encoder([Block.from_graph(g)])[0] for g in (graph, graph.subgraph(order)))
    assert torch.allclose(permuted, original[torch.from_numpy(order)], atol=1e-4)


@each_encoder
def test_blocks_encoded_together_equal_blocks_encoded_alone(name: str) -> None:
    encoder, block = build(name), Block.from_graph(random_graph())
    generator = torch.Generator().manual_seed(0)
    views = [
        block,
        Compose([EdgeRemoving(0.3), FeatureMasking(0.4)])(block, generator),
        FeatureShuffling()(block, generator),
        Compose([NodeDropping(0.3), FeatureMasking(0.4)])(block, generator),
        PPRDiffusion()(block, generator),
    ]
    for view, together in zip(views, encoder(views), strict=True):
        explicit = replace(
            view, features=DenseFeatures(view.dense_features()), column_mask=None, row_order=None, row_mask=None
        )
        assert torch.allclose(together, encoder([explicit])[0], atol=1e-5)


@each_encoder
def test_sparse_features_equal_dense_ones(name: str) -> None:
    encoder = build(name)
    dense, sparse = (encoder([Block.from_graph(random_graph(sparse=s))])[0] for s in (False, True))
    assert torch.allclose(dense, sparse, atol=1e-5)


@each_encoder
def test_a_graph_without_edges(name: str) -> None:
    block = Block.from_graph(Graph.from_edges(np.empty((2, 0), dtype=np.int64), x=np.ones((3, 5))))
    out = build(name)([block])[0]
    assert torch.isfinite(out).all()
    assert torch.equal(out[0], out[1])


def test_jumping_returns_the_outputs_of_all_layers() -> None:
    block = Block.from_graph(random_graph())
    both, last = (build("gin", {"jumping": jumping}).eval() for jumping in ("cat", "last"))
    out = both([block])[0]
    assert both.out_features == 20
    assert torch.equal(out[:, 16:], last([block])[0])
    first = GIN(5, [8]).eval()
    first.load_state_dict({k: v for k, v in both.state_dict().items() if ".0." in k})
    assert torch.allclose(out[:, :8], first([block])[0], atol=1e-6)


def test_residual_adds_the_input_of_a_layer_of_equal_width() -> None:
    block = Block.from_graph(random_graph())
    plain, residual = (GCN(5, [8, 8], residual=r) for r in (False, True))
    residual.load_state_dict(plain.state_dict())
    first = GCN(5, [8])
    first.load_state_dict({k: v for k, v in plain.state_dict().items() if ".0." in k})
    hidden = first([block])[0]
    before = block.normalised @ (hidden @ plain.layers[1].weight)
    assert torch.allclose(residual([block])[0], residual.finishes[1](before + hidden), atol=1e-5)


@each_encoder
def test_residual_projects_the_input_of_a_layer_of_other_width(name: str) -> None:
    block = Block.from_graph(random_graph())
    encoder = make_encoder(name, 5, [8, 8, 4], residual=True, activation="none").eval()
    full = encoder([block])[0]
    assert [tuple(weight.shape) for weight in encoder.shortcuts.values()] == [(8, 4)]
    with torch.no_grad():
        encoder.shortcuts["2"].zero_()
    without = encoder([block])[0]
    assert not torch.allclose(full, without)
    below = make_encoder(name, 5, [8, 8], residual=True, activation="none").eval()
    below.load_state_dict({key: value for key, value in encoder.state_dict().items() if ".2" not in key})
    with torch.no_grad():
        encoder.shortcuts["2"].copy_(torch.eye(8)[:, :4])
    assert torch.allclose(encoder([block])[0], without + below([block])[0][:, :4], atol=1e-5)


def test_residual_of_one_layer_is_refused() -> None:
    with pytest.raises(InputError, match="residual=true has no effect on an encoder with one layer: use layers=2"):
        GCN(5, [8], residual=True)


def test_weights_without_residual_are_drawn_as_before_it_projected() -> None:
    plain, residual = build("gcn"), build("gcn", {"residual": True})
    assert all(torch.equal(value, residual.state_dict()[key]) for key, value in plain.state_dict().items())


def test_dropout_acts_between_layers_in_training_only() -> None:
    block, encoder = Block.from_graph(random_graph()), GCN(5, [8, 4], dropout=0.5)
    assert not torch.equal(encoder([block])[0], encoder([block])[0])
    encoder.eval()
    assert torch.equal(encoder([block])[0], encoder([block])[0])


def test_both_orders_of_a_product_agree() -> None:
    operator, hidden = Block.from_graph(random_graph()).normalised, torch.randn(24, 6)
    for width in (2, 30):
        weight = torch.randn(6, width)
        for chosen in (operator, operator.select(torch.tensor([5]))):
            assert torch.allclose(multiply(chosen, hidden, weight), chosen @ (hidden @ weight), atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gnn", 5, [4]), "unknown encoder 'gnn': did you mean 'gin'"),
        (("gcn", 5, []), "give at least one layer"),
        (("gat", 5, [6]), "heads = 4 does not divide the width 6"),
    ],
)
def test_wrong_settings_are_named(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_encoder(*arguments)  # type: ignore[arg-type]


def test_unknown_names_of_settings() -> None:
    with pytest.raises(InputError, match=r"encoder 'gcn'.*depth"):
        make_encoder("gcn", 5, [4], depth=3)
    with pytest.raises(InputError, match="jumping = 'max': choose last or cat"):
        make_encoder("gcn", 5, [4], jumping="max")
    with pytest.raises(InputError, match="norm = 'bath': did you mean 'batch'"):
        make_encoder("gcn", 5, [4], norm="bath")
    with pytest.raises(InputError, match="activation = 'tanh': choose from none, relu"):
        make_encoder("gcn", 5, [4], activation="tanh")
