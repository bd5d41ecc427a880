"""``imgcl tune`` in a process of its own."""

import subprocess
import sys

import pytest

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
