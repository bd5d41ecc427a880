"""A checkpoint that is not one of this training is refused before any of it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from imgcl._core.errors import InputError
from imgcl.balance import BalanceSettings
from imgcl.graph import Graph
from imgcl.training import RunConfig, Trainer
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.settings import TrainingSettings

CONFIG = RunConfig(
    method_settings={"dim": 4}, training=TrainingSettings(epochs=3, patience=2), balance=BalanceSettings(n_clusters=2)
)


@pytest.fixture
def checkpoint(small_graph: Graph) -> Checkpoint:
    trainer = Trainer(CONFIG, small_graph)
    trainer.step()
    return trainer.checkpoint()


def without(key: str) -> Callable[[Checkpoint], object]:
    return lambda state: (state.tensors if key in state.tensors else state.values).pop(key)


def value(key: str, other: Any) -> Callable[[Checkpoint], object]:
    return lambda state: state.values.update({key: other})


def tensor(key: str, other: torch.Tensor) -> Callable[[Checkpoint], object]:
    return lambda state: state.tensors.update({key: other})


@pytest.mark.parametrize(
    "change",
    [
        without("epoch"),
        without("rng/views"),
        without("rng/global"),
        value("epoch", -1),
        value("epoch", 10**400),
        value("epoch", 2),
        value("losses", ["low"]),
        value("losses", [float("nan")]),
        value("losses", 3),
        value("losses", [10**400]),
        value("best", {"epoch": 7, "loss": 0.5}),
        value("best", {"epoch": 0, "loss": "low"}),
        value("method", 3),
        value("optimiser", {"99/step": 1.0}),
        tensor("rng/views", torch.zeros(3, dtype=torch.uint8)),
        tensor("rng/global", torch.zeros(5056, dtype=torch.uint8)),
        tensor("method/another", torch.zeros(2)),
        tensor("optimiser/0/exp_avg", torch.zeros(2)),
        without("optimiser/0/exp_avg"),
        tensor("optimiser/x/exp_avg", torch.zeros(2)),
        tensor("best_method/another", torch.zeros(2)),
    ],
)
def test_what_does_not_fit(small_graph: Graph, checkpoint: Checkpoint, change: Callable[[Checkpoint], object]) -> None:
    change(checkpoint)
    trainer = Trainer(CONFIG, small_graph)
    before = {name: weight.clone() for name, weight in trainer.method.state_dict().items()}
    with pytest.raises((ValueError, KeyError, TypeError)):
        trainer.restore(checkpoint)
    assert all(torch.equal(before[name], weight) for name, weight in trainer.method.state_dict().items())


@pytest.mark.parametrize(
    ("key", "other", "message"),
    [
        ("selector/rows", torch.tensor([0, 10**6]), r"the rows of the stored selection are not all 0\.\.189"),
        ("selector/rows", torch.tensor([-1]), "the rows of the stored selection"),
        ("selector/labels", torch.full((190,), 7), r"the labels of the stored selection are not all 0\.\.1"),
        ("selector/weights", torch.ones(1), "rows and 1 weights"),
    ],
)
def test_a_selection_of_nodes_that_do_not_exist(
    small_graph: Graph, checkpoint: Checkpoint, key: str, other: torch.Tensor, message: str
) -> None:
    checkpoint.tensors[key] = other
    with pytest.raises(InputError, match=message):
        Trainer(CONFIG, small_graph).restore(checkpoint)


@pytest.mark.parametrize("clusters", [0, 191, 2**32, None, 2.5])
def test_a_selection_with_an_impossible_number_of_clusters(
    small_graph: Graph, checkpoint: Checkpoint, clusters: Any
) -> None:
    checkpoint.values["selector"]["n_clusters"] = clusters
    with pytest.raises(InputError, match=f"the stored selection has {clusters} clusters, the graph 190 nodes"):
        Trainer(CONFIG, small_graph).restore(checkpoint)


def test_settings_of_the_optimiser_are_those_of_the_run(small_graph: Graph, checkpoint: Checkpoint) -> None:
    trainer = Trainer(CONFIG, small_graph)
    checkpoint.values["optimiser_groups"] = [{"lr": "high"}]  # older checkpoints carry some
    trainer.restore(checkpoint)
    assert trainer.optimiser.param_groups[0]["weight_decay"] == CONFIG.training.weight_decay
    assert trainer.step().epoch == 2
