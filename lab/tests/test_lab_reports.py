"""Pages of methods and baselines from a finished study on the embedded graph."""

from __future__ import annotations

from pathlib import Path

from imgcl.studies import Graphs, Results, Store, StudySpec, run_study
from imgcl.studies.grid import expand
from imgcl.studies.protocol import ORDINARY
from imgcl_lab.baselines import report as baselines_report
from imgcl_lab.methods import report as methods_report


def finished(spec: StudySpec, digits: Graphs, folder: Path) -> Results:
    store = Store(folder)
    run_study(spec.name, expand(spec, digits), store, command="imgcl study")
    return Results(spec.name, store.journal(spec.name))


def test_methods_have_both_kinds_of_splits(digits: Graphs, tmp_path: Path) -> None:
    spec = StudySpec(
        name="pages",
        datasets=("digits",),
        imbalances=("exp:100", ORDINARY),
        settings={"epochs": 2, "dim": 8},
        seeds=1,
        splits=2,
    )
    results = finished(spec, digits, tmp_path)
    (table,) = methods_report(results).tables
    rows = {row[0]: row for row in table.rows}
    assert set(rows) == {"GBT", "GBT + ImGCL"}
    evaluation = results.evaluation(dataset="digits", method="gbt", balance="none", imbalance=ORDINARY)
    assert evaluation is not None
    assert rows["GBT"][-2] == evaluation["plain", "accuracy"].percent()
    assert len(rows["GBT"]) == len(table.header)


def test_baselines_leave_out_what_they_do_not_know(digits: Graphs, tmp_path: Path) -> None:
    spec = StudySpec(
        name="pages", datasets=("digits",), methods=(), baselines=("features", "label-propagation"), seeds=1, splits=2
    )
    (table,) = baselines_report(finished(spec, digits, tmp_path)).tables
    rows = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    assert rows["label propagation"]["pbs"] == "-"
    assert rows["label propagation"]["plain"] != "-"
    assert "(" in rows["raw features"]["reweight"]
