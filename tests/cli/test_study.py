"""``imgcl study`` in processes of its own: whole runs, kill -9, failures, budget, rendering."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from imgcl._core.errors import InputError
from imgcl.cli.study import parse_time

STUDY = """
datasets = ["digits"]
classifiers = ["plain", "pbs"]
seeds = 1
splits = 2

[settings]
epochs = {epochs}
dim = 8

[balances]
none = "none"
imgcl = "imgcl"
"""


def command(*arguments):
    return [sys.executable, "-m", "imgcl", "study", *map(str, arguments)]


def study(*arguments, cwd, code=0):
    done = subprocess.run(command(*arguments), cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def cells(folder, name="own"):
    """Lines of finished cells, torn lines left out."""
    path = folder / "studies" / name / "journal.jsonl"
    text = path.read_text() if path.exists() else ""
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    return [line for line in lines if line["type"] == "cell"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "own.toml").write_text(STUDY.format(epochs=2))
    study("run", "own.toml", "--out", "first", cwd=folder)
    return folder


def test_a_study_of_ones_own_writes_tables_and_says_how_they_were_made(finished):
    page = (finished / "first" / "own.md").read_text()
    assert "| digits | GBT | imgcl | exp:100 |" in page
    assert "Who earned the gain" in page
    assert "`imgcl study run own.toml`" in page
    assert "torch " in page
    assert str(finished) not in page
    table = (finished / "first" / "own.csv").read_text().splitlines()
    assert table[0].startswith("dataset,method,balance,imbalance,classifier,metric,cells,mean,sd,low,high")
    assert r"\toprule" in (finished / "first" / "own.tex").read_text()


def test_the_same_command_again_computes_nothing_and_writes_the_same_bytes(finished):
    before = len(cells(finished))
    done = study("run", "own.toml", "--out", "second", cwd=finished)
    assert "0 cells computed" in done.stderr
    assert len(cells(finished)) == before == 4
    for file in (finished / "first").iterdir():
        assert file.read_bytes() == (finished / "second" / file.name).read_bytes()


def test_render_needs_the_journal_only(finished, tmp_path):
    (tmp_path / "studies" / "own").mkdir(parents=True)
    shutil.copy(finished / "studies" / "own" / "journal.jsonl", tmp_path / "studies" / "own")
    done = study("render", "own", "--out", "again", cwd=tmp_path)
    assert "Results" in done.stdout
    for file in (finished / "first").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


@pytest.mark.slow
def test_a_failure_is_told_and_the_rest_is_there(finished):
    text = STUDY.format(epochs=2) + 'impossible = "n_clusters=5000"\n'
    (finished / "odd.toml").write_text(text)
    done = study("run", "odd.toml", cwd=finished, code=1)
    assert "failed pretrain: InputError" in done.stderr
    assert len(cells(finished, "odd")) == 5  # four found, one failure
    shown = study("status", "odd", cwd=finished).stdout
    assert "odd: 4 done, 1 failed, 1 open" in shown
    assert "balance=impossible" in shown
    assert "own: 4 done, 0 failed, 0 open" in study("status", cwd=finished).stdout


@pytest.mark.slow
def test_killed_and_started_again_it_computes_nothing_twice(tmp_path):
    (tmp_path / "own.toml").write_text(STUDY.format(epochs=40).replace("seeds = 1", "seeds = 2"))
    process = subprocess.Popen(command("run", "own.toml", "--workers", 1, "--quiet"), cwd=tmp_path)
    deadline = time.monotonic() + 400
    while len(cells(tmp_path)) < 3 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    workers = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the study ended before it could be killed"
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive, "workers outlived the study"
    journal = tmp_path / "studies" / "own" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"type":"cell","key":"torn')
    before = cells(tmp_path)
    assert 3 <= len(before) < 8
    study("run", "own.toml", "--workers", 1, cwd=tmp_path)
    after = cells(tmp_path)
    assert after[: len(before)] == before
    assert len({line["key"] for line in after}) == len(after) == 8
    assert all(line["status"] == "done" for line in after)


@pytest.mark.slow
def test_the_budget_ends_a_study_that_goes_on_later(tmp_path):
    (tmp_path / "own.toml").write_text(STUDY.format(epochs=100_000))
    start = time.monotonic()
    done = study("run", "own.toml", "--budget", "6s", cwd=tmp_path)
    assert time.monotonic() - start < 120
    assert "Not complete: 4 cells are open" in done.stdout
    assert "0 of 4 done" in done.stderr


def test_times():
    assert parse_time("90s") == 90
    assert parse_time("1.5h") == 5400
    for wrong in ("soon", "m", "-3m", "1x"):
        with pytest.raises(InputError, match="write a time"):
            parse_time(wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no-such-study",), "unknown study 'no-such-study'"),
        (("run",), "run what"),
        (("render",), "render what"),
        (("render", "mine"), "has not been run"),
    ],
)
def test_a_wrong_call_is_one_line(arguments, message, tmp_path):
    assert message in study(*arguments, cwd=tmp_path, code=2).stderr


def test_info_reads_a_study(finished, called, monkeypatch):
    monkeypatch.chdir(finished)
    facts = json.loads(called("info", "studies/own", "--json").stdout)
    assert list(facts) == ["kind", "name", "path", "cells", "command", "commit", "versions", "compute_time", "next"]
    assert (facts["kind"], facts["cells"]["failed"], facts["cells"]["open"]) == ("study", 0, 0)
    assert facts["next"][0] == "imgcl study status own --root studies"
    assert "own" in called("info", "studies/own").stdout
