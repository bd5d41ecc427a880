"""A worker is killed during training, for real: after a restart the run ends with the result it would have had."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

pytestmark = pytest.mark.distributed
PRETRAIN = ("pretrain", "digits", "--epochs", "60", "--set", "dim=8", "--set", "checkpoint_every=5", "--quiet")
BATCHES = ("--batch-size", "64", "--fanout", "4")


def torchrun(out: Path, *more: str) -> subprocess.Popen[bytes]:
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--max-restarts", "2", "--standalone")
    return start([sys.executable, *launcher, "-m", "imgcl", *PRETRAIN, *BATCHES, "--out", str(out), *more])


def ray(out: Path, *more: str) -> subprocess.Popen[bytes]:
    engine = ("--engine", "ray", "--workers", "2")
    return start([sys.executable, "-m", "imgcl", *PRETRAIN, *BATCHES, *engine, "--out", str(out), *more])


STARTED: list[subprocess.Popen[bytes]] = []


def start(command: list[str]) -> subprocess.Popen[bytes]:
    STARTED.append(subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE))
    return STARTED[-1]


@pytest.fixture(autouse=True)
def nothing_is_left_running() -> Iterator[None]:
    """After a test that failed, its processes and all that they started end too."""
    yield
    while STARTED:
        with STARTED.pop() as process:  # closes the pipe of one that ended, too
            if process.poll() is None:
                family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
                for member in family:
                    with suppress(psutil.NoSuchProcess):
                        member.kill()


def finish(process: subprocess.Popen[bytes]) -> str:
    """What the process printed; it must end well."""
    printed, _ = process.communicate(timeout=900)
    assert process.returncode == 0
    return printed.decode()


def wait_for_checkpoint(process: subprocess.Popen[bytes], run: Path) -> None:
    deadline = time.monotonic() + 600
    while not (run / "checkpoint.safetensors").exists():
        assert process.poll() is None, "the run ended before its first checkpoint"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def workers_of(process: subprocess.Popen[bytes], what: str) -> list[psutil.Process]:
    """The processes below this one that train."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        try:
            if what in " ".join(child.cmdline()):
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def losses(run: Path) -> list[float]:
    return json.loads((run / "history.json").read_text())["loss"]


def test_torchrun_starts_again_after_a_worker_was_killed(tmp_path: Path) -> None:
    finish(torchrun(tmp_path / "whole"))
    cut = tmp_path / "cut"
    process = torchrun(cut)
    wait_for_checkpoint(process, cut)
    victims = workers_of(process, "imgcl pretrain")
    assert len(victims) == 2
    victims[1].send_signal(signal.SIGKILL)
    assert not (cut / "embedding.npy").exists()
    finish(process)
    assert len(losses(cut)) == 60
    assert losses(cut) == losses(tmp_path / "whole")
    assert np.array_equal(np.load(cut / "embedding.npy"), np.load(tmp_path / "whole" / "embedding.npy"))


def test_only_rank_0_prints(tmp_path: Path) -> None:
    assert finish(torchrun(tmp_path / "run")).split() == [str(tmp_path / "run")]


def test_ray_starts_again_after_a_worker_was_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    run = tmp_path / "run"
    process = ray(run)
    wait_for_checkpoint(process, run)
    victims = workers_of(process, "RayTrainWorker")
    assert victims, "no Ray workers were found"
    victims[0].send_signal(signal.SIGKILL)
    finish(process)
    assert len(losses(run)) == 60
    assert np.isfinite(np.load(run / "embedding.npy")).all()
