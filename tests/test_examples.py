"""The examples run, select what they should, and their models move."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

import imgcl
from imgcl.balance import BalancedSelector

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["dgi_torch_geometric", "grace_in_60_lines", "mini_batches", "neighbor_loader"])
def test_the_example_runs_and_balances(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    state = torch.get_rng_state()
    try:
        selector = load(name).main(epochs=16)
    finally:
        torch.set_rng_state(state)
    assert isinstance(selector, BalancedSelector)
    assert len(selector.history) == 8
    first, last = selector.history[0], selector.history[-1]
    assert np.ptp(last["drawn"]) < np.ptp(first["drawn"])
    assert last["ari"] is not None
    assert last["ari"] > 0.3  # the digits are found again
    assert "loss" in capsys.readouterr().out


def test_grace_fits_into_sixty_lines() -> None:
    assert len((EXAMPLES / "grace_in_60_lines.py").read_text().splitlines()) <= 60


def test_pipeline_classifies_every_node_most_of_them_right() -> None:
    frame = load("sklearn_pipeline").main(epochs=20)
    graph = imgcl.load_graph("digits")
    assert len(frame) == graph.n_nodes
    assert np.mean(frame["class"] == graph.y) > 0.7
    assert frame["probability"].between(0.1, 1).all()
    assert set(frame["group"]) == {"head", "middle", "tail"}
