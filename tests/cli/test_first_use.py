"""What a first-time user meets: hints that fit the labels there are, mistakes that are found before the work."""

import json

import numpy as np
import pytest

import imgcl

N = 60


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Sixty nodes in a ring; ``tables(labels)`` writes them with these labels and gives the options of an import."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("src,dst,w,kind\n" + "".join(f"{i},{(i + 1) % N},0,k{i}\n" for i in range(N)))

    def write(labels):
        rows = "".join(f"{i},{i % 7},{label}\n" for i, label in enumerate(labels))
        (tmp_path / "nodes.csv").write_text("id,f,status\n" + rows)
        return ("import", "--edges", "edges.csv", "--nodes", "nodes.csv", "--features", "f", "--label", "status")

    return write


def flat(text):
    return " ".join(text.replace("│", " ").split())


def test_an_import_says_how_many_labels_it_read(called, tables):
    said = called(*tables((["ok"] * 5 + ["banned", ""]) * 8 + ["ok"] * 4), "--out", "g.store").stderr
    assert "labelled nodes 52: ok 44, banned 8" in flat(said)


@pytest.mark.parametrize(
    ("label", "said"),
    [("", "no node has a label: a classifier needs"), ("ok", "every label is 'ok': a classifier needs")],
)
def test_an_import_says_that_labels_are_of_no_use(called, tables, label, said):
    assert said in called(*tables([label] * N), "--out", "g.store").stderr


def test_an_import_says_that_no_edge_is_left(called, tables):
    assert "the graph has no edges" in called(*tables(["ok"] * N), "--weight", "w", "--out", "g.store").stderr


def test_many_relations_are_not_listed_in_full(called, tables):
    said = flat(called(*tables(["ok"] * N), "--relation", "kind", "--out", "g.store").stderr)
    assert "k0" in said
    assert "k59" not in said


def test_an_import_names_the_option_of_a_value_that_it_refuses(called, tables):
    said = called(*tables(["ok"] * N), "--missing", "median", "--out", "g.store", code=2).stderr
    assert "--missing is 'median': did you mean 'mean'? (choose from error, mean, zero)" in said
    said = called(*tables(["ok"] * N), "--most-values", 0, "--out", "g.store", code=2).stderr
    assert "--most-values is 0" in said


@pytest.mark.parametrize(
    ("labels", "following"), [(["", ""], ["suggest", "embed"]), (["a", "b"], ["evaluate", "predict"])]
)
def test_the_next_step_fits_the_labels(called, tables, labels, following):
    called(*tables(labels * (N // 2)), "--out", "g.store")
    said = called("pretrain", "g.store", "--epochs", 2, "--set", "dim=8", "--out", "run").stderr
    assert [line.split()[2] for line in said.splitlines() if line.startswith("next: ")] == following
    assert [line.split()[1] for line in json.loads(called("info", "run", "--json").stdout)["next"]][:2] == following
    said = called("predict", "g.store", "--out", "p.csv", code=2).stderr
    assert "g.store is not a run directory: it is a graph store; pre-train on it first (imgcl pretrain)" in said


def test_a_class_to_sort_by_is_checked_before_the_work(called, finished_run, tmp_path, monkeypatch):
    monkeypatch.setattr("imgcl.evaluation.fitting.fit_all", lambda *given: pytest.fail("fitted"))
    said = called("predict", finished_run, "--sort-by", "fraud", "--out", tmp_path / "p.csv", code=2).stderr
    assert "--sort-by fraud: the classes are 0, 1, 2" in said


def test_a_file_without_any_label_is_refused_whatever_the_graph_has(called, tmp_path):
    graph = imgcl.load_graph("synthetic", class_sizes=[40, 20], n_features=4)
    half = imgcl.Graph.from_scipy(graph.adjacency, graph.x, np.where(np.arange(60) % 2, graph.y, -1))
    imgcl.ImGCL(epochs=2, settings={"dim": 8}).fit(half).save(tmp_path / "run")
    (tmp_path / "to_label.csv").write_text("node,label\n0,\n2,\n")
    options = ("--labels", tmp_path / "to_label.csv", "--out", tmp_path / "p.csv")
    assert "to_label.csv has no label: fill" in called("predict", tmp_path / "run", *options, code=2).stderr


def test_a_repeated_import_of_edges_alone_does_not_point_to_a_scorer(called, tables):
    tables([""])
    called("import", "--edges", "edges.csv", "--out", "g.store")
    said = called("import", "--edges", "edges.csv", "--like", "g.store", "--out", "h.store").stderr
    assert "a scorer of the earlier one cannot be used" in said
    assert "next: imgcl pretrain h.store" in said


def test_tables_in_place_of_graphs_scorers_and_labels(called, tables):
    tables([""])
    assert "imgcl import makes a store of tables" in called("pretrain", "nodes.csv", "--out", "run", code=2).stderr
    said = called("score", "nodes.csv", "digits", "--out", "s.csv", code=2).stderr
    assert "nodes.csv is not a scorer: it has no scorer.json" in said
    called("import", "--edges", "edges.csv", "--out", "g.store")
    called("pretrain", "g.store", "--epochs", 2, "--set", "dim=8", "--out", "run")
    assert "imgcl suggest says which to make" in called("predict", "run", "--out", "p.csv", code=2).stderr
