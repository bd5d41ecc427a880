"""SIGKILL at random moments of pre-training, study, import and report.

After every kill each file must be absent, old, or new and whole, and no saved work may be gone. The command is then
started again, and killed again; after a few kills it is let go to its end, which must be, bit for bit, that of an
undisturbed one.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harden import crash_samples as samples
from harden.crash_children import Child, run, server
from harden.suites import Outcome, suite

KILLS_IN_A_ROW = 6


@suite("crash", "pre-training killed", full=60, part=6)
def kill_pretraining(n: int) -> Outcome:
    with folders() as (root, _):
        return kill(n, [samples.pretraining(number) for number in range(len(samples.PRETRAININGS))], root)


@suite("crash", "study killed", full=60, part=2)
def kill_study(n: int) -> Outcome:
    with folders() as (root, inputs):
        return kill(n, [samples.study(inputs)], root)


@suite("crash", "import killed", full=60, part=6)
def kill_import(n: int) -> Outcome:
    with folders() as (root, inputs):
        return kill(n, [samples.import_(inputs)], root)


@suite("crash", "report killed", full=60, part=4)
def kill_report(n: int) -> Outcome:
    with folders() as (root, inputs):
        return kill(n, [samples.report(finished_run(inputs))], root)


@contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    """A folder to work in, and one for inputs."""
    with tempfile.TemporaryDirectory(prefix="imgcl-harden-") as name:
        (Path(name) / "work").mkdir()
        (Path(name) / "inputs").mkdir()
        yield Path(name) / "work", Path(name) / "inputs"


def finished_run(inputs: Path) -> Path:
    """A run directory to read from."""
    code, said = run(samples.pretraining(0).arguments(inputs), inputs / "log")
    assert code == 0, said
    return inputs / "run"


def undisturbed(sample: samples.Sample, folder: Path, log: Path) -> float:
    """Run a sample to its end; how many seconds it took."""
    folder.mkdir()
    server()
    started = time.monotonic()
    code, said = run(sample.arguments(folder), log)
    if code != 0 or sample.same(folder, folder) is not None:
        raise RuntimeError(f"{sample.name} does not work at all: {said[-500:]} {sample.same(folder, folder)}")
    return time.monotonic() - started


def kill(n: int, kinds: list[samples.Sample], root: Path) -> Outcome:
    """Kill samples n times in all."""
    outcome, chance, log = Outcome(), random.Random(n), root / "log"
    references: dict[int, tuple[Path, float]] = {}
    chain = 0
    while outcome.tried < n:
        kind = chain % len(kinds)
        sample, folder = kinds[kind], root / f"chain-{chain}"
        if kind not in references:
            reference = root / f"undisturbed-{kind}"
            references[kind] = reference, undisturbed(sample, reference, log)
        reference, seconds = references[kind]
        folder.mkdir()
        moments = (chance.uniform(0, seconds) for _ in range(min(KILLS_IN_A_ROW, n - outcome.tried)))
        problems = killed(sample, folder, log, moments)
        code, said = run([*sample.arguments(folder), *sample.again], log)
        end = sample.same(folder, reference)  # a store that a kill came too late for is refused: exit code 2
        if "Traceback" in said or (end is not None and code != 0):
            end = f"exit code {code}: {said[-300:]!r}"
        for problem in problems:
            outcome.count(problem or end)
        shutil.rmtree(folder)
        chain += 1
    return outcome


def killed(sample: samples.Sample, folder: Path, log: Path, moments: Iterator[float]) -> list[str | None]:
    """Start, kill and start again; the problem after each kill. Ends early when the command gets to its end."""
    problems: list[str | None] = []
    again: tuple[str, ...] = ()
    for seconds in moments:
        saved = sample.saved(folder)
        child = Child([*sample.arguments(folder), *again], log)
        child.wait(seconds)
        if not child.kill():
            break
        again = sample.again
        problem = sample.sound(folder)
        if problem is None and sample.saved(folder) < saved:
            problem = f"work was lost: {saved} before, {sample.saved(folder)} after"
        problems.append(None if problem is None else f"killed after {seconds:.3f} s: {problem}")
    return problems
