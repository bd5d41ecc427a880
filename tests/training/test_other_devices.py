"""The code of other devices, forced on the CPU: the same numbers as our kernels, and nothing of a kernel left in it.

No GPU is at hand. These tests show that the operations are right, and that no tensor reaches numpy without being
brought to the CPU first; whether two tensors of a step may stand on different devices, only a GPU can show.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor

import imgcl
from imgcl import Graph
from imgcl._core.devices import has_kernels, without_kernels
from imgcl.encoders import ENCODERS
from imgcl.methods import METHODS
from imgcl.training.estimator import make_config
from imgcl.training.trainer import Trainer
from imgcl.views import VIEWS

CPU = torch.device("cpu")


def graphs() -> dict[str, Graph]:
    """One with features of each storage."""
    dense = imgcl.load_graph("synthetic", class_sizes=[60, 20], n_features=8, seed=1)
    sparse = sp.csr_array(np.maximum(dense.x, 0))
    binary = (dense.x > 0).astype(np.float32)
    return {
        "dense": dense,
        "sparse": Graph.from_scipy(dense.adjacency, sparse, dense.y),
        "binary": Graph.from_scipy(dense.adjacency, binary, dense.y),
    }


GRAPHS = graphs()


@contextmanager
def another_device() -> Iterator[None]:
    """No kernels, and ``Tensor.numpy`` works on what ``Tensor.cpu`` gave only, as on a GPU."""
    numpy, cpu = Tensor.numpy, Tensor.cpu

    def brought(self: Tensor, *options: Any) -> Tensor:
        here = cpu(self, *options).view_as(self)
        here.brought = True  # type: ignore[attr-defined]
        return here

    def checked(self: Tensor, **options: Any) -> np.ndarray:
        assert getattr(self, "brought", False), "a tensor of another device reached numpy"
        return numpy(self, **options)

    with pytest.MonkeyPatch.context() as patch, without_kernels():
        patch.setattr(Tensor, "cpu", brought)
        patch.setattr(Tensor, "numpy", checked)
        yield


def trained(graph: Graph, method: str, **settings: Any) -> tuple[np.ndarray, list[float]]:
    """Embeddings and losses of a short training; without selected rows, which depend on the last digits."""
    overrides = {"epochs": 2, "dim": 4, **settings}
    config = make_config("small", method=method, balance=None, overrides=overrides, device="cpu")
    trainer = Trainer(config, graph)
    trainer.train()
    return trainer.embed(), trainer.history()["loss"]


def assert_same_training(graph: Graph, method: str, **settings: Any) -> None:
    """Losses agree, and so do embeddings.

    A batch norm removes the bias before it: its gradient is rounding, of which Adam makes a step of the learning rate
    in either direction. It shows in the running mean, and so in embeddings, but in no loss.
    """
    rows, losses = trained(graph, method, **settings)
    with another_device():
        other_rows, other_losses = trained(graph, method, **settings)
    np.testing.assert_allclose(other_losses, losses, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(other_rows, rows, atol=0.05 if settings.get("norm") != "none" else 1e-4)


def test_the_switch() -> None:
    assert has_kernels(CPU)
    with without_kernels():
        assert not has_kernels(CPU)
        with pytest.raises(RuntimeError), without_kernels():
            raise RuntimeError
        assert not has_kernels(CPU)
    assert has_kernels(CPU)


def test_what_a_gpu_would_refuse_is_refused() -> None:
    with another_device(), pytest.raises(AssertionError, match="reached numpy"):
        torch.ones(2).numpy()


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method: str) -> None:
    assert_same_training(GRAPHS["dense"], method)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_encoder(encoder: str) -> None:
    assert_same_training(GRAPHS["dense"], "grace", encoder=encoder, norm="none")


@pytest.mark.parametrize("method", ["grace", "bgrl", "graphmae"])
@pytest.mark.parametrize("storage", ["sparse", "binary"])
def test_every_storage_of_features(storage: str, method: str) -> None:
    assert_same_training(GRAPHS[storage], method, norm="none")


@pytest.mark.parametrize("method", ["grace", "mvgrl", "graphmae"])
def test_mini_batches(method: str) -> None:
    assert_same_training(GRAPHS["dense"], method, norm="none", batch_size=32)


VIEWS_TRIED = {
    "adaptive-edge-drop": "adaptive-edge-drop:0.3",
    "adaptive-feature-mask": "adaptive-feature-mask:0.3",
    "edge-add": "edge-add:0.1",
    "edge-drop": "edge-drop:0.3",
    "edge-perturb": "edge-perturb:0.2",
    "feature-dropout": "feature-dropout:0.3",
    "feature-mask": "feature-mask:0.3",
    "feature-shuffle": "feature-shuffle",
    "heat": "heat",
    "identity": "identity",
    "node-drop": "node-drop:0.2",
    "ppr": "ppr",
    "subgraph": "subgraph",
}


def test_all_views_are_tried() -> None:
    assert set(VIEWS_TRIED) == set(VIEWS)


@pytest.mark.parametrize("view", VIEWS_TRIED)
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_every_view(storage: str, view: str) -> None:
    assert_same_training(GRAPHS[storage], "grace", norm="none", views=VIEWS_TRIED[view], epochs=1)


def test_balanced_selection() -> None:
    with another_device():  # the blocks own and neighbours are computed on the CPU everywhere
        chosen = {"n_clusters": 2, "blocks": "learned", "settings": {"dim": 4}, "device": "cpu"}
        model = imgcl.ImGCL(epochs=2, **chosen).fit(GRAPHS["dense"])
        moved = model.transform(GRAPHS["dense"])
    np.testing.assert_allclose(moved, model.embedding_, atol=1e-5)
    np.testing.assert_allclose(model.transform(GRAPHS["dense"]), moved, atol=1e-5)  # by our kernels
