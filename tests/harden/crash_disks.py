"""Places that cannot be written to: a disk that becomes full, a read-only directory, a missing permission.

The command must say so in one line, leave nothing half-written, and go on to the undisturbed result once it can.
"""

from __future__ import annotations

import ctypes
import os
import random
import resource
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from harden import crash_samples as samples
from harden.crash_children import refusal, run
from harden.crash_kills import finished_run, folders, undisturbed
from harden.suites import Outcome, suite

# Bytes that each command writes in all; a disk of a random part of it becomes full at a random moment.
NEEDS = {"pre-training": 400_000, "study": 700_000, "import": 3_000_000, "report": 6_000_000}
POWERS = (1 << 1) | (1 << 2) | (1 << 3)  # of root over other people's files: DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER


@suite("crash", "disk full", full=40, part=4)
def fill_disk(n: int) -> Outcome:
    outcome, chance = Outcome(), random.Random(n)
    with all_samples() as (kinds, references, log):
        for number in range(n):
            sample, reference = kinds[number % len(kinds)], references[number % len(kinds)]
            size = int(chance.uniform(0.02, 1) * NEEDS[sample.name])
            with small_disk(size) as (folder, limit, enlarge):
                problem = _until_full(sample, folder, log, limit)
                enlarge()
                outcome.count(
                    _described(sample, f"{size:,} bytes", problem or _goes_on(sample, folder, reference, log))
                )
    return outcome


@suite("crash", "no permission", full=16, part=4)
def forbid(n: int) -> Outcome:
    outcome = Outcome()
    with all_samples() as (kinds, references, log), tempfile.TemporaryDirectory() as name:
        for number in range(n):
            sample, reference = kinds[number % len(kinds)], references[number % len(kinds)]
            folder = Path(name) / str(number)
            folder.mkdir()
            folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
            code, said = run(sample.arguments(folder), log, without_powers)
            problem = refusal(code, said, "denied", "permission")
            if any(folder.iterdir()):
                problem = problem or "something was written"
            folder.chmod(stat.S_IRWXU)
            outcome.count(_described(sample, "read-only", problem or _goes_on(sample, folder, reference, log)))
    return outcome


@contextmanager
def all_samples() -> Iterator[tuple[list[samples.Sample], list[Path], Path]]:
    """Every kind of command, the folder of an undisturbed run of each, and a file for what they print."""
    with folders() as (root, inputs):
        kinds = [
            samples.pretraining(0),
            samples.import_(inputs),
            samples.report(finished_run(inputs)),
            samples.study(inputs),
        ]
        references = [root / sample.name for sample in kinds]
        for sample, reference in zip(kinds, references, strict=True):
            undisturbed(sample, reference, root / "log")
        yield kinds, references, root / "log"


def _until_full(sample: samples.Sample, folder: Path, log: Path, limit: Callable[[], None] | None) -> str | None:
    code, said = run(sample.arguments(folder), log, limit)
    if code == 0:
        return None  # it was enough
    full = "too large" if limit is not None else "no space left"
    return refusal(code, said, full) or sample.sound(folder)


def _goes_on(sample: samples.Sample, folder: Path, reference: Path, log: Path) -> str | None:
    code, said = run([*sample.arguments(folder), *sample.again], log)
    end = sample.same(folder, reference)
    return None if end is None else f"afterwards: {end}; exit code {code}: {said[-300:]!r}"


def _described(sample: samples.Sample, how: str, problem: str | None) -> str | None:
    return None if problem is None else f"{sample.name}, {how}: {problem}"


@contextmanager
def small_disk(size: int) -> Iterator[tuple[Path, Callable[[], None] | None, Callable[[], None]]]:
    """A folder for so many bytes, what a child must call to be limited, and what makes it large.

    A file system of its own where we may mount one; elsewhere, a limit on the size of a file.
    """
    with tempfile.TemporaryDirectory() as name:
        options = ["-t", "tmpfs", "-o"]
        mounted = subprocess.run(["mount", *options, f"size={size}", "tmpfs", name], capture_output=True, check=False)
        if mounted.returncode != 0:
            yield Path(name), partial(limit_files, size // 4), lambda: None
            return
        try:
            enlarge = ["mount", "-o", f"remount,size={1 << 28}", name]
            yield Path(name), None, lambda: subprocess.run(enlarge, check=True)  # type: ignore[func-returns-value]
        finally:
            subprocess.run(["umount", name], check=True)


def limit_files(size: int) -> None:
    """No file of this process may become larger."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def without_powers() -> None:
    """Root stays the owner of its files but loses the power to ignore permissions; for others, nothing changes."""
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the call, this process
        data = (ctypes.c_uint32 * 6)()
        libc.capget(header, data)
        for part in (0, 1):  # effective, permitted
            data[part] &= ~POWERS & 0xFFFFFFFF
        if libc.capset(header, data) != 0:
            raise OSError(ctypes.get_errno(), "capset")
