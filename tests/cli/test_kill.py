"""``kill -9`` during pre-training, for real: the resumed run gives the same bits as an undisturbed one."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

ARGUMENTS = ("pretrain", "digits", "--epochs", "60", "--set", "dim=16", "--set", "checkpoint_every=4", "--quiet")


def start(out, *more):
    return subprocess.Popen([sys.executable, "-m", "imgcl", *ARGUMENTS, "--out", str(out), *more])


@pytest.mark.parametrize("checkpoints", [1, 4])
def test_killed_and_resumed_equals_undisturbed(tmp_path, checkpoints):
    assert start(tmp_path / "whole").wait(timeout=300) == 0
    cut = tmp_path / "cut"
    process = start(cut)
    file, seen, last = cut / "checkpoint.safetensors", 0, None
    deadline = time.monotonic() + 240
    while seen < checkpoints and time.monotonic() < deadline and process.poll() is None:
        if file.exists() and (now := file.stat().st_mtime_ns) != last:
            last, seen = now, seen + 1
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run ended before it could be killed"
    assert not (cut / "embedding.npy").exists()
    assert start(cut, "--resume").wait(timeout=300) == 0
    assert np.array_equal(np.load(tmp_path / "whole" / "embedding.npy"), np.load(cut / "embedding.npy"))
    assert (tmp_path / "whole" / "history.json").read_text() == (cut / "history.json").read_text()
