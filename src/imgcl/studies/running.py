"""Running a study: compute the cells that have no result yet, and write the journal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from imgcl.studies.agenda import Agenda
from imgcl.studies.cells import BaselineCell, Cell, PretrainCell
from imgcl.studies.engines import Settings, resolve_engine
from imgcl.studies.grid import Point
from imgcl.studies.journal import Journal
from imgcl.studies.lines import study_lines
from imgcl.studies.results import effective_points
from imgcl.studies.store import Store
from imgcl.training.run import versions


@dataclass
class Progress:
    """Where a run stands, for a progress bar.

    Attributes:
        total: cells of this run, those found finished included.
        finished: cells that are done.
        computed: cells computed now.
        failed: cells that failed, now or before.
        blocked: evaluations whose pre-training failed.
        left: seconds of work that remain, estimated; ``None`` before anything is known.
    """

    total: int
    finished: int = 0
    computed: int = 0
    failed: int = 0
    blocked: int = 0
    left: float | None = None
    times: dict[tuple[str, ...], list[float]] = field(default_factory=dict)


def run_study(
    name: str,
    points: Sequence[Point],
    store: Store,
    *,
    command: str,
    engine: str = "local",
    settings: Settings | None = None,
    missing: Mapping[str, str] | None = None,
    retry_failed: bool = False,
    on_progress: Callable[[Progress, Cell | None, dict[str, Any] | None], None] = lambda *_: None,
) -> Progress:
    """Compute the missing cells of a study.

    Args:
        name: of the study; its journal is named so.
        points: the grid.
        store: where results are kept.
        command: how the user would ask for the same again, for the record.
        engine: ``local`` or ``ray``.
        settings: of the engine.
        missing: data sets that are not there, and why.
        retry_failed: compute failed cells again.
        on_progress: called at the start and after every cell, with the cell and its record.
    """
    compute = resolve_engine(engine)
    journal, settings = store.journal(name), settings or Settings()
    lines = study_lines(journal)
    known = {line["key"]: line for line in lines if line["type"] == "cell"}
    wanted, elsewhere = _unique(points), store.journalled()
    for cell in wanted:
        for each in (*cell.all_needs, cell):
            done = known.get(each.key, {}).get("status") == "done"
            if not done and (found := store.record(each) or elsewhere.get(each.key)) is not None:
                known[each.key] = _append(journal, each, found)
    status = {key: line["status"] for key, line in known.items()}
    failed = frozenset() if retry_failed else frozenset(key for key, state in status.items() if state == "failed")
    open_cells = [cell for cell in wanted if status.get(cell.key) != "done" and cell.key not in failed]
    agenda = Agenda(open_cells, store, failed, _stages(points))
    _plan(journal, lines, points, command, dict(missing or {}), engine, settings, bool(len(agenda)))
    progress = Progress(
        total=0,
        finished=sum(status.get(cell.key) == "done" for cell in wanted),
        failed=sum(cell.key in failed for cell in wanted),
        blocked=len(agenda.blocked),
    )
    progress.total = progress.finished + progress.failed + progress.blocked + len(agenda)
    on_progress(progress, None, None)
    workers = settings.sizes()[0]
    written = {key for key, state in status.items() if state == "done"}
    users = _users(wanted)

    def on_done(cell: Cell, record: dict[str, Any]) -> None:
        if cell.key not in written:
            _append(journal, cell, record)
        if record["status"] == "done":
            written.add(cell.key)
            progress.finished += 1
            progress.computed += 1
        else:
            progress.failed += 1
        progress.blocked = len(agenda.blocked)
        for needs in cell.all_needs:
            if needs.tied and users[needs.key] <= written:
                store.drop_embedding(needs)
        progress.times.setdefault(_kind(cell), []).append(record["seconds"])
        progress.left = _left(agenda, progress.times, workers)
        on_progress(progress, cell, record)

    if len(agenda):
        compute(agenda, store, settings, on_done)
    return progress


def _unique(points: Sequence[Point]) -> list[Cell]:
    return list({point.cell.key: point.cell for point in points}.values())


def _stages(points: Sequence[Point]) -> dict[str, int]:
    """The stage of each cell: the earliest of its points."""
    stages: dict[str, int] = {}
    for point in points:
        stages[point.cell.key] = min(point.stage, stages.get(point.cell.key, point.stage))
    return stages


def _users(cells: Sequence[Cell]) -> dict[str, set[str]]:
    """Keys of the cells that start from each pre-training."""
    users: dict[str, set[str]] = {}
    for cell in cells:
        for needs in cell.all_needs:
            users.setdefault(needs.key, set()).add(cell.key)
    return users


def _append(journal: Journal, cell: Cell, record: Mapping[str, Any]) -> dict[str, Any]:
    line = {"type": "cell", "key": cell.key, "kind": cell.kind, **record}
    journal.append(line)
    return line


def _plan(
    journal: Journal,
    lines: Sequence[Mapping[str, Any]],
    points: Sequence[Point],
    command: str,
    missing: dict[str, str],
    engine: str,
    settings: Settings,
    work: bool,
) -> None:
    """Write the plan into the journal, unless its last plan is the same."""
    workers, threads = settings.sizes()
    facts = {
        "command": command,
        "missing": missing,
        "engine": engine,
        "workers": workers,
        "threads": threads,
        "versions": versions(),
    }
    plans = [line for line in lines if line["type"] == "plan"]
    asked = [point.line() for point in points]
    there = [line for group in effective_points(plans).values() for line in group]
    same = bool(plans) and all(line in there for line in asked)
    last = {key: plans[-1].get(key) for key in facts} if plans else None
    if same and (last == facts or not work):
        return
    journal.append({"type": "plan", "date": time.strftime("%Y-%m-%d", time.gmtime()), **facts, "points": asked})


def _kind(cell: Cell) -> tuple[str, ...]:
    """Cells that take about the same time."""
    origin = cell.needs or cell
    graph = "" if origin.loads is None else origin.loads.name
    method = origin.config.method if isinstance(origin, PretrainCell) else ""
    baseline = origin.baseline if isinstance(origin, BaselineCell) else ""
    return (cell.kind, graph, method or baseline)


def _left(agenda: Agenda, times: Mapping[tuple[str, ...], Sequence[float]], workers: int) -> float:
    """Seconds until the agenda is empty, from the cells that were alike."""
    total = 0.0
    everything = [seconds for some in times.values() for seconds in some]
    for kind, number in Counter(map(_kind, agenda.open_cells())).items():
        alike = times.get(kind) or [s for other, some in times.items() if other[0] == kind[0] for s in some]
        sample = alike or everything
        total += number * sum(sample) / len(sample)
    return total / workers
