"""Encoders that were trained on structural features embed their own graph and no other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import imgcl
from imgcl._core.errors import InputError
from imgcl.graph import Graph
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain
from imgcl.training.settings import ScopeSettings
from imgcl.training.trainer import Trainer

SETTINGS = {"dim": 8}


def bare(seed: int = 0) -> Graph:
    made = imgcl.load_graph("synthetic", class_sizes=[40, 20], seed=seed)
    return Graph(made.indptr, made.indices, np.zeros((60, 0), np.float32), made.y)


@pytest.fixture(scope="module")
def model() -> imgcl.ImGCL:
    return imgcl.ImGCL(n_clusters=2, epochs=3, settings=SETTINGS).fit(bare())


def test_its_own_graph(model: imgcl.ImGCL, tmp_path: Path) -> None:
    assert model.n_features_in_ == 65
    np.testing.assert_allclose(model.transform(bare()), model.embedding_, rtol=1e-4, atol=1e-5)
    model.save(tmp_path / "run")
    loaded = imgcl.ImGCL.load(tmp_path / "run")
    np.testing.assert_allclose(loaded.transform(bare()), model.embedding_, rtol=1e-4, atol=1e-5)
    with pytest.raises(InputError, match="'graph' is another one"):
        loaded.transform(bare(seed=1))


def test_another_graph_is_refused(model: imgcl.ImGCL) -> None:
    with pytest.raises(InputError, match="structural features, which mean something else in every graph"):
        model.transform(bare(seed=1))
    with pytest.raises(InputError, match="structural features, which mean something else in every graph"):
        model.transform(Graph.from_edges([[0], [1]], x=np.ones((2, 65))))


def test_structural_features_do_not_pass_for_others() -> None:
    graph = Graph.from_edges(
        np.stack([np.arange(60), np.roll(np.arange(60), 1)]), x=np.random.default_rng(0).random((60, 65))
    )
    model = imgcl.ImGCL(n_clusters=2, epochs=2, settings=SETTINGS).fit(graph)
    with pytest.raises(InputError, match="has structural features only, and the encoder was trained on others"):
        model.transform(bare())


def test_scopes_that_hide_nodes_are_refused(tmp_path: Path) -> None:
    graph = imgcl.load_graph(bare())
    config = make_config("graph", overrides={**SETTINGS, "epochs": 2}, scope=ScopeSettings(scope="inductive"))
    with pytest.raises(InputError, match="scope inductive hides nodes, but structural features"):
        pretrain(graph, config, tmp_path / "run")


def test_a_trainer_makes_no_features_by_itself() -> None:
    with pytest.raises(InputError, match=r"has no features: load_graph\(graph\) makes structural ones"):
        Trainer(make_config("graph", overrides=SETTINGS), bare())
