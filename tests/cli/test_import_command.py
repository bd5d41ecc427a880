"""``imgcl import``, and the commands that follow it."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from imgcl.cli import app
from imgcl.errors import InputError


@pytest.fixture
def tables(tmp_path):
    n = 60
    nodes = pd.DataFrame(
        {"user": [f"u{i}" for i in range(n)], "f1": range(n), "f2": 1.0, "kind": [i % 3 for i in range(n)]}
    )
    edges = pd.DataFrame({"a": [f"u{i}" for i in range(n)], "b": [f"u{(i + 1) % n}" for i in range(n)]})
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def arguments(folder, *more):
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--id-column", "user")
    return ("import", *files, "--src", "a", "--dst", "b", "--out", folder / "ring.store", *more)


def test_import_and_what_follows(tables):
    done = run(*arguments(tables, "--features", "f*", "--label", "kind"))
    assert done.exit_code == 0
    assert done.stdout.strip() == str(tables / "ring.store")
    assert "60 one-directional edges mirrored" in done.stderr
    assert '"nodes": 60' in run("info", tables / "ring.store", "--json").stdout
    trained = run(
        "pretrain", tables / "ring.store", "--out", tables / "run", "--epochs", 3, "--set", "dim=4", "--quiet"
    )
    assert trained.exit_code == 0
    assert (tables / "run" / "embedding.npy").exists()


def test_what_is_missing_or_contradicts(tables):
    with pytest.raises(InputError, match="--features is missing"):
        run(*arguments(tables))
    with pytest.raises(InputError, match="--ogb and --edges contradict each other"):
        run(*arguments(tables, "--ogb", tables))
    with pytest.raises(InputError, match="setting on_dangling = 'maybe'"):
        run(*arguments(tables, "--features", "f1", "--on-dangling", "maybe"))
