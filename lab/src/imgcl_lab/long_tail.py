"""Ours: pre-training itself sees few tail nodes (scope inductive); which selection helps then?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from imgcl.evaluation import Effects, compare
from imgcl.studies.grid import StudySpec
from imgcl.studies.report import Report, Table, evaluation_rows, grid_table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BALANCES = {
    "none": "none",
    # One pseudo-class and no centrality: every node is equally likely to be among the selected tenth.
    "uniform": "clusters=kmeans,n_clusters=1,centrality=none,stage=one",
    "imgcl": "imgcl",
    "true labels": "clusters=given",
}
CLASSIFIERS = ("plain", "reweight", "logit-adjust")
METRICS = ("accuracy", "tail")
TEXT = (
    "The graph that pre-training sees has no validation and test nodes and follows exp:100 itself; the frozen encoder "
    "then embeds the whole graph. Selection: none (all rows; GRACE's preset: a random quarter in each step), uniform "
    "(a random tenth), ImGCL, and balanced by the true labels. Percent, mean ± standard deviation over splits x seeds; "
    "every split has its own pre-training."
)


def report(results: Results) -> Report:
    """Per graph: figures of every selection, and the gains over no selection."""
    tables, figures = [], {}
    columns = [(classifier, metric) for classifier in CLASSIFIERS for metric in METRICS]
    for dataset in results.values("dataset"):
        groups = [each for each in results.groups() if each["dataset"] == dataset]
        title = titled(dataset)
        tables.append(
            grid_table(
                results, groups, columns, title, lambda g: [titled(g["method"]), g["balance"]], ["method", "selection"]
            )
        )
        rows = []
        for group in groups:
            if (effects := _gains(results, group)) is None:
                continue
            cells = [effects[classifier, metric].points() for classifier, metric in columns]
            rows.append([titled(group["method"]), group["balance"], *cells])
            figures[f"long-tail-{dataset}-{group['method']}"] = partial(_figure, results, dataset, group["method"])
        header = ["method", "selection", *(f"{classifier}: {metric}" for classifier, metric in columns)]
        note = "Differences in percentage points on the same splits and seeds, with 95 % interval."
        tables.append(Table(f"{title}: gain over no selection", header, rows, note))
    return Report("Long-tailed pre-training", [TEXT], tables, figures, evaluation_rows(results))


def _gains(results: Results, group: dict[str, str]) -> Effects | None:
    pair = results.against_plain(group)
    return None if pair is None else compare(*pair, classifiers=CLASSIFIERS, metrics=METRICS)


def _figure(results: Results, dataset: str, method: str) -> Figure:
    from imgcl.plots import effects as draw

    rows = {}
    for group in results.groups():
        if (group["dataset"], group["method"]) == (dataset, method) and (found := _gains(results, group)) is not None:
            rows[group["balance"]] = {
                f"{metric}, {classifier}": found[classifier, metric].to_dict()
                for classifier in ("plain", "reweight")
                for metric in METRICS
            }
    return draw(rows)


STUDY = Study(
    StudySpec(
        name="long-tail",
        datasets=("amazon-computers", "amazon-photo", "dblp"),
        methods=("gbt", "grace"),
        balances=BALANCES,
        classifiers=CLASSIFIERS,
        scope="inductive",
        seeds=3,
        splits=5,
    ),
    report,
    figures=True,
)
