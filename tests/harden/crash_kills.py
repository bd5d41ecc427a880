"""SIGKILL at random moments of pre-training, study, import and report.

After every kill each file must be absent, old, or new and whole, and no saved work may be gone. The command is then
started again, and killed again; after a few kills it is let go to its end, which must be, bit for bit, that of an
undisturbed one.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path

from harden import crash_samples as samples
from harden.crash_children import Child, run, server
from harden.suites import Outcome, suite

KILLS_IN_A_ROW = 6


@suite("crash", "pre-training killed", full=60, part=6)
def kill_pretraining(n: int) -> Outcome:
    with folder() as root:
        kinds = [samples.pretraining(number) for number in range(len(samples.PRETRAININGS))]
        return kill(n, (_fresh(sample, root / f"undisturbed-{number}") for number, sample in enumerate(kinds)), root)


@suite("crash", "import killed", full=60, part=6)
def kill_import(n: int) -> Outcome:
    with folder() as root:
        return kill(n, [prepared()[1]], root)


@suite("crash", "report killed", full=60, part=4)
def kill_report(n: int) -> Outcome:
    with folder() as root:
        return kill(n, [prepared()[2]], root)


@suite("crash", "study killed", full=60, part=2)
def kill_study(n: int) -> Outcome:
    with folder() as root:
        return kill(n, [prepared()[3]], root)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder to work in."""
    with tempfile.TemporaryDirectory(prefix="imgcl-harden-") as name:
        yield Path(name)


def finished_run(inputs: Path) -> Path:
    """A run directory to read from."""
    code, said = run(samples.pretraining(0).arguments(inputs), inputs / "log")
    assert code == 0, said
    return inputs / "run"


def undisturbed(sample: samples.Sample, place: Path, log: Path) -> float:
    """Run a sample to its end; how many seconds it took."""
    place.mkdir()
    server()
    started = time.monotonic()
    code, said = run(sample.arguments(place), log)
    if code != 0 or sample.same(place, place) is not None:
        raise RuntimeError(f"{sample.name} does not work at all: {said[-500:]} {sample.same(place, place)}")
    return time.monotonic() - started


@dataclass(frozen=True)
class Prepared:
    """A sample, the folder of an undisturbed run of it, and the seconds that it took."""

    sample: samples.Sample
    reference: Path
    seconds: float


@cache
def prepared() -> list[Prepared]:
    """A sample of every kind, run once; the folders stay as long as this process."""
    root = Path(tempfile.mkdtemp(prefix="imgcl-harden-"))
    atexit.register(shutil.rmtree, root)
    (root / "inputs").mkdir()
    kinds = [
        samples.pretraining(0),
        samples.import_(root / "inputs"),
        samples.report(finished_run(root / "inputs")),
        samples.study(root / "inputs"),
    ]
    return [Prepared(each, root / each.name, undisturbed(each, root / each.name, root / "log")) for each in kinds]


def _fresh(sample: samples.Sample, reference: Path) -> Prepared:
    return Prepared(sample, reference, undisturbed(sample, reference, reference.with_name("log")))


def kill(n: int, kinds: Iterable[Prepared], root: Path) -> Outcome:
    """Kill samples n times in all, in chains that take the kinds in turn."""
    outcome, chance, log = Outcome(), random.Random(n), root / "log"
    for each in cycle(kinds):
        place = root / "chain"
        place.mkdir()
        moments = (chance.uniform(0, each.seconds) for _ in range(min(KILLS_IN_A_ROW, n - outcome.tried)))
        problems = killed(each.sample, place, log, moments)
        code, said = run([*each.sample.arguments(place), *each.sample.again], log)
        end = each.sample.same(place, each.reference)  # a store that a kill came too late for is refused: exit code 2
        if "Traceback" in said or (end is not None and code != 0):
            end = f"exit code {code}: {said[-300:]!r}"
        for problem in problems:
            outcome.count(problem or end)
        shutil.rmtree(place)
        if outcome.tried >= n:
            break
    return outcome


def killed(sample: samples.Sample, place: Path, log: Path, moments: Iterator[float]) -> list[str | None]:
    """Start, kill and start again; the problem after each kill. Ends early when the command gets to its end."""
    problems: list[str | None] = []
    again: tuple[str, ...] = ()
    for seconds in moments:
        saved = sample.saved(place)
        child = Child([*sample.arguments(place), *again], log)
        child.wait(seconds)
        if not child.kill():
            break
        again = sample.again
        problem = sample.sound(place)
        if problem is None and sample.saved(place) < saved:
            problem = f"work was lost: {saved} before, {sample.saved(place)} after"
        problems.append(None if problem is None else f"killed after {seconds:.3f} s: {problem}")
    return problems
