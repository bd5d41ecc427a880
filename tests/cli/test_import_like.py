"""From a first import to scores of a grown table, through the command line."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from imgcl.cli import app, main
from imgcl.data.store import open_store


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"
    return done


def accounts(folder, name, n, countries, seed):
    """Two tables of accounts on a ring; bad ones are old and often from X."""
    rng = np.random.default_rng(seed)
    bad = rng.random(n) < 0.3
    country = np.where(bad, "X", rng.choice(countries, n))
    nodes = pd.DataFrame({"account": [f"u{i}" for i in range(n)], "f_age": bad * 40 + rng.normal(30, 5, n)})
    nodes = nodes.assign(f_country=country, f_score=rng.normal(size=n), status=np.where(bad, "bad", "ok"))
    nodes.to_csv(folder / f"{name}.csv", index=False)
    edges = pd.DataFrame({"src": nodes["account"], "dst": np.roll(nodes["account"], 1)})
    edges.to_csv(folder / f"{name}-links.csv", index=False)
    return nodes


def tables(folder, name):
    return ("--nodes", folder / f"{name}.csv", "--edges", folder / f"{name}-links.csv")


def test_a_scorer_takes_a_grown_table(tmp_path):
    accounts(tmp_path, "first", 80, ["Y", "Z"], 0)
    columns = ("--id-column", "account", "--features", "f_*", "--label", "status", "--standardise")
    run("import", *tables(tmp_path, "first"), *columns, "--out", tmp_path / "first.store")
    trained = tmp_path / "run"
    run("pretrain", tmp_path / "first.store", "--out", trained, "--epochs", 3, "--set", "dim=4", "--quiet")
    run("predict", trained, "--out", tmp_path / "known.csv", "--save", tmp_path / "scorer")

    nodes = accounts(tmp_path, "grown", 120, ["Y", "Z", "new"], 1)
    like = ("--like", tmp_path / "first.store", "--out", tmp_path / "grown.store")
    done = run("import", *tables(tmp_path, "grown"), *like)
    unseen = int((nodes["f_country"] == "new").sum())
    assert unseen > 0
    assert (
        f"column 'f_country': {unseen} nodes have a value that the earlier import did not have (1 diff" in done.stderr
    )
    assert f"next: imgcl score SCORER {tmp_path / 'grown.store'}" in done.stderr
    first, grown = (open_store(tmp_path / f"{name}.store") for name in ("first", "grown"))
    assert (
        grown.feature_names == first.feature_names == ("f_age", "f_country=X", "f_country=Y", "f_country=Z", "f_score")
    )

    run("score", tmp_path / "scorer", tmp_path / "grown.store", "--out", tmp_path / "scores.csv")
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert scores["node"].tolist() == nodes["account"].tolist()
    bad = (nodes["status"] == "bad").to_numpy()
    assert scores["p_bad"][bad].mean() > scores["p_bad"][~bad].mean() + 0.3


def test_what_is_said(tmp_path):
    nodes = accounts(tmp_path, "first", 20, ["Y"], 0)
    columns = ("--id-column", "account", "--features", "f_age", "--label", "status")
    run("import", *tables(tmp_path, "first"), *columns, "--out", tmp_path / "first.store")
    like = (*tables(tmp_path, "first"), "--like", tmp_path / "first.store", "--quiet")
    nodes.assign(status="gone").to_csv(tmp_path / "first.csv", index=False)
    done = run("import", *like, "--out", tmp_path / "second.store")
    assert "new classes, which the earlier import did not have: gone" in done.stderr
    nodes.drop(columns="status").to_csv(tmp_path / "first.csv", index=False)
    done = run("import", *like, "--out", tmp_path / "third.store")
    assert "the nodes have no column 'status': the store has no labels" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dst", "to"], "--dst is 'to', but first.store was imported with 'dst' (--like): leave one of the two out"),
        (["--dtype", "float16"], "--dtype is 'float16', but first.store was imported with 'float32'"),
        (["--ogb", "."], "--ogb and --edges contradict each other"),
    ],
)
def test_options_that_contradict_the_recipe(tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    accounts(tmp_path, "first", 20, ["Y"], 0)
    run("import", *tables(tmp_path, "first"), "--id-column", "account", "--features", "f_age", "--out", "first.store")
    words = ["import", *tables(tmp_path, "first"), "--like", "first.store", "--out", "second.store", *options]
    monkeypatch.setattr("sys.argv", ["imgcl", *map(str, words)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_store_of_other_rules_is_scored_with_a_warning(tmp_path):
    """Features of the same names, but each standardised by the means of its own table."""
    rules = ("--id-column", "account", "--features", "f_age,f_score", "--label", "status", "--standardise")
    for seed, name in enumerate(("first", "second")):
        accounts(tmp_path, name, 60, ["Y", "Z"], seed)
        run("import", *tables(tmp_path, name), *rules, "--out", tmp_path / f"{name}.store")
    run("import", *tables(tmp_path, "second"), "--like", tmp_path / "first.store", "--out", tmp_path / "like.store")
    run("pretrain", tmp_path / "first.store", "--out", tmp_path / "run", "--epochs", 1, "--set", "dim=4", "--quiet")
    made = ("--classifier", "plain", "--save", tmp_path / "scorer")
    run("predict", tmp_path / "run", "--out", tmp_path / "known.csv", *made)
    for name, warned in (("first", False), ("like", False), ("second", True)):
        store, said = tmp_path / f"{name}.store", "was imported by other rules than the training graph"
        done = run("score", tmp_path / "scorer", store, "--out", tmp_path / "scores.csv")
        assert (said in " ".join(done.stderr.split())) is warned
        done = run("embed", tmp_path / "run", "--graph", store, "--out", tmp_path / "z.npy")
        assert (said in " ".join(done.stderr.split())) is warned
