"""Fuzzing of every reader: no input may end in anything but a result or a documented error."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from harden.fuzzing.bench import Reader
from harden.fuzzing.child import COUNTS
from harden.fuzzing.readers import READERS
from harden.suites import Outcome, suite

SHARED = Path("/dev/shm")  # files in memory, where the system has them: the disk would take most of the time
MOST_DEATHS = 20  # of the process: more of them are the same thing again


@cache
def child() -> subprocess.Popen[str]:
    """The process that forks for every reader; it is started once, because loading everything takes a while."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "harden.fuzzing.child"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    atexit.register(_stop, process)
    return process


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.communicate()


def fuzz(reader: Reader, inputs: int) -> Outcome:
    """Have a reader read so many inputs; those that failed are kept in a folder that the notes name."""
    if find_spec("atheris") is None:
        return Outcome(notes=["atheris is not installed: pip install imgcl[fuzz] (Linux only)"])
    with tempfile.TemporaryDirectory(dir=SHARED if SHARED.is_dir() else None) as scratch:
        outcome = _fuzz(reader, inputs, Path(scratch))
        if outcome.lost:
            kept = Path(tempfile.mkdtemp(prefix="imgcl-fuzz-"))
            shutil.copytree(scratch, kept, dirs_exist_ok=True)
            outcome.notes.append(f"inputs and log are in {kept}")
    return outcome


def _fuzz(reader: Reader, inputs: int, folder: Path) -> Outcome:
    outcome = Outcome()
    for _ in range(MOST_DEATHS):
        code, tried, lost = _order(reader.name, inputs - outcome.tried, folder)
        outcome.tried += tried
        outcome.passed += tried - lost
        if not tried:
            outcome.count("valid files were not read: see the log")
            break
        if code == 0:
            break
        # A bare alarm is the fuzzer's own clock, outside a reader: one that hangs ends with a message and another code.
        if code != -signal.SIGALRM:
            kept = (folder / "current").rename(folder / f"died-{outcome.tried}")
            outcome.notes.append(f"{kept.name} ended the process (exit code {code})")
        if outcome.tried >= inputs:
            break
    if (folder / "lost.jsonl").exists():
        found = map(json.loads, (folder / "lost.jsonl").read_text(encoding="utf-8").splitlines())
        outcome.notes += ["{input}: {error} at {where} ({message})".format(**each) for each in found]
    return outcome


def _order(name: str, inputs: int, folder: Path) -> tuple[int, int, int]:
    """Exit code, number of inputs tried and number of inputs lost of a fork."""
    (folder / "counts").write_bytes(bytes(COUNTS.size))
    orders, answers = child().stdin, child().stdout
    assert orders is not None
    assert answers is not None
    print(json.dumps([name, inputs, str(folder)]), file=orders, flush=True)
    answer = answers.readline()
    if not answer:
        raise RuntimeError("somebody ended the process that readers are fuzzed in: start again")
    return int(answer), *COUNTS.unpack((folder / "counts").read_bytes())


for each in READERS:
    suite("fuzz", each.name, full=each.full, part=each.part)(partial(fuzz, each))
