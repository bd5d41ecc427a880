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
from itertools import cycle, islice
from pathlib import Path

from harden import crash_samples as samples
from harden.crash_children import refusal, run
from harden.crash_kills import Prepared, folder, prepared
from harden.suites import Outcome, suite

# Bytes that each command writes in all; a disk of a random part of it becomes full at a random moment.
NEEDS = {"pre-training": 400_000, "study": 700_000, "import": 3_000_000, "report": 6_000_000}
POWERS = (1 << 1) | (1 << 2) | (1 << 3)  # of root over other people's files: DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER


@suite("crash", "disk full", full=40, part=4)
def fill_disk(n: int) -> Outcome:
    outcome, chance = Outcome(), random.Random(n)
    for each in islice(cycle(prepared()), n):
        size = int(chance.uniform(0.02, 1) * NEEDS[each.sample.name])
        with small_disk(size) as (place, limit, enlarge), folder() as other:
            problem = _until_full(each.sample, place, other / "log", limit)
            enlarge()
            problem = problem or _goes_on(each, place, other / "log")
            outcome.count(None if problem is None else f"{each.sample.name}, {size:,} bytes: {problem}")
    return outcome


@suite("crash", "no permission", full=16, part=4)
def forbid(n: int) -> Outcome:
    outcome = Outcome()
    for each in islice(cycle(prepared()), n):
        with folder() as root:
            place = root / "place"
            place.mkdir()
            place.chmod(stat.S_IRUSR | stat.S_IXUSR)
            code, said = run(each.sample.arguments(place), root / "log", without_powers)
            problem = refusal(code, said, "denied", "permission")
            if any(place.iterdir()):
                problem = problem or "something was written"
            place.chmod(stat.S_IRWXU)
            problem = problem or _goes_on(each, place, root / "log")
            outcome.count(None if problem is None else f"{each.sample.name}: {problem}")
    return outcome


def _until_full(sample: samples.Sample, folder: Path, log: Path, limit: Callable[[], None] | None) -> str | None:
    code, said = run(sample.arguments(folder), log, limit)
    if code == 0:
        return None  # it was enough
    full = "too large" if limit is not None else "no space left"
    return refusal(code, said, full) or sample.sound(folder)


def _goes_on(each: Prepared, place: Path, log: Path) -> str | None:
    code, said = run([*each.sample.arguments(place), *each.sample.again], log)
    end = each.sample.same(place, each.reference)
    return None if end is None else f"afterwards: {end}; exit code {code}: {said[-300:]!r}"


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
