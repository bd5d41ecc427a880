"""Features of a run's nodes as what it has to beat: stored with it, or made from its graph again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.data import synthetic_graph
from imgcl.data.store import write_store
from imgcl.graph import Graph
from imgcl.graph.structure import with_structure
from imgcl.training import Run, RunConfig, ScopeSettings, TrainingSettings
from imgcl.training.pretrain import pretrain
from imgcl.training.source import STRUCTURAL, reference_blocks, run_graph

ALL = ("learned", "own", "neighbours")


def trained(graph: Graph, folder: Path, blocks: tuple[str, ...], scope: ScopeSettings | None = None) -> Run:
    write_store(graph, folder / "g.store")
    config = RunConfig(method_settings={"dim": 4}, training=TrainingSettings(epochs=2), blocks=blocks)
    config = config if scope is None else config.model_copy(update={"scope": scope})
    return pretrain(graph, config, folder / "run", source=str(folder / "g.store"))


@pytest.fixture
def graph() -> Graph:
    return synthetic_graph(class_sizes=[60, 30, 30], n_features=6, seed=1)


@pytest.mark.parametrize("scope", [None, ScopeSettings(scope="inductive", imbalance="exp:3")])
def test_a_run_without_features_gets_those_of_its_graph(
    graph: Graph, scope: ScopeSettings | None, tmp_path: Path
) -> None:
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    kept = trained(graph, tmp_path / "with", ALL, scope)
    bare = trained(graph, tmp_path / "without", ("learned",), scope)
    (found, note), (stored, _) = reference_blocks(bare), reference_blocks(kept)
    assert note is None
    assert list(found) == list(stored) == ["own", "neighbours"]
    assert all(np.array_equal(found[name], kept.blocks[name]) for name in found)


def test_features_that_a_run_keeps_need_no_graph(graph: Graph, tmp_path: Path) -> None:
    run = trained(graph, tmp_path, ALL)
    (tmp_path / "g.store").rename(tmp_path / "moved.store")
    assert list(reference_blocks(run)[0]) == ["own", "neighbours"]


def test_a_graph_that_is_gone_or_another_one_is_said(graph: Graph, tmp_path: Path) -> None:
    run = trained(graph, tmp_path, ("learned",))
    (tmp_path / "g.store").rename(tmp_path / "moved.store")
    blocks, note = reference_blocks(run)
    assert blocks == {}
    assert note is not None
    assert note.startswith("no features to compare with: the graph ")
    assert list(reference_blocks(run, str(tmp_path / "moved.store"))[0]) == ["own", "neighbours"]
    write_store(synthetic_graph(class_sizes=[60, 30], n_features=6, seed=2), tmp_path / "g.store")
    assert "is another graph now" in str(reference_blocks(run)[1])
    with pytest.raises(InputError, match="is not the graph of"):
        run_graph(run, str(tmp_path / "g.store"))


def test_structural_features_are_called_so(graph: Graph, tmp_path: Path) -> None:
    run = trained(with_structure(graph, dim=4), tmp_path, ALL)
    blocks, note = reference_blocks(run)
    assert note == STRUCTURAL
    assert blocks["own"].shape == (120, 5)
