"""``trace`` and ``predict`` through the real application, in this process."""

import csv

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from imgcl._core.errors import ImgclError
from imgcl.cli import app
from imgcl.data.store import write_store
from imgcl.graph import Graph
from imgcl.training import Run
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain

KINDS = ("score", "mean", "block")
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


def read(file):
    return list(csv.DictReader(file.read_text().splitlines()))


def test_predict_takes_the_labels_of_the_graph_sorts_and_cuts(runs, small_graph, tmp_path):
    invoke("predict", runs / "imgcl", "--out", tmp_path / "p.csv", "--sort-by", "2", "--top", 10, "--prior", "2=50%")
    rows = read(tmp_path / "p.csv")
    assert len(rows) == 10
    assert [*rows[0]] == ["node", "class", "p_0", "p_1", "p_2", "rank", "given"]
    falling = [float(row["p_2"]) for row in rows]
    assert falling == sorted(falling, reverse=True)
    with pytest.raises(ImgclError, match="--sort-by tea: the classes are 0, 1, 2"):
        invoke("predict", runs / "imgcl", "--out", tmp_path / "p.csv", "--sort-by", "tea")
    with pytest.raises(ImgclError, match="give it with --labels"):
        invoke("predict", runs / "imgcl", "--out", tmp_path / "p.csv", "--id-column", "node")


def test_predict_names_columns_and_counts_unknown_nodes(runs, small_graph, tmp_path):
    lines = ["when,kind,who", *(f"x,class {small_graph.y[node]},{node}" for node in range(0, 190, 5)), "x,class 0,9999"]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    columns = ("--id-column", "who", "--label-column", "kind")
    arguments = ["predict", runs / "imgcl", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "p.csv", *columns]
    outcome = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert outcome.exit_code == 0
    assert "1 of 39 nodes are not in the graph, for example '9999'" in outcome.stderr.replace("\n", "")
    assert sum(row["given"] == "True" for row in read(tmp_path / "p.csv")) == 38
    with pytest.raises(ImgclError, match=r"has no column 'class' \(`label_column`\)"):
        invoke(*arguments[:-1], "class")
    (tmp_path / "labels.csv").write_text("node,label\n9998,a\n9999,b\n")
    with pytest.raises(ImgclError, match="none of the 2 nodes of `labels` is in the graph"):
        invoke(*arguments[:-4])


def test_a_saved_scorer_gives_the_same_without_training(runs, small_graph, tmp_path):
    from imgcl.training.scoring import GraphScorer

    rule = ("--decide", "min-recall:2=0.8")
    invoke("predict", runs / "imgcl", "--out", tmp_path / "p.parquet", *rule, "--save", tmp_path / "scorer")
    scorer = GraphScorer.load(tmp_path / "scorer")
    assert scorer.scorer.decision.rule == "min-recall:2=0.8"
    frame = scorer.score(small_graph)
    expected = scorer.scorer.predict_proba(Run(runs / "imgcl").blocks)
    assert frame[["p_0", "p_1", "p_2"]].to_numpy() == pytest.approx(expected, abs=1e-5)
    assert scorer.record.node_names is scorer.record.labels is None
    assert not len(Run(tmp_path / "scorer" / "run").embedding)
    card = (tmp_path / "scorer" / "MODEL_CARD.md").read_text()
    assert "Rule: `min-recall:2=0.8`" in card
    assert f"| 0 | {(small_graph.y == 0).sum()} |" in card
    again = ("predict", runs / "imgcl", "--out", tmp_path / "p.csv", "--save")
    with pytest.raises(ImgclError, match="there is something already"):
        invoke(*again, tmp_path / "scorer")
    invoke(*again, tmp_path / "other", "--classifier", "trees")
    assert GraphScorer.load(tmp_path / "other").scorer.classifier == "trees"


def test_score_writes_a_table_for_a_data_set(tmp_path):
    invoke("pretrain", "digits", "--epochs", 2, "--set", "dim=8", "--out", tmp_path / "run", "--quiet")
    invoke("predict", tmp_path / "run", "--out", tmp_path / "p.csv", "--save", tmp_path / "scorer")
    invoke("score", tmp_path / "scorer", "digits", "--sort-by", "3", "--top", 7, "--out", tmp_path / "q.csv")
    rows = read(tmp_path / "q.csv")
    assert len(rows) == 7
    assert rows[0]["class"] == "3"
    assert rows[0]["given"] == "True"  # the data set has a label of every node
    with pytest.raises(ImgclError, match="is not a scorer"):
        invoke("score", tmp_path / "run", "digits", "--out", tmp_path / "q.csv")


def test_baseline_prints_a_table_and_refuses_what_it_does_not_know():
    shown = invoke("baseline", "features", "digits", "--splits", 2, "--classifier", "plain")
    assert "plain" in shown
    assert "tail" in shown
    with pytest.raises(ImgclError, match="unknown baseline 'oracle'"):
        invoke("baseline", "oracle", "digits")


def test_a_protocol_of_papers_for_a_baseline_and_for_a_run(tmp_path):
    shown = invoke("baseline", "features", "digits", "--splits", 2, "--classifier", "plain", "--protocol", "step:10")
    assert "protocol step:10" in shown
    assert "balanced" in shown
    with pytest.raises(ImgclError, match="`protocol` is 'igl': write imgcl"):  # --protocol, on the command line
        invoke("baseline", "features", "digits", "--protocol", "igl")
    with pytest.raises(ImgclError, match="--protocol igl:20 decides on labels and test nodes: leave out --imbalance"):
        invoke("baseline", "features", "digits", "--protocol", "igl:20", "--test", "natural")
    invoke("pretrain", "digits", "--epochs", 2, "--set", "dim=8", "--out", tmp_path / "run", "--quiet")
    shown = invoke("evaluate", tmp_path / "run", "--splits", 1, "--classifier", "plain", "--protocol", "step:10")
    assert "protocol step:10" in shown
    assert "own features, plain" in shown


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("deepwalk", "dim=abc", "dim is abc: it must be a whole number"),
        ("propagated", "steps=1.5", "steps is 1.5: it must be a whole number"),
        ("gcn", "classifier=plain", "'gcn' has no option 'classifier': it has tam"),
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


def test_predict_explains_the_first_nodes_beside_the_scores(runs, small_graph, tmp_path):
    arguments = ("predict", runs / "imgcl", "--out", tmp_path / "p.csv", "--sort-by", "2")
    shown = invoke(*arguments, "--explain", 4)
    rows, first = read(tmp_path / "p-reasons.csv"), [row["node"] for row in read(tmp_path / "p.csv")[:4]]
    assert list(dict.fromkeys(row["node"] for row in rows)) == first
    assert [*rows[0]] == ["node", "kind", "what", "block", "class", "amount"]
    for node in first:
        amount = {
            kind: sum(float(r["amount"]) for r in rows if (r["node"], r["kind"]) == (node, kind)) for kind in KINDS
        }
        assert amount["mean"] + amount["block"] == pytest.approx(amount["score"])
    assert {row["block"] for row in rows if row["kind"] == "feature"} <= {"own", "neighbours"}
    assert sum(f"{node}: score for 2 " in shown for node in first) == 3
    with pytest.raises(ImgclError, match="classifier 'trees' have no reasons: use ensemble, plain"):
        invoke(*arguments, "--explain", 4, "--classifier", "trees")


def test_wide_features_are_named_while_the_graph_is_there(tmp_path):
    rng = np.random.default_rng(0)
    y, names = np.arange(80) % 2, [f"word {j}" for j in range(300)]
    x = (rng.random((80, 300)) < 0.05) + 0.0
    x[:, 7] = y
    edges = rng.integers(0, 80, (2, 120))
    write_store(Graph.from_edges(edges, x=x, y=y, feature_names=names), tmp_path / "g.store")
    invoke("pretrain", tmp_path / "g.store", "--epochs", 2, "--set", "dim=4", "--out", tmp_path / "run", "--quiet")
    arguments = ("predict", tmp_path / "run", "--out", tmp_path / "p.parquet", "--explain", 2)
    assert "own word 7 +" in invoke(*arguments)
    kinds = pd.read_parquet(tmp_path / "p-reasons.parquet")["kind"]
    assert (kinds == "feature").sum() == 10
    (tmp_path / "g.store").rename(tmp_path / "elsewhere")
    outcome = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert "features are not named: the graph" in outcome.stderr
    assert "  features: " not in outcome.stdout
    assert "nearest labelled: " in outcome.stdout
