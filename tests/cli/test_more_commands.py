"""``trace`` and ``predict`` through the real application, in this process."""

import csv

import pytest
from typer.testing import CliRunner

from imgcl._core.errors import ImgclError
from imgcl.cli import app
from imgcl.training import Run
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain

SMALL = {"epochs": 8, "dim": 8}


@pytest.fixture(scope="module")
def runs(small_graph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, balance in (("plain", None), ("imgcl", "imgcl")):
        config = make_config(small_graph.name, balance=balance, overrides=SMALL)
        pretrain(small_graph, config, folder / name, diagnose=True)
    return folder


def invoke(*arguments):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome.stdout


def test_trace_shows_every_labelling_and_draws(runs, tmp_path):
    shown = invoke("trace", runs / "imgcl", "--plot", tmp_path / "t.svg")
    assert len([line for line in shown.splitlines() if line.strip()[:1].isdigit()]) == 8
    assert "ari" in shown
    assert (tmp_path / "t.svg").read_text().lstrip().startswith("<?xml")


def test_trace_of_a_plain_run_says_why_there_is_nothing(runs):
    with pytest.raises(ImgclError, match="was trained without ImGCL"):
        invoke("trace", runs / "plain")


def test_a_picture_of_an_unknown_format_is_refused_first(runs):
    with pytest.raises(ImgclError, match=r"must end in \.png"):
        invoke("trace", runs / "imgcl", "--plot", "t.gif")


def test_predict_writes_a_class_for_every_node(runs, small_graph, tmp_path):
    nodes = [*range(0, 190, 5)]
    with (tmp_path / "labels.csv").open("w") as file:
        csv.writer(file).writerows([("node", "label"), *((node, f"class {small_graph.y[node]}") for node in nodes)])
    invoke("predict", runs / "imgcl", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "p.csv")
    rows = list(csv.DictReader((tmp_path / "p.csv").read_text().splitlines()))
    assert len(rows) == small_graph.n_nodes
    assert {row["class"] for row in rows} <= {"class 0", "class 1", "class 2"}
    right = sum(row["class"] == f"class {y}" for row, y in zip(rows, small_graph.y, strict=True))
    assert right > 0.6 * len(rows)
    with pytest.raises(ImgclError, match="no labels at"):
        invoke("predict", runs / "imgcl", "--labels", tmp_path / "none.csv", "--out", tmp_path / "p.csv")


def test_baseline_prints_a_table_and_refuses_what_it_does_not_know():
    shown = invoke("baseline", "features", "digits", "--splits", 2, "--classifier", "plain")
    assert "plain" in shown
    assert "tail" in shown
    with pytest.raises(ImgclError, match="unknown baseline 'oracle'"):
        invoke("baseline", "oracle", "digits")


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("deepwalk", "dim=abc", "dim is abc: it must be a whole number"),
        ("propagated", "steps=1.5", "steps is 1.5: it must be a whole number"),
        ("gcn", "classifier=plain", "'gcn' has no option 'classifier': it has none"),
        ("features", "graph=1", "'features' has no option 'graph'"),
        ("node2vec", "random-state=1", "'node2vec' has no option 'random_state': it has dim, p, q"),
    ],
)
def test_baseline_explains_a_wrong_option(name, option, message):
    with pytest.raises(ImgclError, match=message):
        invoke("baseline", name, "digits", "--set", option)


@pytest.mark.parametrize("scope", ["train", "inductive"])
def test_pretrain_takes_the_scope_to_heart(scope, tmp_path):
    invoke(
        *("pretrain", "digits", "--scope", scope, "--imbalance", "exp:20", "--split", 1, "--out", tmp_path / "run"),
        *("--epochs", 2, "--set", "dim=8", "--quiet"),
    )
    run = Run(tmp_path / "run")
    assert run.config.scope.scope == scope
    assert (run.split is None) == (scope == "train")
    if scope == "inductive":
        assert (run.config.scope.imbalance, run.config.scope.split) == ("exp:20", 1)
