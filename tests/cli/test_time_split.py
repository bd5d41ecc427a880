"""imgcl evaluate --split time:COLUMN: a table per period, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from imgcl import InputError
from imgcl.cli import app


def run(*arguments):
    done = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder, rng, n = tmp_path_factory.mktemp("time"), np.random.default_rng(0), 180
    y = np.tile([0, 0, 1], 60)
    nodes = pd.DataFrame({"id": range(n), "f0": rng.normal(size=n) + y, "f1": rng.normal(size=n)})
    nodes = nodes.assign(kind=np.where(y == 1, "bad", "good"), joined=pd.date_range("2021-01-01", periods=n))
    nodes.to_csv(folder / "nodes.csv", index=False)
    pd.DataFrame({"src": rng.integers(0, n, 400), "dst": rng.integers(0, n, 400)}).to_csv(
        folder / "edges.csv", index=False
    )
    flags = ("--features", "f*", "--label", "kind", "--node-time", "joined", "--out", folder / "g.store")
    run("import", "--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", *flags)
    run("pretrain", folder / "g.store", "--epochs", "2", "--blocks", "learned", "--out", folder / "run", "--quiet")
    return folder


def test_a_table_per_period(trained):
    done = run("evaluate", trained / "run", "--split", "time:joined:3", "--classifier", "plain", "--json")
    found = json.loads(done.stdout)
    rows = found["periods"]
    assert [(row["first"], row["last"]) for row in rows] == [
        ("2021-03-02", "2021-04-30"),
        ("2021-05-01", "2021-06-29"),
    ]
    assert [(row["train_nodes"], row["test_nodes"]) for row in rows] == [(60, 60), (120, 60)]
    assert all(0 <= row["accuracy"] <= 1 and 0 <= row["auprc"] <= 1 for row in rows)
    assert '"split": "time:joined:3"' in done.stdout


@pytest.mark.slow
def test_the_table_for_people(trained):
    text = run("evaluate", trained / "run", "--split", "time:joined", "--classifier", "plain").stdout
    assert "by period, percent" in text
    assert "2021-02-06 to 2021-03-13" in text
    assert "36 earlier" in text
    assert "import with --as-of and pre-train on that to hide later edges too" in " ".join(text.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--split", "time:left"),
            r"keeps no times 'left' of its nodes \(it has 'joined'\): import it with `node_time`",
        ),
        (("--split", "random"), r"`split` is 'random': write time:COLUMN, or time:COLUMN:5 for five periods"),
        (
            ("--split", "time:joined", "--imbalance", "exp:10"),
            "--split and --imbalance or --protocol both say which nodes",
        ),
    ],
)
def test_what_is_refused(trained, options, message):
    with pytest.raises(InputError, match=message):
        run("evaluate", trained / "run", *options)
