"""The real command line, in a process of its own."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from imgcl.evaluation import EvaluationResult
from imgcl.training import Run


def imgcl(*arguments, cwd=None, code=0):
    command = [sys.executable, "-m", "imgcl", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


LAW, TEST, QUICK = ("--imbalance", "exp:10"), ("--test", "natural"), ("--classifier", "plain")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "run"
    imgcl("pretrain", "digits", "--epochs", 20, "--set", "dim=16", "--out", path)
    return path


def test_evaluate_json_is_one_object_with_fractions(run):
    done = imgcl("evaluate", run, "--imbalance", "exp:100", "--classifier", "plain,pbs", "--splits", 3, "--json")
    result = json.loads(done.stdout)
    for classifier in ("plain", "pbs"):
        for metric in ("accuracy", "head", "middle", "tail", "macro_f1"):
            entry = result[classifier][metric]
            assert 0 <= entry["ci95"][0] <= entry["mean"] <= entry["ci95"][1] <= 1
            assert entry["sd"] >= 0
    assert result["plain"]["accuracy"]["mean"] > 0.6


@pytest.mark.slow
def test_labels_and_test_nodes_are_natural_unless_a_law_is_given(run):
    shown = {
        law: imgcl("evaluate", run, "--splits", 1, *QUICK, *law).stdout.split("\n")[0]
        for law in ((), LAW, (*LAW, *TEST))
    }
    assert "imbalance natural, probe batched, test natural" in shown[()]
    assert "imbalance exp:10, probe batched, blocks" in shown[LAW]
    assert "imbalance exp:10, probe batched, test natural" in shown[(*LAW, *TEST)]
    assert "test natural" in imgcl("baseline", "features", "digits", "--splits", 1, "--classifier", "plain").stdout
    assert "test is 'even': choose from balanced, natural" in imgcl("evaluate", run, "--test", "even", code=2).stderr


@pytest.mark.slow
def test_evaluate_prints_a_table_and_is_the_same_twice(run):
    first, second = (imgcl("evaluate", run, "--splits", 2).stdout for _ in range(2))
    assert first == second
    assert "plain" in first
    assert "tail" in first


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npy", "npz", "parquet", "csv"])
def test_embed_writes_every_format(run, tmp_path, ending):
    file = tmp_path / f"z.{ending}"
    imgcl("embed", run, "--out", file)
    stored = np.load(run / "embedding.npy")
    blocks = Run(run).blocks
    if ending == "npy":
        np.testing.assert_allclose(np.load(file), stored, rtol=1e-5)
        return
    if ending == "npz":
        written = dict(np.load(file))
    else:
        import duckdb

        frame = duckdb.read_parquet(str(file)).df() if ending == "parquet" else pd.read_csv(file)
        written = {name: frame.filter(regex=f"^{name}_").to_numpy() for name in blocks}
    assert list(blocks) == ["learned", "own", "neighbours"]
    for name, rows in blocks.items():
        np.testing.assert_allclose(written[name], rows, rtol=1e-5)


@pytest.mark.slow
def test_evaluate_shows_what_is_to_beat(run):
    printed = imgcl("evaluate", run, "--splits", 2, "--classifier", "plain").stdout
    assert re.search(r"^own features, plain +\d", printed, re.MULTILINE)
    assert re.search(r"^propagated features, plain +\d", printed, re.MULTILINE)
    options = ("--splits", 2, "--classifier", "plain", "--test", "balanced", "--json", "--no-own-features")
    result = json.loads(imgcl("evaluate", run, *options).stdout)
    rows = result["references"]["rows"]
    assert list(rows) == ["own features", "propagated features"]
    best = max(row["plain"]["accuracy"]["mean"] for row in rows.values())
    if result["plain"]["accuracy"]["mean"] <= best:
        assert "does not clearly beat" in result["references"]["verdict"]
    assert EvaluationResult.from_dict(result).classifiers == ("plain",)


@pytest.mark.slow
def test_the_learned_block_alone(run, tmp_path):
    imgcl("embed", run, "--no-own-features", "--out", tmp_path / "z.npz")
    assert list(np.load(tmp_path / "z.npz")) == ["learned"]
    printed = imgcl("evaluate", run, "--splits", 2, "--no-own-features").stdout
    assert "blocks learned;" in printed
    assert printed != imgcl("evaluate", run, "--splits", 2).stdout
    alone = tmp_path / "alone"
    imgcl("pretrain", "digits", "--epochs", 20, "--set", "dim=16", "--no-own-features", "--out", alone)
    assert not (alone / "own.npy").exists()
    assert (alone / "embedding.npy").read_bytes() == (run / "embedding.npy").read_bytes()
    assert imgcl("evaluate", alone, "--splits", 2).stdout == printed


def test_blocks_of_pretrain_are_checked(tmp_path):
    done = imgcl("pretrain", "digits", "--blocks", "ovn", "--out", tmp_path / "run", code=2)
    assert "did you mean 'own'" in done.stderr
    done = imgcl("pretrain", "digits", "--blocks", "own", "--out", tmp_path / "run", code=2)
    assert "--blocks is own: 'learned' must be one of them" in done.stderr
    contradiction = ("--blocks", "learned", "--no-own-features")
    assert "contradict" in imgcl("pretrain", "digits", *contradiction, "--out", tmp_path / "run", code=2).stderr


def test_info_datasets_presets_and_version():
    facts = json.loads(imgcl("info", "digits", "--json").stdout)
    assert facts["nodes"] == 1797
    assert facts["classes"] == 10
    alike = facts["linked_nodes"]
    assert alike["linked_cosine"] > alike["random_cosine"] + 0.3
    assert (alike["same_label"] > 0.9, alike["chance"] < 0.2) == (True, True)
    shown = " ".join(imgcl("info", "digits").stdout.split())
    assert "% the same, 10 % by chance" in shown
    assert "linked nodes are much alike" in shown
    assert "amazon-photo" in imgcl("datasets").stdout
    assert "gbt/amazon-photo" in imgcl("presets", "gbt").stdout
    assert "bgrl/amazon-computers/paper" in imgcl("presets", "bgrl").stdout  # not shortened, also in a narrow window
    shown = imgcl("presets", "gbt/amazon-photo/paper").stdout
    assert "official" in shown
    assert "4000" in shown.replace(",", "")
    assert re.search(r"residual\W+False", shown)
    assert imgcl("--version").stdout.startswith("imgcl ")


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "datasets",
        "info",
        "presets",
        "pretrain",
        "embed",
        "evaluate",
        "trace",
        "predict",
        "baseline",
        "report",
        "study",
    ],
)
def test_every_command_explains_itself_with_an_example(command):
    assert f"imgcl {command}" in imgcl(command, "--help").stdout.split("Example", 1)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "amazon-foto"), "amazon-photo"),
        (("info", "nowhere.npz"), "nowhere.npz"),
        (("pretrain", "digits", "--method", "gpt", "--out", "r"), "unknown method 'gpt'"),
        (("pretrain", "digits", "--preset", "slow", "--out", "r"), "unknown preset 'slow'"),
        (("pretrain", "digits", "--set", "lr", "--out", "r"), "write key=value"),
        (("pretrain", "digits", "--set", "lrr=1", "--out", "r"), "did you mean 'lr'"),
        (("pretrain", "digits", "--balance", "centrality=fame", "--out", "r"), "unknown centrality 'fame'"),
        (("pretrain", "digits", "--n-clusters", "0", "--out", "r"), "n_clusters"),
        (("pretrain", "digits", "--no-balance", "--balance", "q=1", "--out", "r"), "contradict"),
        (("pretrain", "digits", "--device", "abacus", "--out", "r"), "device 'abacus' cannot be used"),
        (("pretrain", "digits", "--device", "mps", "--out", "r"), "'mps' cannot be used (it has no double precision"),
        (("pretrain", "digits", "--device", "meta", "--out", "r"), "device 'meta' cannot be used"),
        (("pretrain", "digits", "--set", "dim=1000000000000", "--out", "r"), "GB of memory, there are"),
        (("pretrain", "synthetic:n_nodes=0.5", "--out", "r"), "n_nodes is 0.5: give a whole number"),
        (("info", "synthetic:class_sizes=1000000000000/5"), "at most 2,147,483,647 nodes"),
        (
            ("pretrain", "digits", "--scope", "galaxy", "--out", "r"),
            "scope = 'galaxy': choose from train, graph, inductive",
        ),
        (("pretrain", "digits"), "--out"),
        (("embed", "nowhere", "--out", "z.npy"), "nowhere is not a run directory"),
        (("embed", "nowhere", "--out", "z.doc"), "must end in"),
        (
            ("evaluate", "nowhere"),
            "nowhere is not a run directory: there is no such directory; imgcl pretrain makes one",
        ),
        (("predict", "nowhere", "--out", "p.csv"), "nowhere is not a run directory: there is no such directory"),
        (("predict", __file__, "--out", "p.csv"), "is not a run directory: it is a file"),
        (("presets", "gbt/amazon-photo/slow"), "unknown preset"),
        (("frobnicate",), "No such command"),
    ],
)
def test_a_mistake_is_one_clear_message_and_exit_code_2(tmp_path, arguments, message):
    done = imgcl(*arguments, cwd=tmp_path, code=2)
    assert message in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--imbalance", "exp:0.5"), "exp"),
        (("--imbalance", "zipf:2"), "zipf"),
        (("--classifier", "oracle"), "oracle"),
        (("--probe", "laser"), "laser"),
        (("--splits", "0"), "splits"),
    ],
)
def test_mistakes_in_evaluate(run, option, message):
    assert message in imgcl("evaluate", run, *option, code=2).stderr


def test_a_finished_run_is_not_overwritten_but_resume_leaves_it(run):
    before = (run / "embedding.npy").read_bytes()
    arguments = ("pretrain", "digits", "--epochs", 20, "--set", "dim=16", "--out", run)
    assert "--resume" in imgcl(*arguments, code=2).stderr
    imgcl(*arguments, "--resume")
    assert (run / "embedding.npy").read_bytes() == before


def test_an_output_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = imgcl("pretrain", "digits", "--epochs", 1, "--out", tmp_path / "file" / "run", code=1)
    assert "error" in done.stderr


@pytest.mark.slow
def test_demo_prints_the_two_by_two_and_writes_the_report(tmp_path):
    done = imgcl("demo", "--epochs", 3, "--splits", 2, "--quiet", cwd=tmp_path)
    assert done.stdout.count("GBT + ImGCL") == 2
    assert "pre-training" in done.stdout
    assert re.search(r"20 random labels, \d+ % recall .* `imgcl suggest` chooses, \d+ % recall", done.stdout)
    assert "Try next" in done.stdout
    written = tmp_path / "demo" / "report.html"
    assert written.as_uri() in done.stdout
    assert "Content-Security-Policy" in written.read_text(encoding="utf-8")
