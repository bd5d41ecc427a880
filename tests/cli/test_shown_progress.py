"""Progress, -v and -q: on standard error, and nowhere else."""

import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from imgcl._core.progress import Told, stage
from imgcl.cli import console, progress
from imgcl.cli.console import verbosity
from imgcl.cli.progress import shown_progress


@pytest.fixture
def screen(monkeypatch):
    """A terminal on which everything that is shown can be read afterwards."""
    written = Console(file=io.StringIO(), force_terminal=True, width=100)
    for module in (console, progress):
        monkeypatch.setattr(module, "err", written)
    return written


def test_a_bar_has_share_time_left_and_what_is_done(screen):
    bar = progress.Bar("work [1]")
    bar(Told(0.0, ""))
    screen.print(bar.progress)
    bar(Told(0.42, "map: step 3/9", left=75.4))
    screen.print(bar.progress)
    bar(Told(0.5, "epoch 50/100", left=20.4, at_most=True))
    screen.print(bar.progress)
    first, second, third = (Text.from_ansi(line).plain.rstrip() for line in screen.file.getvalue().splitlines())
    assert re.fullmatch(r"work \[1\] ━+ +0 % -:-- left", first)
    assert re.fullmatch(r"work \[1\] ━+.━+ +42 % 1:15 left map: step 3/9", second)
    assert third.endswith("50 % at most 0:20 left epoch 50/100")


def test_a_line_every_ten_percent_without_a_terminal(monkeypatch):
    written = Console(file=io.StringIO(), width=100)
    for module in (console, progress):
        monkeypatch.setattr(module, "err", written)
    with shown_progress("work"), stage("part", units=200, unit="step") as part:
        for _ in range(200):
            part()
    lines = written.file.getvalue().splitlines()
    assert len(lines) == 10
    assert re.fullmatch(r"work: 30 %, 0:00 left, part: step 60/200", lines[2])


def test_quiet_shows_nothing(screen):
    token = verbosity.set(-1)
    try:
        with shown_progress("work"), stage("part"):
            console.say("a remark")
            console.warn("a warning")
    finally:
        verbosity.reset(token)
    assert screen.file.getvalue() == "a warning\n"


def test_pretraining_says_its_epochs_and_the_loss(called, tmp_path):
    done = called("pretrain", "digits", "--epochs", 20, "--set", "dim=16", "--out", tmp_path / "run")
    assert done.stdout.split() == [str(tmp_path / "run")]
    lines = [line for line in done.stderr.splitlines() if line.startswith("pre-training: ")]
    assert len(lines) == 10
    assert re.fullmatch(r"pre-training: 15 %, \d+:\d\d left, gbt on digits: epoch 3/20, loss .*", lines[0])
    assert re.fullmatch(r"pre-training: 100 % in \d+:\d\d", lines[-1])


def test_more_epochs_are_announced(called, tmp_path):
    options = ("pretrain", "digits", "--set", "dim=4", "--no-own-features", "--out", tmp_path / "run")
    called(*options, "--epochs", 3)
    said = called(*options, "--epochs", 5, "--resume").stderr
    assert "going on after epoch 3 as a run of 5 epochs would" in said
    assert re.search(r"^pre-training: \d+ %, \d+:\d\d left, gbt on digits: epoch 4/5", said, re.MULTILINE)
    assert "going on" not in called(*options, "--epochs", 5, "--resume").stderr
    said = called(*options, "--epochs", 4, "--resume", code=2).stderr
    assert "was started with 5 epochs: a run can get more of them (--epochs), not 4" in said


def test_results_are_the_same_whatever_is_said(called):
    options = ("baseline", "features", "digits", "--splits", 2, "--classifier", "plain")
    normal, quiet, first = called(*options), called(*options, "-q"), called("-v", *options)
    assert normal.stdout == quiet.stdout == first.stdout
    assert quiet.stderr == ""
    assert "baseline features: 100 % in" in normal.stderr
    assert re.search(r"^baseline features: plain: \d+\.\d s$", first.stderr, re.MULTILINE)
    assert not re.search(r"^baseline features: plain: \d+\.\d s$", normal.stderr, re.MULTILINE)


@pytest.mark.slow
def test_evaluate_says_its_stages(called, finished_run):
    said = called("evaluate", finished_run, "--splits", 2, "--classifier", "plain").stderr
    assert "evaluation: 100 % in" in said
    assert "to beat, without training: own features" in said


@pytest.mark.slow
def test_a_report_says_its_stages(called, finished_run, tmp_path):
    options = ("--splits", 1, "--classifier", "plain", "--map", "pca", "--out", tmp_path / "report.html")
    said = called("report", finished_run, *options).stderr
    stages = ("map of GBT", "evaluation of GBT", "evaluation of own and propagated features", "ranking of the nodes")
    assert sum(name in said for name in stages) >= 2
    assert re.search(r"^report: \d+ %, \d+:\d\d left", said, re.MULTILINE)


def test_import_is_quiet_when_asked(called, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("src,dst\n" + "\n".join(f"{i},{i + 1}" for i in range(30)))
    (tmp_path / "nodes.csv").write_text("id,f\n" + "\n".join(f"{i},{i % 3}" for i in range(31)))
    tables = ("import", "--edges", "edges.csv", "--nodes", "nodes.csv", "--features", "f")
    assert called(*tables, "--out", "g.store", "--quiet") == ("g.store\n", "")
    said = called(*tables, "--out", "h.store").stderr
    assert "import: 100 % in" in said
    assert "next: imgcl pretrain h.store" in said


def test_verbose_and_quiet_contradict_each_other(called):
    said = "error: --verbose and --quiet contradict each other: give one of them\n"
    for options in (("-q", "datasets", "-v"), ("-v", "-q", "datasets"), ("datasets", "-v", "-q")):
        assert called(*options, code=2).stderr == said
