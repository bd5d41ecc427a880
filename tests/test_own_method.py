"""examples/own_method, from outside: installed as a package of its own, used through the command line alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

PROJECT = Path(__file__).parents[1] / "examples" / "own_method"
PRETRAIN = (
    *("pretrain", "digits", "--method", "align-uniform", "--encoder", "wide", "--epochs", "40", "--quiet"),
    *("--set", "dim=16", "--set", "uniformity=0.5", "--set", "checkpoint_every=2"),
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that finds the installed example."""
    root = tmp_path_factory.mktemp("own_method")
    shutil.copytree(PROJECT, root / "project", ignore=shutil.ignore_patterns("__pycache__"))
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(root / "site"))
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(root / "project")], check=True)
    path = os.pathsep.join(filter(None, [str(root / "site"), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def imgcl(environment: dict[str, str], folder: Path, *arguments: str) -> str:
    """What a command says; it must succeed."""
    command = [sys.executable, "-m", "imgcl", *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def kill_after_a_checkpoint(environment: dict[str, str], folder: Path, run: str) -> None:
    command = [sys.executable, "-m", "imgcl", *PRETRAIN, "--out", run]
    process = subprocess.Popen(command, env=environment, cwd=folder, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (folder / run / "checkpoint.safetensors").exists():
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run ended before it could be killed"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_it_trains_resumes_embeds_evaluates_and_reports(environment: dict[str, str], tmp_path: Path) -> None:
    imgcl(environment, tmp_path, *PRETRAIN, "--out", "whole")
    kill_after_a_checkpoint(environment, tmp_path, "cut")
    assert not (tmp_path / "cut" / "embedding.npy").exists()
    imgcl(environment, tmp_path, *PRETRAIN, "--out", "cut", "--resume")
    whole = np.load(tmp_path / "whole" / "embedding.npy")
    assert np.array_equal(whole, np.load(tmp_path / "cut" / "embedding.npy"))
    config = json.loads((tmp_path / "cut" / "config.json").read_text())["config"]
    assert (config["method"], config["method_settings"]["encoder"]) == ("align-uniform", "wide")

    imgcl(environment, tmp_path, "embed", "cut", "--graph", "digits", "--out", "again.npy")
    np.testing.assert_allclose(np.load(tmp_path / "again.npy"), whole, rtol=1e-4, atol=1e-5)
    assert "accuracy" in imgcl(environment, tmp_path, "evaluate", "cut", "--imbalance", "exp:10", "--splits", "2")
    imgcl(environment, tmp_path, "report", "cut", "--out", "own.html")
    assert "align-uniform" in (tmp_path / "own.html").read_text(encoding="utf-8")


def test_its_names_are_known_only_where_it_is_installed(environment: dict[str, str], tmp_path: Path) -> None:
    program = "from imgcl.methods import resolve_method; print(resolve_method('align-uniform').__name__)"
    for known, where in ((True, environment), (False, dict(os.environ))):
        done = subprocess.run([sys.executable, "-c", program], env=where, capture_output=True, text=True)
        assert ("AlignUniform" in done.stdout) is known, done.stderr
        assert ("unknown method 'align-uniform'" in done.stderr) is not known
