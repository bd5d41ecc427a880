"""What is said, and what still works, where a class has few labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import imgcl

SIZES = {"ok": 40, "spam": 20, "banned": 2, "odd": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    graph = imgcl.load_graph("synthetic", class_sizes=[80, 40, 20, 10], seed=0)
    y = np.full(graph.n_nodes, -1)
    for k, size in enumerate(SIZES.values()):
        y[np.flatnonzero(graph.y == k)[:size]] = k
    labelled = replace(graph, y=y, class_names=list(SIZES))
    path = tmp_path_factory.mktemp("few") / "run"
    imgcl.ImGCL(epochs=5, settings={"dim": 8}).fit(labelled).save(path)
    return path


def test_predict_warns_and_claims_nothing_about_a_class_with_one_label(called, run, tmp_path):
    said = called("predict", run, "--out", tmp_path / "p.csv").stderr
    assert (
        "fewer than 5 labels: banned (2), odd (1); what is said about these classes is hardly more than chance" in said
    )
    assert "for odd: precision unknown [" in said
    assert "recall unknown [" in said
    assert "rank: 1 is the most likely odd, the class with the fewest labels" in said


def test_the_class_that_is_ranked_and_the_accuracy_are_said(called, run, tmp_path):
    rest = {"--labels": tmp_path / "l.csv", "--out": tmp_path / "p.csv", "--decide": "flag-rate:spam=20%"}
    names = [*["ok"] * 20, *["spam"] * 20, *["banned"] * 10]
    nodes = [*range(20), *range(80, 100), *range(120, 130)]
    rest["--labels"].write_text("node,label\n" + "\n".join(f"{n},{name}" for n, name in zip(nodes, names, strict=True)))
    said = called("predict", run, *(part for pair in rest.items() for part in pair)).stderr
    assert "rank: 1 is the most likely spam, the class that is flagged" in said
    assert "decision flag-rate:spam=20%, expected of all classes: accuracy " in said
    assert "hardly more than chance" not in said


def test_a_threshold_that_few_labels_chose_is_no_promise(called, run, tmp_path):
    options = ("--out", tmp_path / "p.csv", "--save", tmp_path / "scorer", "--labels", tmp_path / "l.csv")
    (tmp_path / "l.csv").write_text(
        "node,label\n" + "".join(f"{n},{'ok' if n < 80 else 'spam'}\n" for n in range(60, 90))
    )
    said = called("predict", run, *options, "--decide", "min-recall:0.5").stderr
    remark = (
        "threshold was chosen on the 10 labels of spam that the rates to expect are measured on: the recall of other"
    )
    assert f"the {remark} nodes will probably be lower" in said
    assert f"- The {remark} nodes will probably be lower.\n" in (tmp_path / "scorer" / "MODEL_CARD.md").read_text()
    assert "was chosen on" not in called("predict", run, *options[:2], *options[4:]).stderr  # argmax chooses nothing


def test_an_estimated_prior_says_what_the_labels_have(called, run, tmp_path):
    said = called("predict", run, "--prior", "estimated", "--out", tmp_path / "p.csv").stderr
    assert "(estimated from the unlabelled nodes; among the labels odd has 1.6 %)" in said


def test_evaluate_and_report_go_on_without_classes_that_cannot_be_split(called, run, tmp_path):
    done = called("evaluate", run, "--splits", 2, "--classifier", "plain")
    assert "left out, under 3 labelled nodes: 'banned' 2, 'odd' 1" in done.stderr
    assert "classifiers learn from 10 % of the labels here" in done.stderr
    assert "banned" not in done.stdout
    options = ("--out", tmp_path / "r.html", "--splits", 2, "--classifier", "plain", "--map", "pca")
    assert "left out, under 3 labelled nodes: 'banned' 2, 'odd' 1" in called("report", run, *options).stderr
