"""Damaged files of a run directory and of a study: cut short, bits flipped, of another version.

Whoever reads them must be told which file it is and what to do; what was changed is never given out as a result.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from harden import crash_samples as samples
from harden.crash_children import run
from harden.crash_kills import folder, undisturbed
from harden.suites import Outcome, suite
from imgcl._core.errors import RunError
from imgcl.graph import Reduction
from imgcl.studies.journal import Journal
from imgcl.training import Run

FILES = (
    "config.json",
    "history.json",
    "names.json",
    "checkpoint.safetensors",
    "embedding.npy",
    "own.npy",
    "neighbours.npy",
    "reduction.safetensors",
    "labels.npy",
    "split-train.npy",
)


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def flip(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1 :]


def overwrite(content: bytes, chance: random.Random) -> bytes:
    begin = chance.randrange(len(content))
    return content[:begin] + bytes(min(512, len(content) - begin)) + content[begin + 512 :]


def lengthen(content: bytes, chance: random.Random) -> bytes:
    return content + chance.randbytes(chance.randrange(1, 100))


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (cut, flip, overwrite, lengthen)


@suite("crash", "damaged files of a run", full=4000, part=400)
def damage_run(n: int) -> Outcome:
    outcome, chance = Outcome(), random.Random(n)
    with folder() as root:
        undisturbed(samples.pretraining(2), root / "good", root / "log")
        good = root / "good" / "run"
        whole, known = {name: (good / name).read_bytes() for name in FILES}, _content(good)
        for number in range(n):
            name, change = FILES[number % len(FILES)], chance.choice(DAMAGES)
            content = change(whole[name], chance)
            if content == whole[name]:
                continue
            (good / name).write_bytes(content)
            problem = _told(good, name, known)
            outcome.count(None if problem is None else f"{name}, {change.__name__}: {problem}")
            (good / name).write_bytes(whole[name])
    return outcome


def _content(path: Path) -> dict[str, str]:
    """Everything that a run directory says, each part as text."""
    run_ = Run(path)
    checkpoint = run_.checkpoint()
    tensors = {name: _digest(tensor) for name, tensor in checkpoint.tensors.items()}
    split = run_.split
    assert split is not None
    return {
        "config.json": json.dumps(run_.facts, sort_keys=True),
        "history.json": json.dumps(run_.history, sort_keys=True),
        "names.json": json.dumps([run_.node_names, run_.class_names]),
        "checkpoint.safetensors": json.dumps([checkpoint.values, tensors]),
        "embedding.npy": _digest(run_.embedding),
        "own.npy": _digest(run_.blocks["own"]),
        "neighbours.npy": _digest(run_.blocks["neighbours"]),
        "reduction.safetensors": json.dumps({name: _reduction(each) for name, each in run_.reductions.items()}),
        "labels.npy": _digest(run_.labels),
        "split-train.npy": _digest(split.train),
    }


def _digest(values: object) -> str:
    array = np.asarray(values)
    return f"{array.dtype} {array.shape} {hash(array.tobytes())}"


def _reduction(reduction: Reduction) -> list[str]:
    parts = (reduction.mean, reduction.deviation, reduction.components)
    return [f"{reduction.hops} {reduction.n_features}", *(_digest(part) for part in parts if part is not None)]


def _told(path: Path, name: str, known: dict[str, str]) -> str | None:
    try:
        found = _content(path)
    except RunError as error:
        message = str(error)
        remedy = any(word in message for word in ("--resume", "again", "install", "--out"))
        return None if str(path / name) in message and remedy else f"the message does not help: {message!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if found == known else "changed content was read as if it were good"


@suite("crash", "damaged journal of a study", full=2000, part=200)
def damage_journal(n: int) -> Outcome:
    outcome, chance = Outcome(), random.Random(n)
    with folder() as root:
        journal = Journal(root / "journal.jsonl")
        for number in range(20):
            result = {"accuracy": [chance.random() for _ in range(20)], "name": "ä" * number}
            journal.append({"type": "cell", "key": f"{number:032x}", "status": "done", "result": result})
        whole, known = journal.path.read_bytes(), journal.lines()
        for _ in range(n):
            change = chance.choice((cut, flip, overwrite))
            journal.path.write_bytes(change(whole, chance))
            try:
                lines = journal.lines()
                bare = [{key: value for key, value in line.items() if key in known[0]} for line in lines]
                good = bare == known[: len(bare)]  # the lines before a cut
                outcome.count(None if good else f"{change.__name__}: changed content was read as if it were good")
            except RunError as error:
                helps = str(journal.path) in str(error) and "line" in str(error)
                outcome.count(None if helps else f"the message does not help: {error}")
            except Exception as error:
                outcome.count(f"{change.__name__}: {type(error).__name__}: {error}")
    return outcome


@suite("crash", "damaged run resumed", full=30, part=3)
def repair(n: int) -> Outcome:
    """``--resume`` writes damaged files again, or says which one has to go first."""
    outcome, chance = Outcome(), random.Random(n)
    with folder() as root:
        sample, reference, log = samples.pretraining(2), root / "good", root / "log"
        undisturbed(sample, reference, log)
        for number in range(n):
            place = root / str(number)
            shutil.copytree(reference, place)
            name = FILES[number % len(FILES)]
            file = place / "run" / name
            file.write_bytes(chance.choice(DAMAGES)(file.read_bytes(), chance))
            code, said = run([*sample.arguments(place), "--resume"], log)
            if code == 2 and str(file) in said and name in ("config.json", "checkpoint.safetensors"):
                (shutil.rmtree if name == "config.json" else Path.unlink)(
                    file.parent if name == "config.json" else file
                )
                code, said = run([*sample.arguments(place), "--resume"], log)
            problem = sample.same(place, reference)
            outcome.count(None if problem is None else f"{name}: {problem}; exit code {code}: {said[-300:]!r}")
    return outcome
