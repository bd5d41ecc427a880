"""Two processes at the same place at once, locks of the dead, and a clock that goes backwards."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from harden import crash_samples as samples
from harden.crash_children import Child, refusal, run
from harden.crash_disks import all_samples
from harden.crash_kills import folders, undisturbed
from harden.suites import Outcome, suite
from imgcl.train.run import LOCK


@suite("crash", "two processes at once", full=24, part=4)
def compete(n: int) -> Outcome:
    outcome, chance = Outcome(), random.Random(n)
    with all_samples() as (kinds, references, log):
        for number in range(n):
            sample, reference = kinds[number % len(kinds)], references[number % len(kinds)]
            folder = log.parent / f"shared-{number}"
            folder.mkdir()
            first = Child(sample.arguments(folder), log)
            time.sleep(chance.uniform(0, 1))
            second = Child(sample.arguments(folder), log.with_name("log-2"))
            ends = [first.end(), second.end()]
            problem = sample.same(folder, reference)
            for code, said in ends:
                if code != 0 and problem is None:  # only one of them may make it
                    problem = refusal(code, said)
            if all(code != 0 for code, _ in ends):
                problem = problem or "neither of the two came to its end"
            outcome.count(None if problem is None else f"{sample.name}: {problem}; {ends}")
    return outcome


@suite("crash", "lock of another process, of a dead one", full=20, part=2)
def lock(n: int) -> Outcome:
    """The owner is named while it lives; its lock is in nobody's way when it is dead."""
    outcome, chance = Outcome(), random.Random(n)
    with folders() as (root, _):
        sample, reference, log = samples.pretraining(0), root / "undisturbed", root / "log"
        undisturbed(sample, reference, log)
        for number in range(n):
            folder = root / str(number)
            folder.mkdir()
            outcome.count(_locked(sample, folder, reference, log, chance))
    return outcome


def _locked(sample: samples.Sample, folder: Path, reference: Path, log: Path, chance: random.Random) -> str | None:
    owner = Child(sample.arguments(folder), log)
    held = folder / "run" / LOCK
    while owner.runs and not (held.exists() and held.read_text()):
        time.sleep(0.001)
    # Stopped, so that it cannot end before the other one looks.
    owner.send(19)
    code, said = run([*sample.arguments(folder), "--resume"], log.with_name("log-2"))
    problem = refusal(code, said, "in use", f"process {owner.pid}")
    owner.send(18)
    time.sleep(chance.uniform(0, 0.5))
    if owner.kill() and not held.exists():
        problem = problem or "the dead owner's lock was expected to be there"
    code, said = run([*sample.arguments(folder), "--resume"], log)
    return problem or sample.same(folder, reference)


@suite("crash", "clock going backwards", full=8, part=1)
def turn_back(n: int) -> Outcome:
    """The clock runs backwards while the command runs, and its files come from the future or the past."""
    outcome, chance = Outcome(), random.Random(n)
    with all_samples() as (kinds, references, log):
        for number in range(n):
            sample, reference = kinds[number % len(kinds)], references[number % len(kinds)]
            folder = log.parent / f"clock-{number}"
            folder.mkdir()
            child = Child(sample.arguments(folder), log, run_clock_backwards)
            child.wait(chance.uniform(0, 2))
            child.kill()
            for file in folder.rglob("*"):
                os.utime(file, (moment := chance.choice([0, 4e9]), moment))
            code, said = run([*sample.arguments(folder), *sample.again], log, run_clock_backwards)
            problem = sample.same(folder, reference)
            outcome.count(None if problem is None else f"{sample.name}: {problem}; exit code {code}: {said[-300:]!r}")
    return outcome


def run_clock_backwards() -> None:
    """An hour back with every look at the clock."""
    now = time.time()

    def earlier() -> float:
        nonlocal now
        now -= 3600
        return now

    time.time = earlier
    time.time_ns = lambda: int(1e9 * earlier())
