"""Blocks of features in a run directory: what they are, and that no crash and no damage changes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.errors import InputError, RunError
from imgcl.graph import Graph, Reduction
from imgcl.studies.cells import GraphRef, PretrainCell
from imgcl.training import Run, RunConfig, ScopeSettings, TrainingSettings
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.loading import load_encoder
from imgcl.training.pretrain import pretrain, scoped_graph

ALL = ("learned", "own", "neighbours")
CONFIG = RunConfig(method_settings={"dim": 4}, training=TrainingSettings(epochs=3, checkpoint_every=2), seed=3)
WITH_BLOCKS = CONFIG.model_copy(update={"blocks": ALL})
FILES = ("own.npy", "neighbours.npy", "reduction.safetensors")


def content(run: Run) -> dict[str, bytes]:
    """All arrays of a run."""
    found = {file.name: file.read_bytes() for file in run.path.glob("*.npy")}
    for file in run.path.glob("*.safetensors"):
        tensors = Checkpoint.load(file).tensors  # the order of its header is not fixed
        found |= {f"{file.name}/{name}": tensor.numpy().tobytes() for name, tensor in tensors.items()}
    return found


@pytest.fixture
def wide_graph(small_graph: Graph) -> Graph:
    rng = np.random.default_rng(0)
    x = sp.csr_array(rng.random((small_graph.n_nodes, 300)) * (rng.random((small_graph.n_nodes, 300)) < 0.1))
    return replace(small_graph, x=x.astype(np.float32))


@pytest.mark.parametrize("kind", ["small_graph", "wide_graph"])
def test_a_run_has_its_blocks(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    graph: Graph = request.getfixturevalue(kind)
    run = pretrain(graph, WITH_BLOCKS, tmp_path / "run")
    plain = pretrain(graph, CONFIG, tmp_path / "plain")
    assert list(run.blocks) == list(ALL)
    assert np.array_equal(run.blocks["learned"], plain.embedding)
    for name, hops in (("own", 0), ("neighbours", 2)):
        assert np.array_equal(run.blocks[name], Reduction.fit(graph, hops=hops, random_state=3).apply(graph))
    assert {name: value.tolist() for name, value in plain.blocks.items()} == {"learned": plain.embedding.tolist()}
    assert not any((plain.path / name).exists() for name in FILES)


def test_a_run_without_further_blocks_is_written_as_before(small_graph: Graph, tmp_path: Path) -> None:
    pretrain(small_graph, CONFIG, tmp_path / "run")
    facts = json.loads((tmp_path / "run" / "config.json").read_text())
    assert "blocks" not in facts["config"]
    reference = GraphRef(source="here", name="synthetic", fingerprint="0" * 32, n_classes=3)
    cell = PretrainCell(graph=reference, config=CONFIG)
    assert "blocks" not in cell.identity()
    assert cell.key != PretrainCell(graph=reference, config=WITH_BLOCKS).key


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damaged", [True, False])
def test_resume_writes_what_is_missing_or_damaged_again(
    wide_graph: Graph, tmp_path: Path, name: str, damaged: bool
) -> None:
    run = pretrain(wide_graph, WITH_BLOCKS, tmp_path / "run")
    whole, file = content(run), run.path / name
    file.write_bytes(file.read_bytes()[:-50]) if damaged else file.unlink()
    assert not run.whole
    with pytest.raises(RunError, match=rf"{name}|it has no {name}"):
        _ = run.blocks, run.reductions
    assert content(pretrain(wide_graph, WITH_BLOCKS, run.path, resume=True)) == whole


def test_a_crash_between_the_blocks_is_resumed_to_the_same_bits(
    small_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import imgcl.training.run as module

    whole = content(pretrain(small_graph, WITH_BLOCKS, tmp_path / "whole"))
    write = module.write_checked_array

    def crash(path: Path, array: np.ndarray) -> None:
        if path.name == "neighbours.npy":
            raise KeyboardInterrupt
        write(path, array)

    with monkeypatch.context() as patched:
        patched.setattr(module, "write_checked_array", crash)
        with pytest.raises(KeyboardInterrupt):
            pretrain(small_graph, WITH_BLOCKS, tmp_path / "cut")
    assert (tmp_path / "cut" / "own.npy").exists()
    assert not Run(tmp_path / "cut").finished
    assert content(pretrain(small_graph, WITH_BLOCKS, tmp_path / "cut", resume=True)) == whole


def test_resume_adds_blocks_and_never_removes_one(small_graph: Graph, tmp_path: Path) -> None:
    whole = content(pretrain(small_graph, WITH_BLOCKS, tmp_path / "whole"))
    run = pretrain(small_graph, CONFIG, tmp_path / "run")
    own = CONFIG.model_copy(update={"blocks": ("learned", "own")})
    assert list(pretrain(small_graph, own, run.path, resume=True).blocks) == ["learned", "own"]
    assert content(pretrain(small_graph, WITH_BLOCKS, run.path, resume=True)) == whole
    assert list(pretrain(small_graph, CONFIG, run.path, resume=True).blocks) == list(ALL)


def test_the_inductive_scope_fits_on_what_was_trained_on(small_graph: Graph, tmp_path: Path) -> None:
    scope = ScopeSettings(scope="inductive", imbalance="exp:5")
    config = WITH_BLOCKS.model_copy(update={"scope": scope})
    run, scoped = pretrain(small_graph, config, tmp_path / "run"), scoped_graph(small_graph, config)
    assert scoped is not None
    expected = Reduction.fit(scoped.pretrain, random_state=3).apply(scoped.embed)
    assert np.array_equal(run.blocks["own"], expected)
    assert not np.array_equal(expected, Reduction.fit(scoped.embed, random_state=3).apply(scoped.embed))


def test_new_graphs_get_the_blocks_of_the_run_by_feature_names(wide_graph: Graph, tmp_path: Path) -> None:
    names = [f"f{i}" for i in range(wide_graph.n_features)]
    graph = replace(wide_graph, feature_names=names)
    run = pretrain(graph, WITH_BLOCKS, tmp_path / "run")
    order = np.random.default_rng(0).permutation(len(names))
    moved = replace(graph, x=wide_graph.x[:, order], feature_names=[names[i] for i in order])
    embedded = load_encoder(run).embed_blocks(moved)
    assert list(embedded) == list(ALL)
    for name, rows in run.blocks.items():
        assert embedded[name] == pytest.approx(rows, abs=1e-5)
    with pytest.raises(InputError, match="'f0' is missing"):
        load_encoder(run).embed_blocks(replace(graph, feature_names=["other", *names[1:]]))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"own/components": torch.zeros(7, 2)}, "own does not fit"),
        ({"own/mean": torch.zeros(300)}, "own does not fit"),
        ({"own/components": torch.full((300, 4), torch.nan)}, "own does not fit"),
        ({"own/components": None}, "own does not fit"),
    ],
)
def test_reductions_of_something_else_are_named(
    wide_graph: Graph, tmp_path: Path, change: dict[str, torch.Tensor | None], problem: str
) -> None:
    run = pretrain(wide_graph, WITH_BLOCKS, tmp_path / "run")
    stored = Checkpoint.load(run.path / "reduction.safetensors")
    tensors = {name: tensor for name, tensor in (stored.tensors | change).items() if tensor is not None}
    Checkpoint(tensors, stored.values).save(run.path / "reduction.safetensors")
    with pytest.raises(RunError, match=problem):
        _ = run.reductions
    assert not run.whole


def test_rows_that_do_not_belong_to_the_nodes_are_named(small_graph: Graph, tmp_path: Path) -> None:
    run = pretrain(small_graph, WITH_BLOCKS, tmp_path / "run")
    np.save(run.path / "own.npy", run.blocks["own"][:5])
    with pytest.raises(RunError, match=rf"own.npy is damaged \(5 rows for {small_graph.n_nodes} nodes\)"):
        _ = run.blocks


@pytest.mark.parametrize(
    ("given", "message"), [("own", "'learned' must be one"), (["ovn"], "did you mean 'own'"), (3, "`blocks` is 3")]
)
def test_blocks_that_are_none(given: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunConfig(blocks=given)  # type: ignore[arg-type]


def test_features_too_wide_for_the_memory_are_refused_before_training(
    wide_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imgcl._core.capacity.machine_memory", lambda: 100_000)
    with pytest.raises(InputError, match=r"keep the learned block alone \(`blocks='learned'`\)"):
        pretrain(wide_graph, WITH_BLOCKS, tmp_path / "run")
    assert not (tmp_path / "run").exists()
