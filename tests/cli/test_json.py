"""What ``--json`` prints: one JSON value and nothing else, under names that stay; what ``imgcl info`` reads."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imgcl.balance import BalanceSettings
from imgcl.training import Run, RunConfig, TrainingSettings

SCORER = ["classifier", "classes", "prior", "decision", "target"]
KEYS = {
    "graph": [
        *("kind", "name", "nodes", "edges", "mean_degree", "isolated_nodes", "features", "feature_storage", "classes"),
        *(
            "edge_weights",
            "direction",
            "labelled_nodes",
            "class_sizes",
            "class_size_ratio",
            "cleaned",
            "fingerprint",
            "linked_nodes",
            "next",
        ),
    ],
    "run": [
        *("kind", "path", "finished", "graph", "method", "balance", "preset", "seed", "epochs", "settle"),
        *("epochs_done", "extended", "loss", "nodes", "blocks", "labelled_nodes", "class_sizes", "versions", "next"),
    ],
    "scorer": [*("kind", "path", "graph", "features", "method", "seed", "blocks"), *SCORER, "card", "next"],
    "predict": ["path", "rows", "reasons", "scorer", "nodes", "labelled", "blocks", *SCORER],
    "suggest": ["path", "page", "suggested", "progress"],
    "progress": ["labels", "asked", "classes", "macro_recall", "batch", "gain", "new_class", "worth_it", "sentences"],
    "datasets": [
        *("name", "nodes", "edges", "features", "classes", "about", "file", "origin", "path", "built_in", "present"),
    ],
}


def keys_of(value):
    """All keys at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def told(done):
    """The value on standard output, whose keys are words."""
    value = json.loads(done.stdout)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", key) for key in keys_of(value)), keys_of(value)
    assert done.stdout.count("\n") == 1
    return value


@pytest.fixture
def labels(tmp_path):
    file = tmp_path / "labels.csv"
    digits = np.arange(400)
    pd.DataFrame({"node": digits, "label": np.where(digits % 4, "usual", "rare kind")}).to_csv(file, index=False)
    return file


def test_datasets(called):
    rows = told(called("datasets", "--json"))
    assert [set(row) for row in rows] == [set(KEYS["datasets"])] * len(rows)
    digits = next(row for row in rows if row["name"] == "digits")
    assert (digits["nodes"], digits["present"], digits["built_in"]) == (1797, True, True)


def test_info_of_a_graph(called):
    facts = told(called("info", "digits", "--json"))
    assert sorted(facts) == sorted(KEYS["graph"])
    assert facts["kind"] == "graph"
    assert facts["class_sizes"][3] == {"name": "3", "nodes": 183}
    assert facts["next"] == ["imgcl pretrain digits --out runs/digits"]


def test_info_of_a_store_names_classes_and_columns(called, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"user": range(30), "age": range(30), "kind": ["a b", "c", "c"] * 10}).to_csv("n.csv", index=False)
    pd.DataFrame({"src": range(29), "dst": range(1, 30)}).to_csv("e.csv", index=False)
    tables = ("--edges", "e.csv", "--nodes", "n.csv", "--id-column", "user", "--features", "age", "--label", "kind")
    called("import", *tables, "--out", "g.store", "-q")
    facts = told(called("info", "g.store", "--json"))
    assert facts["class_sizes"] == [{"name": "a b", "nodes": 10}, {"name": "c", "nodes": 20}]
    assert facts["imported_with"] == {"id_column": "user", "features": ["age"], "label": "kind"}
    shown = " ".join(called("info", "g.store").stdout.split())
    assert "c 20, a b 10" in shown
    assert "id column user" in shown


def test_info_of_a_run(called, finished_run):
    facts = told(called("info", finished_run, "--json"))
    assert sorted(facts) == sorted(KEYS["run"])
    assert (facts["kind"], facts["finished"], facts["epochs_done"], facts["settle"]) == ("run", True, 20, False)
    assert facts["blocks"][0] == {"name": "learned", "columns": 16}
    assert facts["balance"]["centrality"] == "pagerank"
    assert facts["next"][0] == f"imgcl evaluate {finished_run}"
    done = called("info", finished_run)
    assert "learned 16, own 64, neighbours 64" in done.stdout
    assert f"next: imgcl evaluate {finished_run}" in done.stderr


def test_info_of_a_run_that_is_not_finished_or_was_extended(called, small_graph, tmp_path):
    training = TrainingSettings(epochs=9)
    config = RunConfig(training=training, seed=4, extended=((5, 5),), balance=BalanceSettings(centrality="none"))
    Run.start(tmp_path / "run", config, small_graph, source="my graph.npz")
    facts = told(called("info", tmp_path / "run", "--json"))
    assert (facts["finished"], facts["epochs_done"], facts["nodes"]) == (False, 0, None)
    assert facts["extended"] == [{"after": 5, "of": 5}]
    assert "not embedded yet" in called("info", tmp_path / "run").stdout
    command = (
        f"imgcl pretrain 'my graph.npz' --seed 4 --epochs 9 --balance centrality=none --out {tmp_path / 'run'} --resume"
    )
    assert facts["next"] == [command]
    shown = called("info", tmp_path / "run").stdout
    assert "after epoch 5 of 5" in shown
    assert "ImGCL (centrality=none)" in shown


def test_predict_and_info_of_its_scorer(called, finished_run, labels, tmp_path):
    options = ("--labels", labels, "--classifier", "plain", "--decide", "min-recall:0.5", "--out", tmp_path / "p.csv")
    done = called("predict", finished_run, *options, "--explain", 2, "--save", tmp_path / "scorer", "--json")
    facts = told(done)
    assert sorted(facts) == sorted(KEYS["predict"])
    assert (facts["rows"], facts["nodes"], facts["labelled"]) == (1797, 1797, 400)
    assert [each["name"] for each in facts["classes"]] == ["rare kind", "usual"]
    assert sum(each["predicted"] for each in facts["classes"]) == 1797
    assert facts["reasons"] == str(tmp_path / "p-reasons.csv")
    found = told(called("info", tmp_path / "scorer", "--json"))
    assert sorted(found) == sorted(KEYS["scorer"])
    assert {key: found[key] for key in ("classifier", "prior", "decision", "target")} == {
        key: facts[key] for key in ("classifier", "prior", "decision", "target")
    }
    assert found["next"] == [f"imgcl score {tmp_path / 'scorer'} GRAPH --out scores.csv"]
    assert "rare kind: 100 labels" in " ".join(called("info", tmp_path / "scorer").stdout.split())


def test_suggest(called, finished_run, labels, tmp_path):
    options = ("--strategy", "random", "--budget", 3, "--out", tmp_path / "more.csv", "--json")
    facts = told(called("suggest", finished_run, *options))
    assert sorted(facts) == sorted(KEYS["suggest"])
    assert len(facts["suggested"]) == 3
    assert facts["progress"] is None
    facts = told(called("suggest", finished_run, "--labels", labels, *options))
    assert sorted(facts["progress"]) == sorted(KEYS["progress"])
    assert facts["progress"]["classes"] == [{"name": "usual", "labels": 300}, {"name": "rare kind", "labels": 100}]
    assert 0 <= facts["progress"]["macro_recall"]["mean"] <= 1


@pytest.mark.parametrize("kind", [*KEYS])
def test_every_key_is_documented(kind):
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(?:info )?(\w+)` \| (.*) \|$", page, re.MULTILINE)
    row = {name.lower(): text for name, text in rows}["suggest" if kind == "progress" else kind]
    assert [key for key in KEYS[kind] if f"`{key}`" not in row and key != "classes"] == []
