"""GRACE's temperature: a cosine of the epoch on request, else as before, in bits, settings and files."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from imgcl._core.errors import InputError
from imgcl.data import load_graph
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.losses import info_nce
from imgcl.methods import GRACE
from imgcl.methods.grace import GRACESettings
from imgcl.training.estimator import make_config
from imgcl.training.settings import apply_overrides
from imgcl.training.trainer import Trainer

STILL = {"edge_drop_1": 0, "edge_drop_2": 0, "feature_mask_1": 0, "feature_mask_2": 0}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_graph("synthetic", class_sizes=[40, 20], n_features=6, mean_degree=6, seed=0)


def trainer(graph: Graph, **settings: object) -> Trainer:
    overrides = {"dim": 4, "epochs": 9, "sample": 1.0, **settings}
    return Trainer(make_config("synthetic", method="grace", balance=None, overrides=overrides), graph)


def test_the_formula() -> None:
    settings = GRACESettings(tau_period=8, tau_min=0.2, tau_max=0.8)
    for epoch in range(20):
        expected = (0.8 - 0.2) * (1 + math.cos(2 * math.pi * epoch / 8)) / 2 + 0.2
        assert settings.temperature(epoch) == pytest.approx(expected)
    assert GRACESettings(tau=0.3).temperature(5) == 0.3


def test_every_epoch_has_its_temperature(graph: Graph) -> None:
    method = GRACE(6, GRACESettings(dim=4, tau_period=4, tau_min=0.2, tau_max=1.0, **STILL))
    block = Block.from_graph(graph)
    projected = method.projector(method.encoder([block])[0])
    for tau in (1.0, 0.6, 0.2, 0.6, 1.0):
        expected = info_nce(projected, projected, tau).item()
        assert method.loss(block, None, torch.Generator()).item() == pytest.approx(expected, rel=1e-5)
        method.after_step(0.5)


def test_a_run_resumes_at_its_temperature(graph: Graph) -> None:
    whole = trainer(graph, tau_period=5)
    whole.train()
    first = trainer(graph, tau_period=5)
    for _ in range(4):
        first.step()
    resumed = trainer(graph, tau_period=5)
    resumed.restore(first.checkpoint())
    resumed.train()
    assert resumed.losses == whole.losses
    np.testing.assert_array_equal(resumed.embed(), whole.embed())


def test_off_it_leaves_no_trace(graph: Graph) -> None:
    plain = trainer(graph)
    assert "method/epoch" not in plain.checkpoint().tensors
    assert not {"tau_period", "tau_min", "tau_max"} & set(GRACESettings().model_dump())
    assert GRACESettings(tau_period=10).model_dump()["tau_max"] == 1.0
    plain.train()
    other = trainer(graph, tau_period=5)
    other.train()
    assert plain.losses != other.losses


def test_settings_that_contradict() -> None:
    config = make_config("synthetic", method="grace")
    with pytest.raises(InputError, match="'tau_min' has no effect here: tau_period is 0"):
        apply_overrides(config, {"tau_min": 0.2})
    with pytest.raises(InputError, match="'tau' has no effect here: tau_min and tau_max replace it"):
        apply_overrides(config, {"tau_period": 50, "tau": 0.2})
    with pytest.raises(InputError, match=r"tau_min is 0\.5 and tau_max is 0\.3: tau_min must not be above tau_max"):
        apply_overrides(config, {"tau_period": 50, "tau_min": 0.5, "tau_max": 0.3})
