"""``imgcl suggest``: rounds of labelling through the command line."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from imgcl.cli import main
from imgcl.data import load_graph
from imgcl.report import read_nodes
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain


class Done(NamedTuple):
    out: str
    err: str


@pytest.fixture
def imgcl(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Done]:
    """The command line in this process, in a directory of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, code: int = 0) -> Done:
        monkeypatch.setattr(sys, "argv", ["imgcl", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        done = Done(*capfd.readouterr())
        assert (stopped.value.code or 0) == code, done.err
        return done

    return call


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suggest") / "run"
    graph = load_graph("synthetic", class_sizes=[120, 50, 20], mean_degree=8)
    config = make_config("none", method="gbt", balance=None, overrides={"epochs": 20, "dim": 16})
    pretrain(graph, config, path, source="synthetic:class_sizes=120/50/20,mean_degree=8")
    return path


def answer(file: Path, run: Path, skip: int = 0) -> pd.DataFrame:
    """Fill every empty label but the last ``skip`` ones with the true class."""
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    truth = np.load(run / "labels.npy")
    empty = table.index[table["label"] == ""]
    for row in empty[: len(empty) - skip]:
        table.loc[row, "label"] = f"class {truth[int(table.loc[row, 'node'])]}"
    table.to_csv(file, index=False)
    return table


def test_three_rounds_through_one_file(imgcl, run, tmp_path):
    file = tmp_path / "to_label.csv"
    done = imgcl("suggest", run, "--budget", 8, "--out", file)
    assert "--labels" in done.err
    assert "every node of the graph has a label: these labels are not used" in done.err
    assert done.out == ""
    first = answer(file, run, skip=1)
    assert first["node"].nunique() == 8
    second = imgcl("suggest", run, "--budget", 6, "--labels", file)
    assert "7 labels of 3 classes (1 left open)" in second.out
    assert "macro recall" in second.out
    table = answer(file, run)
    assert len(table) == 14
    assert table["node"].nunique() == 14  # nothing is repeated, also not the node without a label
    assert table["label"][:7].tolist() == first["label"][:7].tolist()
    assert table["batch"].tolist() == ["1"] * 8 + ["2"] * 6
    imgcl("suggest", run, "--budget", 5, "--labels", file, "--strategy", "search:class 2")
    found = pd.read_csv(file, dtype=str, keep_default_na=False).tail(5)
    assert set(found["expected"]) == {"class 2"}
    imgcl("predict", run, "--labels", file, "--out", tmp_path / "predicted.csv")  # the same file


def test_labels_of_the_graph_count_for_suggest_predict_and_report(imgcl, tmp_path):
    graph = load_graph("synthetic", class_sizes=[120, 50, 20], mean_degree=8)
    config = make_config("none", method="gbt", balance=None, overrides={"epochs": 5, "dim": 8})
    some = np.where(np.arange(graph.n_nodes) % 2, graph.y, -1)
    pretrain(replace(graph, y=some), config, tmp_path / "half")
    done = imgcl("suggest", tmp_path / "half", "--budget", 5)
    assert "95 nodes have a label in the graph: they count as labelled" in done.err
    assert "95 labels of 3 classes" in done.out
    table = pd.read_csv(tmp_path / "to_label.csv")
    assert (table["node"] % 2 == 0).all()
    (tmp_path / "few.csv").write_text("node,label,batch\n1,0,1\n3,0,1\n121,1,1\n123,1,1\n")
    said = "91 further nodes have a label in the graph: they count as well"
    assert said in imgcl("predict", tmp_path / "half", "--labels", "few.csv", "--out", "p.csv").err
    assert pd.read_csv(tmp_path / "p.csv")["given"].sum() == 95
    assert read_nodes(tmp_path / "half", labels=tmp_path / "few.csv")[1].startswith(said)
    (tmp_path / "few.csv").write_text("node,label,batch\n1,tea,1\n3,tea,1\n121,salt,1\n123,salt,1\n")
    done = imgcl("predict", tmp_path / "half", "--labels", "few.csv", "--out", "q.csv")
    assert "the graph has labels of 91 further nodes, of other classes: they are left out" in done.err
    assert pd.read_csv(tmp_path / "q.csv")["given"].sum() == 4
    (tmp_path / "few.csv").write_text("node,label,batch\n0,tea,1\n2,tea,1\n")  # a new class, found among the others
    imgcl("predict", tmp_path / "half", "--labels", "few.csv", "--out", "r.csv")
    assert pd.read_csv(tmp_path / "r.csv")["given"].sum() == 97


def test_a_misspelt_class_and_nodes_of_another_graph_are_said(imgcl, tmp_path):
    graph = load_graph("synthetic", class_sizes=[60, 40], mean_degree=8)
    config = make_config("none", method="gbt", balance=None, overrides={"epochs": 2, "dim": 8})
    some = np.where(np.arange(graph.n_nodes) % 2, graph.y, -1)
    pretrain(replace(graph, y=some, class_names=("ok", "banned")), config, tmp_path / "half")
    file = tmp_path / "few.csv"
    file.write_text("node,label,batch\n0,Banned,1\n2,ok,1\n4,baned,1\n")
    wrong = [f"'{name}' is no class of the graph so far: did you mean 'banned'?" for name in ("Banned", "baned")]
    done = imgcl("suggest", tmp_path / "half", "--budget", 1, "--labels", file)
    assert [line for line in done.err.splitlines() if "no class" in line] == wrong
    file.write_text("node,label,batch\n0,banned,1\n2,ok,1\nghost,ok,1\n")
    said = "few.csv: 1 of 3 nodes are not in the graph, for example 'ghost'"
    assert said in imgcl("predict", tmp_path / "half", "--labels", file, "--out", tmp_path / "p.csv").err
    done = imgcl("report", tmp_path / "half", "--labels", file, "--map", "pca", "--splits", 2)
    assert said in done.err.replace("\n", "")
    assert "another 50 labels" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_labels_of_another_file_stand_in_the_place_of_the_graph_s(imgcl, tmp_path):
    graph = load_graph("synthetic", class_sizes=[120, 50, 20], mean_degree=8)
    config = make_config("none", method="gbt", balance=None, overrides={"epochs": 5, "dim": 8})
    pretrain(replace(graph, y=np.where(np.arange(graph.n_nodes) % 2, graph.y, -1)), config, tmp_path / "half")
    (tmp_path / "few.csv").write_text("node,label\n1,0\n3,0\n121,1\n123,1\n")
    done = imgcl("predict", tmp_path / "half", "--labels", "few.csv", "--out", "p.csv")
    assert "the graph has labels of 91 further nodes: those of few.csv stand in their place" in done.err
    assert pd.read_csv(tmp_path / "p.csv")["given"].sum() == 4
    assert read_nodes(tmp_path / "half", labels=tmp_path / "few.csv")[0].progress[0].startswith("4 labels of 2 classes")


def test_what_a_page_cannot_show_is_refused_before_nodes_are_chosen(imgcl, run, tmp_path):
    for option, value, said in (("--show", "prize", "there is no feature 'prize'"), ("--map", "tnse", "did you mean")):
        done = imgcl("suggest", run, "--budget", 4, "--page", "label.html", option, value, code=2)
        assert said in done.err
        assert not (tmp_path / "to_label.csv").exists()


def test_the_hint_after_a_batch(imgcl, run, tmp_path):
    done = imgcl("suggest", run, "--budget", 9)
    assert "fill the column label of to_label.csv, then: imgcl suggest" in done.err
    answer(tmp_path / "to_label.csv", run)
    done = imgcl("suggest", run, "--budget", 1, "--labels", "to_label.csv")
    wanted = "imgcl predict" if "hardly worth it" in done.out else "imgcl suggest"
    assert f"then: {wanted}" in " ".join(done.err.split())


def test_the_hint_goes_on_with_the_same_options(imgcl, run, tmp_path):
    done = imgcl("suggest", run, "--budget", 12, "--strategy", "cover")
    assert "to_label.csv --budget 12 --strategy cover" in " ".join(done.err.split())
    answer(tmp_path / "to_label.csv", run)
    done = imgcl("suggest", run, "--budget", 1, "--labels", "to_label.csv", "--strategy", "search:class 0")
    assert "to_label.csv --budget 1 --strategy 'search:class 0'" in " ".join(done.err.split())  # worth it or not


def test_a_filled_file_is_not_overwritten(imgcl, run, tmp_path):
    imgcl("suggest", run, "--budget", 4)
    answer(tmp_path / "to_label.csv", run)
    text = (tmp_path / "to_label.csv").read_text()
    done = imgcl("suggest", run, "--budget", 4, code=2)
    assert "4 labels that would be lost" in done.err
    assert "--labels" in done.err
    assert (tmp_path / "to_label.csv").read_text() == text


def test_the_strategy_balanced_finds_the_graph_of_the_run(imgcl, run, tmp_path):
    imgcl("suggest", run, "--budget", 4, "--strategy", "balanced", "--n-clusters", 3)
    assert len(pd.read_csv(tmp_path / "to_label.csv")) == 4
    done = imgcl("suggest", run, "--strategy", "search:fraud", "--out", "other.csv", code=2)
    assert "--strategy cover" in done.err


def test_a_page_to_label_in_comes_with_the_batch(imgcl, run, tmp_path):
    done = imgcl("suggest", run, "--budget", 4, "--page", "label.html", "--map", "pca")
    assert "label.html" in done.err
    page = (tmp_path / "label.html").read_text(encoding="utf-8")
    assert page.count('"nearest":') == 4
    assert '"file":"to_label.csv"' in page
    done = imgcl("suggest", run, "--budget", 4, "--page", "label.html", "--show", "colour", code=2)
    assert "--show: there is no feature 'colour'" in done.err


@pytest.mark.parametrize("rules", [("--standardise",), ("--log", "amount"), ("--standardise", "--log", "a*")])
def test_the_page_shows_scaled_features_as_they_were(imgcl, tmp_path, rules):
    amount = np.arange(40) * 1_000.0 - 12_345
    pd.DataFrame({"id": range(40), "amount": amount}).to_csv(tmp_path / "nodes.csv", index=False)
    pd.DataFrame({"src": range(40), "dst": np.roll(range(40), 1)}).to_csv(tmp_path / "edges.csv", index=False)
    tables = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--features", "amount")
    imgcl("import", *tables, *rules, "--out", "scaled.store")
    imgcl("pretrain", "scaled.store", "--epochs", 2, "--set", "dim=4", "--out", "scaled")
    imgcl("suggest", "scaled", "--budget", 40, "--page", "label.html", "--map", "pca", "--show", "amount")
    page = (tmp_path / "label.html").read_text(encoding="utf-8")
    assert all(f'["amount","{value:.0f}"]' in page for value in amount)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_while_the_file_is_written_loses_no_label(imgcl, run, tmp_path, moment):
    file = tmp_path / "to_label.csv"
    imgcl("suggest", run, "--budget", 6, "--out", file)
    table = answer(file, run)
    # kill -9 of a process of its own, just before or after the new file takes the place of the old one
    program = f"""
import os, signal, sys
from imgcl.cli import main
replace = os.replace
def killed(*paths):
    if {moment == "after"}:
        replace(*paths)
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = killed
sys.argv = ["imgcl", "suggest", {str(run)!r}, "--budget", "6", "--labels", {str(file)!r}]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL
    after = pd.read_csv(file, dtype=str, keep_default_na=False)
    assert len(after) == (12 if moment == "after" else 6)
    assert after["label"][:6].tolist() == table["label"].tolist()
    imgcl("suggest", run, "--budget", 3, "--labels", file)
    assert pd.read_csv(file)["node"].nunique() == len(after) + 3
