"""Networks draw from generators of their own: nothing of the process moves, and threads do not meet."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch_geometric.nn import GCNConv

import imgcl
from imgcl._core.draws import drawing_from, draws_of, is_ours, lent_globally, source
from imgcl.data import synthetic_graph
from imgcl.encoders import ModuleEncoder
from imgcl.encoders.base import Dropout, Linear, glorot
from imgcl.graph.block import Block
from imgcl.methods import GBT, METHODS

THREADS = 3
GRAPH = synthetic_graph(class_sizes=[60, 30, 15], n_features=12, mean_degree=5, seed=3)
SETTINGS = {"grace": {"projection": 16}, "bgrl": {"predictor": 16}}


def fit(method: str, balance: str | None, seed: int = 7) -> np.ndarray:
    settings = {"dim": 8, "layers": 2, "dropout": 0.3, "residual": True, **SETTINGS.get(method, {})}
    model = imgcl.ImGCL(method, balance=balance, epochs=6, settings=settings, random_state=seed)
    return model.fit(GRAPH).embedding_


def at_once(call: Callable[[], np.ndarray], threads: int = THREADS) -> list[np.ndarray]:
    """What the call gives in several threads that begin together."""
    gate = threading.Barrier(threads)

    def begin(_: int) -> np.ndarray:
        gate.wait()
        return call()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(begin, range(threads)))


def global_states() -> list[str]:
    """What must not move: the states of torch, numpy and Python."""
    numpy = np.random.get_state()  # noqa: NPY002 (the legacy state is the one that could move)
    return [str(torch.get_rng_state().tolist()), str((numpy[1].tolist(), numpy[2:])), str(random.getstate())]


@pytest.mark.parametrize("balance", [None, "imgcl"])
@pytest.mark.parametrize("method", METHODS)
def test_fits_at_once_give_the_bits_of_a_lone_fit(method: str, balance: str | None) -> None:
    before = global_states()
    alone = fit(method, balance)
    for found in at_once(lambda: fit(method, balance)):
        assert np.array_equal(found, alone)
    assert global_states() == before


@pytest.mark.parametrize("clusters", ["communities", "gmm", "kmeans"])
def test_clusters_made_at_once_are_those_of_a_lone_fit(clusters: str) -> None:
    before, balance = global_states(), f"clusters={clusters}"
    alone = fit("gbt", balance)
    for found in at_once(lambda: fit("gbt", balance)):
        assert np.array_equal(found, alone)
    assert global_states() == before


def test_a_fitted_model_embeds_in_several_threads() -> None:
    model = imgcl.ImGCL("gbt", epochs=4, settings={"dim": 8, "dropout": 0.3}).fit(GRAPH)
    for found in at_once(lambda: np.stack([model.transform(GRAPH) for _ in range(5)]), threads=4):
        assert (found == model.embedding_).all()


def test_evaluations_at_once_give_what_one_gives_alone() -> None:
    rows = np.random.default_rng(0).normal(size=(GRAPH.n_nodes, 6))

    def scores() -> np.ndarray:
        return imgcl.evaluate(rows, GRAPH.y, "exp:3", splits=2).values("plain", "ece")

    alone = scores()
    assert all(np.array_equal(found, alone) for found in at_once(scores))


# ------------------------------------------------------------------ modules from elsewhere


class Foreign(GBT):
    """A user's method: torch's own layers, dropout in the middle, an encoder of torch_geometric."""

    def __init__(self, n_features: int, settings: object) -> None:
        super().__init__(n_features, settings)
        self.encoder = ModuleEncoder(Convolutions(n_features))


class Convolutions(nn.Module):
    out_channels = 8

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.first, self.last = GCNConv(n_features, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.last(functional.dropout(self.first(x, edge_index).relu(), 0.3, self.training))


@pytest.fixture
def foreign(monkeypatch):
    monkeypatch.setitem(METHODS, "gbt", Foreign)


def fit_foreign() -> np.ndarray:
    return imgcl.ImGCL("gbt", epochs=4, balance=None, settings={"dim": 8}).fit(GRAPH).embedding_


def test_a_users_modules_draw_the_same_at_once_and_alone(foreign) -> None:
    before = global_states()
    alone = fit_foreign()
    for found in at_once(fit_foreign):
        assert np.array_equal(found, alone)
    assert global_states() == before


def test_a_users_modules_are_built_in_single_precision(foreign) -> None:
    alone = fit_foreign()
    torch.set_default_dtype(torch.float64)
    try:
        found = fit_foreign()
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert np.array_equal(found, alone)


# ------------------------------------------------------------------ layers


LAYERS = {
    "linear": (lambda: Linear(5, 3), lambda: nn.Linear(5, 3)),
    "glorot": (lambda: glorot(5, 3), lambda: nn.init.xavier_uniform_(torch.empty(5, 3))),
}


@cache
def values(layer: nn.Module | torch.Tensor) -> list[list[float]]:
    tensors = layer.parameters() if isinstance(layer, nn.Module) else [layer]
    return [tensor.detach().flatten().tolist() for tensor in tensors]


@pytest.mark.parametrize("name", LAYERS)
def test_weights_are_those_that_torch_draws(name: str) -> None:
    ours, torchs = LAYERS[name]
    with torch.random.fork_rng():
        torch.manual_seed(4)
        expected = values(torchs())
        torch.manual_seed(4)
        assert values(ours()) == expected  # without a generator of its own, as any module of torch
    before = global_states()
    with drawing_from(torch.Generator().manual_seed(4)):
        assert values(ours()) == expected
    assert global_states() == before


def test_dropout_is_torchs() -> None:
    rows, layer = torch.ones(40, 6), Dropout(0.3)
    with torch.random.fork_rng():
        torch.manual_seed(4)
        expected = functional.dropout(rows, 0.3)
    before = global_states()
    with drawing_from(torch.Generator().manual_seed(4)):
        assert torch.equal(layer(rows), expected)
    assert global_states() == before
    assert torch.equal(layer.eval()(rows), rows)


def test_a_generator_is_known_in_its_thread_and_block_only() -> None:
    generator = torch.Generator()
    with drawing_from(generator):
        assert source() is generator
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(source).result() is None
        with lent_globally(torch.Generator()):
            assert source() is None
        assert source() is generator
    assert source() is None


def test_a_lent_generator_goes_on_where_the_block_ended() -> None:
    before, generator = global_states(), torch.Generator().manual_seed(1)
    drawn = []
    for _ in range(2):
        with lent_globally(generator):
            drawn.append(float(torch.rand(1)))
    assert drawn == torch.rand(2, generator=torch.Generator().manual_seed(1)).tolist()
    assert global_states() == before


@pytest.mark.parametrize("kind", [nn.Dropout, nn.RReLU, GCNConv, Foreign, Convolutions])
def test_what_draws_from_torchs_global_generator(kind: type[nn.Module]) -> None:
    assert not is_ours(kind)


@pytest.mark.parametrize("method", METHODS)
def test_every_part_of_our_methods_draws_from_its_own_generator(method: str) -> None:
    before = global_states()
    with draws_of([METHODS[method]], torch.Generator().manual_seed(0)):
        built = METHODS[method](GRAPH.n_features, METHODS[method].Settings(dim=8, dropout=0.3, layers=2))
        assert all(is_ours(type(part)) for part in built.modules())
        built.loss(Block.from_graph(GRAPH), None, torch.Generator()).backward()
    assert global_states() == before
