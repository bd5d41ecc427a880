"""The local engine with real worker processes."""

import importlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from imgcl.studies import Results, Store, run_study
from imgcl.studies.engines.base import Settings
from imgcl.studies.engines.local import Hand
from imgcl.studies.engines.worker import Once
from imgcl.studies.grid import expand


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_nothing_but_time(tiny_spec, digits, tmp_path):
    points = expand(tiny_spec.model_copy(update={"seeds": 1, "settings": {"epochs": 30, "dim": 8}}), digits)
    killed = []

    def kill_one():
        """The first worker that has written a run's config is in the middle of its cell."""
        deadline = time.monotonic() + 300
        while not list(tmp_path.glob("cells/*/config.json")) and time.monotonic() < deadline:
            time.sleep(0.01)
        for child in psutil.Process().children():
            if "spawn_main" in " ".join(child.cmdline()):
                os.kill(child.pid, signal.SIGKILL)
                killed.append(child.pid)
                return

    watcher = threading.Thread(target=kill_one)
    watcher.start()
    progress = run_study("tiny", points, Store(tmp_path), command="test", settings=Settings(workers=1, threads=1))
    watcher.join()
    assert killed
    assert (progress.finished, progress.failed, progress.computed) == (4, 0, 4)
    assert Results("tiny", Store(tmp_path).journal("tiny")).counts() == {"done": 4, "failed": 0, "open": 0}


@pytest.mark.parametrize(
    ("settings", "cores", "sizes"),
    [
        (Settings(), 2, (2, 1)),
        (Settings(workers=1), 2, (1, 2)),
        (Settings(threads=2), 2, (1, 2)),
        (Settings(workers=3), 8, (3, 2)),
        (Settings(threads=16), 8, (1, 16)),
    ],
)
def test_threads_fill_the_cores_and_no_more(settings, cores, sizes):
    assert settings.sizes(cores) == sizes


def test_a_worker_says_the_same_thing_once(caplog):
    logger = logging.getLogger("imgcl.imbalance")
    once = Once()
    logger.addFilter(once)
    try:
        for law in ("exp:100", "exp:100", "exp:10"):
            logger.warning("imbalance %s: class 8 got 3 of 5", law)
    finally:
        logger.removeFilter(once)
    assert [record.getMessage()[:17] for record in caplog.records] == ["imbalance exp:100", "imbalance exp:10:"]


SLOW_CELL = """
import time

from imgcl._core.files import atomic_path
from imgcl.studies.cells import Cell


class SlowCell(Cell):
    kind = "slow"

    def identity(self):
        return {}

    @property
    def loads(self):
        return None

    def compute(self, context):
        context.directory.mkdir(parents=True, exist_ok=True)
        with atomic_path(context.directory / "half.txt") as temporary:
            temporary.write_text("half")
            time.sleep(60)
"""


def test_a_worker_that_is_asked_to_end_leaves_nothing_half_written(tmp_path, monkeypatch):
    (tmp_path / "slow_cell.py").write_text(SLOW_CELL)
    monkeypatch.syspath_prepend(tmp_path)
    cell = importlib.import_module("slow_cell").SlowCell()
    store = Store(tmp_path / "studies")
    hand = Hand(store, Settings(workers=1, threads=1), 1)
    hand.give(cell)
    deadline = time.monotonic() + 100
    while not list(store.directory(cell).glob(".half*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    hand.ask_to_end()
    hand.end()
    assert hand.process.exitcode == 128 + signal.SIGTERM
    assert not list(store.directory(cell).glob("*half*"))


STOPPED_IN_C = """
import ctypes, os, signal, sys, time
from imgcl.studies.engines.worker import serve

@ctypes.CFUNCTYPE(None)
def callback():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.2)

class Pipe:
    def recv(self):
        callback()
        time.sleep(60)

serve(Pipe(), sys.argv[1], None, 1)
"""


def test_a_worker_that_is_stopped_in_a_callback_of_c_leaves_without_a_word(tmp_path):
    command = [sys.executable, "-c", STOPPED_IN_C, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")
