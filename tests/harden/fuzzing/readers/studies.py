"""The reader of journals, and what tables and pages are made of."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from harden.fuzzing.readers.settings import one_graph
from imgcl.evaluation import evaluate
from imgcl.studies import Results, StudySpec, make_report
from imgcl.studies.grid import expand
from imgcl.studies.journal import JOURNAL, Journal
from imgcl.studies.packing import pack_result
from imgcl.studies.store import Store

VERSIONS = dict.fromkeys(("imgcl", "python", "torch", "numpy", "scikit-learn"), "1.0")
DONE = {"status": "done", "seconds": 1.5, "commit": "abc"}
FAILED = {"status": "failed", "seconds": 0.1, "commit": "abc", "error": "TrainingError", "message": "the loss is nan"}


def prepare_journal(root: Path) -> None:
    spec = StudySpec(name="mine", datasets=("synthetic",), seeds=1, splits=2, settings={"epochs": 2})
    points = expand(spec, one_graph())
    y = np.repeat([0, 1, 2], 20)
    result = pack_result(evaluate(np.eye(3)[y], y, imbalance="exp:5", classifier=("plain", "pbs"), splits=2))
    journal = Journal(root / "0" / JOURNAL)
    facts = {"command": "imgcl study run mine.toml", "missing": {"dblp": "file not present"}, "versions": VERSIONS}
    journal.append({"type": "plan", "date": "2025-01-01", **facts, "points": [point.line() for point in points]})
    for point in points:
        pretraining = {"type": "cell", "key": point.cell.needs.key, "kind": "pretrain"}
        journal.append({**pretraining, **DONE, "result": {"loss": [1.0, 0.5], "epochs": 2}})
        journal.append({"type": "cell", "key": point.cell.key, "kind": "evaluate", **DONE, "result": result})
    journal.append({"type": "cell", "key": "f" * 32, "kind": "evaluate", **FAILED})
    for lock in (root / "0").glob(".*"):
        lock.unlink()
    lines = map(json.loads, journal.path.read_text(encoding="utf-8").splitlines())
    unchecked = [json.dumps({key: line[key] for key in line if key != "checksum"}) for line in lines]
    (root / "1").mkdir()
    (root / "1" / JOURNAL).write_text("\n".join(unchecked) + "\n", encoding="utf-8")


def read_journal(folder: Path, flags: int) -> None:
    Store(folder.parent).journalled()
    results = Results("mine", Journal(folder / JOURNAL))
    results.counts(), results.failures(), results.facts(), results.pretrainings()
    make_report(results)
