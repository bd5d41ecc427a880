"""The table of ``scripts/harden.py``: one row per suite, rows of other suites stay, losses make it fail."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from harden import suites
from harden.suites import Outcome, Suite

SCRIPT = Path(__file__).parents[2] / "scripts" / "harden.py"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script with two suites of our own and a page of our own."""
    spec = importlib.util.spec_from_file_location("harden_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    mine = [Suite("crash", "kept", 9, 3, keep), Suite("load", "lossy", 8, 2, lose)]
    monkeypatch.setattr(module, "all_suites", lambda: mine)
    monkeypatch.setattr(module, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    module.PAGE.write_text(f"before\n{module.BEGIN}\n{module.END}\nafter\n", encoding="utf-8")
    return module


def keep(n):
    return Outcome(n, n)


def lose(n):
    outcome = Outcome()
    outcome.count("the disk ate it")
    for _ in range(n - 1):
        outcome.count(None)
    return outcome


def call(script, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["harden.py", *arguments])
    with pytest.raises(SystemExit) as end:
        script.main()
    return end.value.code


def test_a_loss_is_bold_noted_and_fails(script, monkeypatch, capsys):
    assert call(script, monkeypatch, "--part") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("| crash: kept | 3 | 3 | 0 |")
    assert lines[3].startswith("| load: lossy | 2 | 1 | **1** |")
    assert lines[4:] == ["load: lossy: the disk ate it"]


def test_rows_of_other_suites_stay_in_the_page(script, monkeypatch):
    assert call(script, monkeypatch, "crash", "--write") == 0
    assert call(script, monkeypatch, "--only", "lossy", "--write", "--tries", "5") == 1
    text = script.PAGE.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert [line.split(" | ")[:2] for line in text.splitlines() if line.startswith(("| c", "| l"))] == [
        ["| crash: kept", "9"],
        ["| load: lossy", "5"],
    ]


def test_an_unknown_group_is_refused(script, monkeypatch, capsys):
    assert call(script, monkeypatch, "cash") == 2
    assert "there is no group cash" in capsys.readouterr().err
    with pytest.raises(ValueError, match="choose one of crash, fuzz"):
        suites.suite("cash", "x", full=1, part=1)
