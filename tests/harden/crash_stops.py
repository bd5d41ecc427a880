"""Ctrl-C and SIGTERM, and a loss that is no longer a number."""

from __future__ import annotations

import random
import re
import shlex
import signal
import time
from itertools import cycle, islice
from pathlib import Path

from harden.crash_checks import leftovers, progress, run_is_sound
from harden.crash_children import Child, refusal, run
from harden.crash_kills import folder, prepared
from harden.suites import Outcome, suite
from imgcl.training import Run

EXPLODING = ("pretrain", "digits", "--epochs", "60", "--set", "dim=16", "--quiet")
EXPLOSIONS = (  # learning rates that break the weights at different epochs
    ("--balance", "imgcl", "--set", "lr=1e30", "--set", "checkpoint_every=1"),
    ("--set", "lr=1e36", "--set", "warm_up=30", "--set", "checkpoint_every=3"),
    ("--method", "bgrl", "--set", "lr=1e30", "--set", "warm_up=30", "--set", "checkpoint_every=1"),
    ("--method", "grace", "--set", "lr=1e25", "--no-balance", "--set", "checkpoint_every=1"),
    ("--balance", "labellings=60", "--set", "lr=1e36", "--set", "warm_up=30", "--set", "checkpoint_every=7"),
)


@suite("crash", "Ctrl-C and SIGTERM in pre-training", full=30, part=3)
def interrupt_pretraining(n: int) -> Outcome:
    outcome, chance, each = Outcome(), random.Random(n), prepared()[0]
    while outcome.tried < n:
        with folder() as root:
            place = root / "place"
            place.mkdir()
            child = Child(each.sample.arguments(place), root / "log")
            if _reached_an_epoch(child, place):
                child.wait(chance.uniform(0, each.seconds / 2))
            number = chance.choice([signal.SIGINT, signal.SIGTERM])
            child.send(number)
            code, said = child.end()
            if code == 0:
                continue  # the signal came after the end
            problem = _stopped_well(code, said, place, number) or each.sample.same(place, each.reference)
            outcome.count(None if problem is None else f"{signal.Signals(number).name}: {problem}")
    return outcome


def _reached_an_epoch(child: Child, folder: Path) -> bool:
    while child.runs:
        if (folder / "run" / "history.json").exists():
            return True
        time.sleep(0.001)
    return False


def _stopped_well(code: int, said: str, folder: Path, number: int) -> str | None:
    """It says where it stopped and how to go on, and the command it names does."""
    epoch = re.search(r"stopped after epoch (\d+) of", said)
    command = re.search(r"continue with: imgcl (.+)", said)
    if code == 128 + number and epoch is None and Run(folder / "run").finished:
        return None  # the signal came after the end
    if code != 128 + number or epoch is None or command is None:
        return f"exit code {code}: {said[-300:]!r}"
    if progress(folder / "run") != int(epoch[1]):
        return f"stopped after epoch {epoch[1]} with the checkpoint of epoch {progress(folder / 'run')}"
    code, said = run(shlex.split(command[1]), folder / "log")
    (folder / "log").unlink()
    return None if code == 0 else f"going on: exit code {code}: {said[-300:]!r}"


@suite("crash", "Ctrl-C in study, import and report", full=30, part=3)
def interrupt_others(n: int) -> Outcome:
    outcome, chance = Outcome(), random.Random(n)
    for each in islice(cycle(prepared()[1:]), n):
        with folder() as root:
            place = root / "place"
            place.mkdir()
            child = Child(each.sample.arguments(place), root / "log")
            child.wait(chance.uniform(0.1, each.seconds))
            child.send(signal.SIGINT)
            code, said = child.end()
            problem = None if code in (0, 130) and "Traceback" not in said else f"exit code {code}: {said[-300:]!r}"
            problem = problem or each.sample.sound(place) or leftovers(place)
            run([*each.sample.arguments(place), *each.sample.again], root / "log")
            problem = problem or each.sample.same(place, each.reference)
            outcome.count(None if problem is None else f"{each.sample.name}: {problem}")
    return outcome


@suite("crash", "loss or weights not finite", full=20, part=5)
def explode(n: int) -> Outcome:
    """The run stops, says where and which checkpoint is good, and that checkpoint is good; again when it is resumed."""
    outcome = Outcome()
    with folder() as root:
        for number in range(n):
            settings, out = EXPLOSIONS[number % len(EXPLOSIONS)], root / str(number)
            arguments = [*EXPLODING, *settings, "--seed", str(number), "--out", str(out)]
            problem = _exploded_well(*run(arguments, root / "log"), out)
            before = (out / "checkpoint.safetensors").read_bytes() if progress(out) else b""
            problem = problem or _exploded_well(*run([*arguments, "--resume"], root / "log"), out)
            after = (out / "checkpoint.safetensors").read_bytes() if progress(out) else b""
            if before != after:
                problem = problem or "resuming changed the good checkpoint"
            outcome.count(None if problem is None else f"{' '.join(settings)}: {problem}")
    return outcome


def _exploded_well(code: int, said: str, out: Path) -> str | None:
    problem = refusal(code, said, "epoch", "checkpoint", "learning rate") or run_is_sound(out)
    if problem is not None:
        return problem
    if Run(out).finished:
        return "the run counts as finished"
    if not progress(out):
        return (
            None if "before the first checkpoint" in said else f"it speaks of a checkpoint that is not there: {said!r}"
        )
    bad = Run(out).checkpoint().not_finite()
    if bad is not None:
        return f"the checkpoint's {bad} is not finite"
    return None if f"after epoch {progress(out)}:" in said else f"it does not name the checkpoint's epoch: {said!r}"
