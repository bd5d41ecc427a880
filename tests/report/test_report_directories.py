"""Reports of run directories, through the command line's own path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from imgcl._core.errors import InputError, RunError
from imgcl.cli import app
from imgcl.data import load_graph, synthetic_graph
from imgcl.graph import Graph
from imgcl.report import read_nodes, read_runs
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic_graph(class_sizes=[60, 30, 20], n_features=8, seed=0)


@pytest.fixture(scope="module")
def directories(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        for kind, balance in (("plain", None), ("imgcl", "imgcl")):
            config = make_config(graph.name, balance=balance, overrides={"epochs": 8, "dim": 8}, seed=seed)
            pretrain(graph, config, folder / f"{kind}{seed}", source="nowhere.npz")
    return {path.name: path for path in folder.iterdir()}


def test_seeds_of_the_same_settings_are_one_run(directories: dict[str, Path]) -> None:
    plain, balanced = read_runs([directories[name] for name in ("plain0", "imgcl0", "plain1", "imgcl1")])
    assert (plain.name, len(plain.embeddings), plain.balanced) == ("GBT", 2, False)
    assert (balanced.name, len(balanced.embeddings), balanced.balanced) == ("GBT + ImGCL", 2, True)
    assert plain.pseudo_labels is None
    assert balanced.pseudo_labels is not None
    assert balanced.pseudo_labels.shape == (110,)
    assert balanced.settings["run"]["seed"] == "0, 1"
    assert len(balanced.history["labellings"]) == 8


def test_runs_with_the_same_name_are_told_apart_by_their_directory(
    graph: Graph, directories: dict[str, Path], tmp_path: Path
) -> None:
    config = make_config(graph.name, balance=None, overrides={"epochs": 4, "dim": 8})
    pretrain(graph, config, tmp_path / "shorter")
    names = [run.name for run in read_runs([directories["plain0"], tmp_path / "shorter"])]
    assert names == ["GBT (plain0)", "GBT (shorter)"]


def test_another_graph_is_refused(directories: dict[str, Path], tmp_path: Path) -> None:
    other = synthetic_graph(class_sizes=[40, 20], n_features=8, seed=5)
    pretrain(other, make_config(other.name, overrides={"epochs": 2, "dim": 4}), tmp_path / "other")
    with pytest.raises(RunError, match="different graphs"):
        read_runs([directories["plain0"], tmp_path / "other"])


def test_without_the_graph_the_nodes_have_no_degree_and_a_remark_says_why(directories: dict[str, Path]) -> None:
    nodes, remark = read_nodes(directories["plain0"])
    assert nodes.degree is None
    assert remark is not None
    assert "`graph`" in remark
    assert nodes.labels is not None


def test_a_data_set_is_described(tmp_path: Path) -> None:
    digits = load_graph("digits")
    pretrain(digits, make_config("digits", overrides={"epochs": 1, "dim": 4}), tmp_path / "run")
    nodes, remark = read_nodes(tmp_path / "run")
    assert remark is None
    assert nodes.about is not None
    assert "handwritten digits" in nodes.about


def test_the_graph_can_be_given_and_must_be_the_same(directories: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="fingerprints differ"):
        read_nodes(directories["plain0"], graph="digits")


def test_own_labels_replace_those_of_the_graph(directories: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("node,label\n0,tea\n1,salt\n5,tea\n")
    nodes, _ = read_nodes(directories["plain0"], labels=file)
    assert nodes.labels is not None
    assert [nodes.labels[i] for i in (0, 1, 2, 5)] == ["tea", "salt", None, "tea"]
    assert nodes.class_names is None
    assert nodes.progress[0] == "3 labels of 2 classes: tea 2, salt 1"


def test_the_command_writes_the_file_and_prints_its_name(directories: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    options = ["--imbalance", "exp:4", "--splits", "2", "--map", "pca", "--out", str(file)]
    done = CliRunner().invoke(app, ["report", str(directories["plain0"]), str(directories["imgcl0"]), *options])
    assert done.exit_code == 0, done.output
    assert file.exists()
    assert 4_000_000 < file.stat().st_size < 8_000_000


def test_the_command_refuses_another_ending_before_any_work(directories: dict[str, Path], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(directories["plain0"]), "--out", str(tmp_path / "report.pdf")])
    assert isinstance(done.exception, InputError)


def test_a_graph_without_labels_has_a_report(graph: Graph, tmp_path: Path) -> None:
    unlabelled = graph.with_labels(None)
    config = make_config("mine", n_clusters=3, overrides={"epochs": 8, "dim": 8})
    pretrain(unlabelled, config, tmp_path / "run", source="nowhere")
    done = CliRunner().invoke(app, ["report", str(tmp_path / "run"), "--map", "pca", "--out", str(tmp_path / "r.html")])
    assert done.exit_code == 0, done.output
    assert np.load(tmp_path / "run" / "embedding.npy").shape == (110, 8)
