"""Output where the encoding has no ±: nothing crashes, and tables stay tables."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from imgcl._core.terminal import IN_ASCII, printable
from imgcl.cli import COMMANDS, app
from imgcl.evaluation import compare, evaluate

ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def ascii_output(monkeypatch: pytest.MonkeyPatch) -> io.TextIOWrapper:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


def test_symbols_have_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "1 ± 2 \u00d7 3 … a→b é \udcff"
    assert printable("1 ± 2") == "1 ± 2"
    ascii_output(monkeypatch)
    assert printable(text) == "1 +/- 2 x 3 ... a->b \\xe9 \\udcff"
    monkeypatch.setattr(sys, "stdout", None)
    assert printable("±") == "±"


def test_results_can_be_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.repeat([0, 1, 2], 60)
    Z = np.eye(3)[y] + np.random.default_rng(0).standard_normal((180, 3))
    result = evaluate(Z, y, "exp:5", ("plain", "pbs"), splits=3, class_names=["é", "b", "c"])
    stream = ascii_output(monkeypatch)
    print(result)
    print(compare(result, result))
    stream.flush()
    lines = stream.buffer.getvalue().decode("ascii").splitlines()  # type: ignore[attr-defined]
    assert "mean +/- sd over 3 splits" in lines[0]
    assert len(set(map(len, lines[2:6]))) == 1  # aligned


def test_every_symbol_of_the_command_line_has_a_stand_in() -> None:
    sources = Path(__file__).parents[2] / "src" / "imgcl"
    files = [file for room in ("cli", "evaluate", "train", "studies") for file in (sources / room).rglob("*.py")]
    used = {c for file in files for c in file.read_text(encoding="utf-8") if ord(c) > 127}
    assert used <= set(IN_ASCII)


@pytest.mark.slow
def test_a_table_of_the_command_line() -> None:
    done = run(["baseline", "features", "digits", "--splits", "2"])
    assert done.returncode == 0, done.stderr
    assert "+/-" in done.stdout
    assert done.stdout.isascii()


def test_help_is_ascii() -> None:
    """Its text does not go through our streams: click writes UTF-8 where the encoding is ASCII."""
    for command in COMMANDS:
        name = "import" if command.__name__ == "import_graph" else command.__name__
        assert CliRunner().invoke(app, [name, "--help"]).stdout.isascii(), name


@pytest.mark.slow
def test_errors_with_other_letters_are_one_line(tmp_path: Path) -> None:
    done = run(["evaluate", str(tmp_path / "café")])
    assert done.returncode == 2
    assert "is not a run directory" in done.stderr
    assert done.stderr.isascii()
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_demo_prints_its_tables(tmp_path: Path) -> None:
    done = run(["demo", "--epochs", "2", "--splits", "2", "--out", str(tmp_path / "report.html")])
    assert done.returncode == 0, done.stderr
    assert "+/-" in done.stdout
    assert done.stdout.isascii()
    assert done.stderr.isascii()


def run(command: list[str]) -> Any:
    environment = {**os.environ, **ASCII}
    return subprocess.run(
        [sys.executable, "-m", "imgcl", *command], env=environment, capture_output=True, text=True, check=False
    )
