"""``imgcl tune`` in a process of its own."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from imgcl._core.errors import InputError
from imgcl.cli import app
from imgcl.cli.tune import _command
from imgcl.training.tuning import effective_rank

pytest.importorskip("optuna")


def test_it_prints_the_command_to_go_on_with(tmp_path):
    arguments = ["tune", "digits", "--trials", "1", "--epochs", "2", "--no-balance"]
    done = subprocess.run(
        [sys.executable, "-m", "imgcl", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("imgcl pretrain digits --method gbt --set ")
    assert "best of 1 trials: validation accuracy" in done.stderr
    assert (tmp_path / "tune.db").exists()


@pytest.mark.filterwarnings("ignore::Warning:optuna")
def test_the_command_gives_the_best_trial(tmp_path):
    def invoke(*arguments):
        outcome = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
        assert outcome.exit_code == 0
        return outcome

    options = ("--trials", 2, "--epochs", 2, "--preset", "paper", "--seed", 3, "--balance", "centrality=degree")
    shown = invoke("tune", "digits", "--no-labels", "--storage", tmp_path / "new" / "t.db", *options)
    words = shlex.split(shown.stdout)
    assert words[:3] == ["imgcl", "pretrain", "digits"]
    assert words[-2:] == ["--out", "runs/tuned"]
    invoke(*words[1:-1], tmp_path / "run", "--quiet")
    value = re.search(r"best of 2 trials: effective rank ([0-9.]+)", shown.stderr)[1]
    assert f"{effective_rank(np.load(tmp_path / 'run' / 'embedding.npy'), seed=3):.4f}" == value


def test_the_command_has_what_was_given():
    def written(**options):
        return _command("digits", "gbt", {"lr": 0.1 / 3}, **options)

    given, end = f"imgcl pretrain digits --method gbt --set lr={0.1 / 3}", "--out runs/tuned"
    start = f"{given} --preset fast"
    assert written() == f"{start} {end}"
    assert written(balance=None, no_labels=True) == f"{start} --no-balance {end}"
    assert written(no_labels=True) == f"{start} --n-clusters auto {end}"
    assert written(balance="n_clusters=4", no_labels=True) == f"{start} --balance n_clusters=4 {end}"
    assert written(preset="auto") == f"{given} --balance imgcl {end}"
    others = written(preset="paper", epochs=9, seed=2, data_dir=Path("my data"))
    assert others == f"{given} --preset paper --epochs 9 --seed 2 --data-dir 'my data' {end}"


def test_balance_and_no_balance_contradict_each_other():
    with pytest.raises(InputError, match="contradict"):
        CliRunner().invoke(app, ["tune", "digits", "--no-balance", "--balance", "q=1"], catch_exceptions=False)
