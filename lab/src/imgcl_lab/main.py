"""Table 1: six methods without and with ImGCL, and the paper's baselines; our figure beside the paper's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from imgcl.evaluation import Estimate
from imgcl.studies.custom import EFFECTS
from imgcl.studies.grid import StudySpec
from imgcl.studies.protocol import CLASSIFIERS
from imgcl.studies.report import (
    Report,
    Table,
    accuracy_and_tail,
    attribution_rows,
    ceiling_accuracy,
    evaluation_rows,
    interval,
    titled,
)
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.paper import PAPER_GRAPHS, paper_accuracy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("dgi", "mvgrl", "infograph", "grace", "bgrl", "gbt")
BASELINES = ("features", "node2vec", "deepwalk", "deepwalk-features", "gcn")

TEXT = (
    "Accuracy on balanced test nodes in percent, mean ± standard deviation over splits x seeds. The paper's GCL rows "
    "are compared with the plain pre-training and the plain classifier, its ImGCL rows with ImGCL pre-training and the "
    "`pbs` classifier: two changes at once, which the attribution takes apart."
)


def report(results: Results) -> Report:
    """The paper's table, one detailed table per graph, the attribution."""
    datasets = [name for name in results.values("dataset") if name not in results.missing]
    tables = [_overview(results, datasets)]
    figures = {}
    for dataset in datasets:
        tables.append(_beside_paper(results, dataset))
        tables.append(_classifiers(results, dataset))
        methods = results.values("method")
        effects = {name: rows for name in methods if (rows := attribution_rows(results, dataset=dataset, method=name))}
        if effects:
            tables.append(_attribution(dataset, effects))
            figures[f"main-{dataset}"] = partial(_figure, effects)
    return Report("Main table", [TEXT], tables, figures, _with_paper(evaluation_rows(results)))


def _cell(estimate: Estimate | None, paper: float | None) -> str:
    ours = "open" if estimate is None else estimate.percent()
    return ours if paper is None else f"{ours} ({paper:.1f})"


def _rows(results: Results) -> list[tuple[str, str, str, bool]]:
    """Rows of the paper's table: method, balance, classifier, whether the paper calls it balanced."""
    methods = results.values("method")
    rows = [(name, "none", "plain", False) for name in BASELINES if name in methods and name != "gcn"]
    rows += [(name, "none", "plain", False) for name in METHODS if name in methods]
    rows += [(name, "imgcl", "pbs", True) for name in METHODS if name in methods]
    if "gcn" in methods:
        rows += [("gcn", "none", "plain", False), ("gcn", "none", "pbs", True)]
    return rows


def _estimate(results: Results, dataset: str, method: str, balance: str, classifier: str) -> Estimate | None:
    evaluation = results.evaluation(dataset=dataset, method=method, balance=balance)
    return None if evaluation is None else evaluation[classifier, "accuracy"]


def _overview(results: Results, datasets: list[str]) -> Table:
    columns = [*(name for name in PAPER_GRAPHS if name in datasets or name in results.missing)]
    columns += [name for name in datasets if name not in columns]
    rows = []
    for method, balance, classifier, balanced in _rows(results):
        name = titled(method) + (" + ImGCL" if balance == "imgcl" else " + PBS" if balanced else "")
        cells = []
        for dataset in columns:
            paper = paper_accuracy(method, dataset, balanced=balanced)
            if dataset in results.missing:
                cells.append(f"{results.missing[dataset]} ({paper:.1f})" if paper else results.missing[dataset])
            else:
                cells.append(_cell(_estimate(results, dataset, method, balance, classifier), paper))
        rows.append([name, *cells])
    note = "In brackets: the paper's figure."
    return Table("Ours and the paper's", ["", *map(titled, columns)], rows, note)


def _beside_paper(results: Results, dataset: str) -> Table:
    rows = []
    for method, balance, classifier, balanced in _rows(results):
        estimate = _estimate(results, dataset, method, balance, classifier)
        paper = paper_accuracy(method, dataset, balanced=balanced)
        difference = "-" if paper is None or estimate is None else f"{100 * (estimate.mean or 0) - paper:+.1f}"
        rows.append(
            [
                titled(method),
                titled(balance),
                classifier,
                "open" if estimate is None else estimate.percent(),
                "-" if estimate is None else interval(estimate),
                "-" if paper is None else f"{paper:.2f}",
                difference,
            ]
        )
    header = ["method", "pre-training", "classifier", "ours", "95 % interval", "paper", "ours - paper"]
    return Table(f"{titled(dataset)}: beside the paper", header, rows)


def _classifiers(results: Results, dataset: str) -> Table:
    rows = []
    for method in results.values("method"):
        for balance in ("none", "imgcl"):
            evaluation = results.evaluation(dataset=dataset, method=method, balance=balance)
            if evaluation is None:
                continue
            cells = [accuracy_and_tail(evaluation, name) for name in CLASSIFIERS]
            rows.append([titled(method), titled(balance), *cells, ceiling_accuracy(evaluation)])
    header = ["method", "pre-training", *CLASSIFIERS, "ceiling"]
    note = (
        "In brackets: recall of the tail classes. Ceiling: the probe trained on every label outside the test set, "
        "on one split of each seed."
    )
    return Table(f"{titled(dataset)}: all classifiers", header, rows, note)


def _attribution(dataset: str, effects: dict[str, dict[str, dict[str, Estimate]]]) -> Table:
    rows = [
        [titled(method), metric, *(rows[effect][metric].points() for effect in EFFECTS)]
        for method, rows in effects.items()
        for metric in ("accuracy", "tail")
    ]
    note = (
        "Differences in percentage points with 95 % interval: ImGCL pre-training (averaged over both classifiers), "
        "`pbs` instead of `plain` (averaged over both pre-trainings), what both give beyond the sum, and the paper's "
        "comparison, from neither to both."
    )
    return Table(f"{titled(dataset)}: who earned the gain", ["method", "metric", *EFFECTS], rows, note)


def _figure(effects: dict[str, dict[str, dict[str, Estimate]]]) -> Figure:
    from imgcl.plots import effects as draw

    return draw(
        {
            titled(method): {effect: rows[effect]["accuracy"].to_dict() for effect in ("pre-training", "classifier")}
            for method, rows in effects.items()
        }
    )


def _with_paper(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The paper's accuracy where it has one for the same row."""
    for row in rows:
        gcn = row["method"] == "gcn"
        balanced = row["balance"] == "imgcl" or (gcn and row["classifier"] == "pbs")
        same = row["metric"] == "accuracy" and row["classifier"] == ("pbs" if balanced else "plain")
        paper = paper_accuracy(row["method"], row["dataset"], balanced=balanced) if same else None
        row["paper"] = None if paper is None else paper / 100
    return rows


STUDY = Study(StudySpec(name="main", datasets=PAPER_GRAPHS, methods=METHODS, baselines=BASELINES), report, figures=True)
