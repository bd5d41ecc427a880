"""What every method must do, without and with ImGCL. A new method is one line in METHOD_SETTINGS."""

import copy
import math
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from imgcl.balance import BalanceSettings
from imgcl.data import load_graph
from imgcl.encoders import Encoder
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.methods import METHODS
from imgcl.training import RunConfig, Trainer, TrainingSettings
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.presets import find_preset

METHOD_SETTINGS: dict[str, dict[str, Any]] = {
    "gbt": {"dim": 16},
    "grace": {"dim": 16, "projection": 16},
    "bgrl": {"dim": 16, "predictor": 32},
    "dgi": {"dim": 32},
    "mvgrl": {"dim": 32, "epsilon": 1e-7, "top_k": None},  # exact: a push stops where the order of nodes decides
    "infograph": {"dim": 8, "layers": 2},
    "cca-ssg": {"dim": 16},
    "vicreg": {"dim": 16},
    "graphmae": {"dim": 16},
}
ONE_BRANCH = {"graphmae"}  # its output rows are the errors of nodes; see test_graphmae.py
EPOCHS = 40

each_method = pytest.mark.parametrize("method", METHOD_SETTINGS)
with_and_without = pytest.mark.parametrize("imgcl", [False, True], ids=["plain", "imgcl"])


@cache
def graph() -> Graph:
    return load_graph("synthetic", class_sizes=[100, 60, 40], n_features=24, mean_degree=8, homophily=0.9, seed=3)


def trainer(method: str, imgcl: bool, *, seed: int = 0, epochs: int = EPOCHS) -> Trainer:
    config = RunConfig(
        method=method,
        method_settings=METHOD_SETTINGS[method],
        training=TrainingSettings(epochs=epochs, lr=5e-3),
        # Half of the nodes, so that the loss of so small a graph is not all noise.
        balance=BalanceSettings(fraction=0.5, labellings=4) if imgcl else None,
        seed=seed,
        device="cpu",
    )
    return Trainer(config, graph())


@cache
def trained(method: str, imgcl: bool) -> Trainer:
    done = trainer(method, imgcl)
    done.train()
    return done


def test_all_methods_are_listed() -> None:
    assert set(METHOD_SETTINGS) == set(METHODS)


@each_method
@with_and_without
def test_loss_is_finite_and_falls(method: str, imgcl: bool) -> None:
    losses = trained(method, imgcl).losses
    assert len(losses) == EPOCHS
    assert np.isfinite(losses).all()
    first, last = np.array(losses[:5]), np.array(losses[-10:])
    assert last.mean() < first.mean() - 0.02 * abs(first.mean())


@each_method
@with_and_without
def test_does_not_collapse(method: str, imgcl: bool) -> None:
    z = trained(method, imgcl).embed()
    deviations = z.std(axis=0)
    assert np.mean(deviations > 0.01 * deviations.max()) >= 0.75  # few dimensions are dead
    assert effective_rank(z) > 4


def test_the_measure_of_collapse_sees_one() -> None:
    direction = np.random.default_rng(0).normal(size=(1, 16))
    assert effective_rank(np.arange(50.0)[:, None] * direction) == pytest.approx(1)


def effective_rank(z: np.ndarray) -> float:
    """Exponential of the entropy of the normalised singular values of the centred rows."""
    values = np.linalg.svd(z - z.mean(axis=0), compute_uv=False)
    shares = values[values > 1e-12 * values.max()] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


@each_method
@with_and_without
def test_same_seed_same_result(method: str, imgcl: bool) -> None:
    again = trainer(method, imgcl)
    again.train()
    assert again.losses == trained(method, imgcl).losses
    assert np.array_equal(again.embed(), trained(method, imgcl).embed())


@each_method
def test_another_seed_another_result(method: str) -> None:
    runs = [trainer(method, False, seed=seed, epochs=2) for seed in (0, 1)]
    for run in runs:
        run.train()
    assert not np.array_equal(runs[0].embed(), runs[1].embed())


@each_method
@with_and_without
def test_resumes_bit_for_bit(method: str, imgcl: bool, tmp_path: Path) -> None:
    whole, first = trainer(method, imgcl, epochs=10), trainer(method, imgcl, epochs=10)
    whole.train()
    for _ in range(5):
        first.step()
    first.checkpoint().save(tmp_path / "half.safetensors")
    second = trainer(method, imgcl, epochs=10)
    second.restore(Checkpoint.load(tmp_path / "half.safetensors"))
    second.train()
    assert second.losses == whole.losses
    ours, theirs = second.method.state_dict(), whole.method.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert np.array_equal(second.embed(), whole.embed())


@each_method
def test_embeddings_follow_the_order_of_the_nodes(method: str) -> None:
    run, order = trained(method, True), np.random.default_rng(1).permutation(graph().n_nodes)
    expected = run.embed()[order]
    np.testing.assert_allclose(
        run.embed(graph().subgraph(order)), expected, rtol=1e-3, atol=1e-4 * float(np.abs(expected).max())
    )


@each_method
def test_embedding_is_deterministic_and_leaves_no_trace(method: str) -> None:
    run = trainer(method, False)
    before = copy.deepcopy(run.method.state_dict())
    assert np.array_equal(run.embed(), run.embed())
    after = run.method.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


# ---------------------------------------------------------------------- selected rows


class Spy:
    """Stands in for an encoder: computes all rows, keeps them, and gives the method what it asked for.

    With ``noise``, rows outside the selection are spoiled first: a loss that reads them changes.
    """

    def __init__(self, encoder: Encoder, selected: Tensor, noise: float) -> None:
        self.forward, self.noise = encoder.forward, noise
        self.other = torch.ones(graph().n_nodes, dtype=torch.bool)
        self.other[selected] = False
        self.outputs: list[Tensor] = []

    def __call__(self, blocks: Any, rows: Tensor | None = None, *products: Any) -> list[Tensor]:
        given = []
        for output in self.forward(blocks, None, *products):
            spoiled = output + self.noise * self.other.unsqueeze(1)
            if spoiled.requires_grad:
                spoiled.retain_grad()
            self.outputs.append(spoiled)
            given.append(spoiled if rows is None else spoiled[rows])
        return given


def loss_with_spies(method: str, rows: Tensor, noise: float) -> tuple[Tensor, list[Tensor]]:
    torch.manual_seed(0)
    built = METHODS[method](graph().n_features, METHODS[method].Settings(**METHOD_SETTINGS[method]))
    spies = [Spy(module, rows, noise) for module in built.modules() if isinstance(module, Encoder)]
    for module, spy in zip((m for m in built.modules() if isinstance(m, Encoder)), spies, strict=True):
        module.forward = spy
    loss = built.loss(Block.from_graph(graph()), rows, torch.Generator().manual_seed(0))
    return loss, [output for spy in spies for output in spy.outputs]


@each_method
def test_only_selected_rows_receive_gradient(method: str) -> None:
    rows = torch.arange(0, graph().n_nodes, 3)
    loss, outputs = loss_with_spies(method, rows, noise=0.0)
    loss.backward()
    trainable = [output for output in outputs if output.requires_grad]
    assert len(trainable) >= (1 if method in ONE_BRANCH else 2)
    others = torch.ones(graph().n_nodes, dtype=torch.bool)
    others[rows] = False
    for output in trainable:
        assert output.grad is not None
        assert (output.grad[others] == 0).all()
        assert (output.grad[rows].abs().sum(dim=1) > 0).all()


@each_method
def test_unselected_rows_do_not_change_the_loss(method: str) -> None:
    """This sees branches without gradient too (BGRL's target)."""
    rows = torch.arange(0, graph().n_nodes, 3)
    clean, _ = loss_with_spies(method, rows, noise=0.0)
    spoiled, _ = loss_with_spies(method, rows, noise=5.0)
    everything = torch.arange(graph().n_nodes)
    assert clean.item() == spoiled.item()
    assert loss_with_spies(method, everything, noise=5.0)[0].item() != clean.item()


@each_method
def test_all_rows_are_the_same_as_none(method: str) -> None:
    torch.manual_seed(0)
    built = METHODS[method](graph().n_features, METHODS[method].Settings(**METHOD_SETTINGS[method]))
    block, everything = Block.from_graph(graph()), torch.arange(graph().n_nodes)
    whole = built.loss(block, None, torch.Generator().manual_seed(0)).item()
    assert built.loss(block, everything, torch.Generator().manual_seed(0)).item() == pytest.approx(whole, rel=1e-4)


# ---------------------------------------------------------------------- a real graph


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.skipif(not os.environ.get("IMGCL_DATA"), reason="IMGCL_DATA is not set: it names the raw files' directory")
@each_method
@with_and_without
def test_learns_on_cora(method: str, imgcl: bool) -> None:
    cora = load_graph("cora")
    preset = find_preset(method, "cora", "fast").config()
    epochs = min(80, preset.training.epochs)
    config = preset.model_copy(
        update={
            "training": preset.training.model_copy(update={"epochs": epochs}),
            "balance": BalanceSettings() if imgcl else None,
        }
    )
    run = Trainer(config, cora)
    run.train()
    raw = linear_accuracy(cora.x.toarray() if not isinstance(cora.x, np.ndarray) else cora.x, cora.y)
    assert linear_accuracy(run.embed(), cora.y) > raw + 0.05
    assert math.isfinite(run.losses[-1])


def linear_accuracy(z: np.ndarray, y: Any) -> float:
    """Mean test accuracy of a logistic regression on L2-normalised rows, 10 % of the nodes for training, 3 splits."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    rows = normalize(z)
    accuracies = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[: len(y) // 10], order[len(y) // 5 :]
        probe = LogisticRegression(C=10.0, max_iter=2000).fit(rows[train], y[train])
        accuracies.append(probe.score(rows[test], y[test]))
    return float(np.mean(accuracies))
