"""Two processes at the same place at once, locks of the dead, and a clock that goes backwards."""

from __future__ import annotations

import os
import random
import signal
import time
from itertools import cycle, islice
from pathlib import Path

from harden.crash_children import Child, refusal, run
from harden.crash_kills import Prepared, folder, prepared
from harden.suites import Outcome, suite
from imgcl.training.run import LOCK


@suite("crash", "two processes at once", full=24, part=4)
def compete(n: int) -> Outcome:
    outcome, chance = Outcome(), random.Random(n)
    for each in islice(cycle(prepared()), n):
        with folder() as root:
            place = root / "shared"
            place.mkdir()
            first = Child(each.sample.arguments(place), root / "log-1")
            time.sleep(chance.uniform(0, each.seconds))
            second = Child(each.sample.arguments(place), root / "log-2")
            ends = [first.end(), second.end()]
            problem = each.sample.same(place, each.reference)
            for code, said in ends:
                if code != 0 and problem is None:  # only one of them may make it
                    problem = refusal(code, said)
            if all(code != 0 for code, _ in ends):
                problem = problem or "neither of the two came to its end"
            outcome.count(None if problem is None else f"{each.sample.name}: {problem}; {ends}")
    return outcome


@suite("crash", "lock of another process, of a dead one", full=20, part=2)
def lock(n: int) -> Outcome:
    """The owner is named while it lives; its lock is in nobody's way when it is dead."""
    outcome, chance = Outcome(), random.Random(n)
    for _ in range(n):
        with folder() as root:
            outcome.count(_locked(prepared()[0], root, chance))
    return outcome


def _locked(each: Prepared, root: Path, chance: random.Random) -> str | None:
    place, again = root / "place", ["--resume"]
    place.mkdir()
    owner = Child(each.sample.arguments(place), root / "log-1")
    held = place / "run" / LOCK
    while owner.runs and not (held.exists() and held.stat().st_size):
        time.sleep(0.001)
    owner.send(signal.SIGSTOP)  # so that it cannot end before the other one looks
    problem = refusal(*run(each.sample.arguments(place) + again, root / "log-2"), "in use", f"process {owner.pid}")
    owner.send(signal.SIGCONT)
    owner.wait(chance.uniform(0, each.seconds))
    if owner.kill() and not held.exists():
        problem = problem or "the dead owner's lock was expected to be there"
    run(each.sample.arguments(place) + again, root / "log-1")
    return problem or each.sample.same(place, each.reference)


@suite("crash", "clock going backwards", full=8, part=1)
def turn_back(n: int) -> Outcome:
    """The clock runs backwards while the command runs, and its files come from the future or the past."""
    outcome, chance = Outcome(), random.Random(n)
    for each in islice(cycle(prepared()), n):
        with folder() as root:
            place = root / "place"
            place.mkdir()
            child = Child(each.sample.arguments(place), root / "log", run_clock_backwards)
            child.wait(chance.uniform(0, each.seconds))
            child.kill()
            for file in place.rglob("*"):
                os.utime(file, (moment := chance.choice([0, 4e9]), moment))
            code, said = run([*each.sample.arguments(place), *each.sample.again], root / "log", run_clock_backwards)
            problem = each.sample.same(place, each.reference)
            outcome.count(None if problem is None else f"{each.sample.name}: {problem}; exit {code}: {said[-300:]!r}")
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
