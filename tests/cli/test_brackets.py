"""Square brackets in paths and names are shown as they are, and commands to go on with can be pasted."""

import io
import shlex

import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from imgcl._core.progress import Told
from imgcl.cli import app
from imgcl.cli.console import facts_table
from imgcl.cli.progress import Bar

OPTIONS = ("--epochs", 3, "--set", "dim=4", "--balance", "imgcl")


def run(*arguments):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome


def following(text):
    """The words of the first command after ``next:``."""
    line = next(line for line in text.splitlines() if line.startswith("next: "))
    return shlex.split(line.removeprefix("next: "))


@pytest.fixture
def imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n = 60
    pd.DataFrame({"id": range(n), "f1": range(n), "f2": 1.0, "kind": [i % 3 for i in range(n)]}).to_csv(
        "nodes.csv", index=False
    )
    pd.DataFrame({"src": range(n), "dst": [(i + 1) % n for i in range(n)]}).to_csv("edges.csv", index=False)
    tables = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--features", "f*", "--label", "kind")
    return run("import", *tables, "--name", "a[/b]", "--out", "br [x].store")


def test_import_and_info(imported):
    assert imported.stdout == "br [x].store\n"
    assert following(imported.stderr) == ["imgcl", "pretrain", "br [x].store", "--out", "runs/br [x]"]
    assert "a[/b]" in run("info", "br [x].store").stdout


@pytest.mark.parametrize("folder", ["runs/br [x]", "runs/a[/b]", "runs/:star:"])
def test_pretrain_and_what_follows(imported, folder):
    done = run("pretrain", "br [x].store", *OPTIONS, "--out", folder)
    assert done.stdout == f"{folder}\n"
    assert f"in {folder}" in done.stderr
    assert following(done.stderr)[:3] == ["imgcl", "evaluate", folder]
    assert "z[/b].npy" in run("embed", folder, "--out", "z[/b].npy").stderr
    assert "t[/b].svg" in run("trace", folder, "--plot", "t[/b].svg").stderr
    pd.DataFrame({"node": range(30), "label": [f"[/{i % 3}]" for i in range(30)]}).to_csv("labels.csv", index=False)
    predicted = run("predict", folder, "--labels", "labels.csv", "--out", "p[/b].csv")
    assert "p[/b].csv" in predicted.stderr
    assert "[/0]: " in predicted.stdout


def test_facts_and_progress_show_brackets():
    console = Console(file=io.StringIO(), width=200)
    console.print(facts_table("a[/b]", {"list": ["[x]", 1], "text": "[bold]", "number": 1234}))
    bar = Bar("gbt on c[/d]")
    bar(Told(0.5, "map of e[/f]"))
    console.print(bar.progress)
    shown = console.file.getvalue()
    for text in ("a[/b]", "[x] 1", "[bold]", "1,234", "c[/d]", "e[/f]"):
        assert text in shown


def test_presets_say_which_table_their_setting_is_from():
    said = run("presets", "gbt").stdout
    assert "[fast]" in "".join(said.replace("\u2502", "").split())
