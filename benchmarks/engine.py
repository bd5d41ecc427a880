"""What the study engine itself costs, and how long it takes to draw all published pages from their journals.

A study of small cells is computed by one worker. What lies between the end of its first cell and that of the last, less
the cells' own time, is the engine's: agenda, journal with fsync, records, locks, messages. It is a constant for each
cell, so its share of ``imgcl study main`` follows from the cells in the journal of that study.

python benchmarks/engine.py [--json]
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from common import arguments, show
from imgcl.studies import Graphs, Results, Store, StudySpec, make_report, run_study, write_report
from imgcl.studies.engines import Settings
from imgcl.studies.grid import expand
from imgcl.studies.lines import study_lines

PUBLISHED = Store(Path(__file__).parents[1] / "docs" / "results" / "studies")
SEEDS = 30  # each a pre-training and its evaluation


def overhead_per_cell(root: Path) -> float:
    """Seconds of the engine for each cell."""
    spec = StudySpec(
        name="small",
        datasets=("synthetic:class_sizes=200/100/50,n_features=16,seed=1",),
        balances={"none": "none"},
        imbalances=("natural",),
        classifiers=("plain",),
        settings={"epochs": 2, "dim": 8},
        seeds=SEEDS,
        splits=1,
    )
    ends: list[float] = []
    seconds: list[float] = []

    def note(_: Any, cell: Any, record: dict[str, Any] | None) -> None:
        if cell is not None and record is not None:
            ends.append(time.perf_counter())
            seconds.append(record["seconds"])

    points = expand(spec, Graphs.load(spec.datasets))
    run_study(spec.name, points, Store(root), command="", settings=Settings(1, 1), on_progress=note)
    return (ends[-1] - ends[0] - sum(seconds[1:])) / (len(ends) - 1)


def draw_all(folder: Path) -> float:
    """Seconds for every page, its tables and figures."""
    start = time.perf_counter()
    for name in PUBLISHED.studies():
        results = Results(name, PUBLISHED.journal(name))
        write_report(make_report(results), results, folder)
    return time.perf_counter() - start


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    cells = [line for line in study_lines(PUBLISHED.journal("main")) if line["type"] == "cell"]
    computed = sum(cell["seconds"] for cell in cells)
    with tempfile.TemporaryDirectory() as folder:
        overhead = overhead_per_cell(Path(folder))
        drawing = draw_all(Path(folder) / "pages")
    show(
        "engine",
        {
            "ours_s": overhead,
            "share_of_main": overhead * len(cells) / computed,
            "share_bar": 0.02,
            "cells_of_main": len(cells),
            "all_pages_s": drawing,
        },
        options.json,
    )


if __name__ == "__main__":
    main()
