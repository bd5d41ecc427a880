"""Ours: the same comparison when labels are few: 1 % and 0.5 % of the nodes, and five per class."""

from __future__ import annotations

from imgcl.evaluation import compare
from imgcl.studies.grid import StudySpec
from imgcl.studies.report import Report, Table, evaluation_rows, grid_table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.long_tail import BALANCES as SELECTIONS

BALANCES = {name: SELECTIONS[name] for name in ("none", "uniform", "imgcl")}
IMBALANCES = ("exp:100@1%", "exp:100@0.5%", "exp:1@5/class")
CLASSIFIERS = ("plain", "reweight", "logit-adjust", "best")
METRICS = ("accuracy", "tail")
TEXT = (
    "Training labels are 1 % or 0.5 % of the nodes, a hundred times fewer for the rarest class than for the commonest, "
    "or five of every class; test nodes are balanced. Pre-training is that of the main table: plain, on a random tenth "
    "of the rows (uniform), or with ImGCL. Percent, mean ± standard deviation over splits x seeds. `best` is whichever "
    "of `plain`, `reweight` and `logit-adjust` the validation nodes prefer."
)


def report(results: Results) -> Report:
    """Per graph: figures of every selection, and the gains over the plain pre-training."""
    tables = []
    columns = [(classifier, metric) for classifier in ("plain", "best") for metric in METRICS]
    for dataset in results.values("dataset"):
        groups = [each for each in results.groups() if each["dataset"] == dataset]
        groups.sort(key=lambda group: IMBALANCES.index(group["imbalance"]))
        name = titled(dataset)
        tables.append(
            grid_table(
                results,
                groups,
                columns,
                name,
                lambda g: [g["imbalance"], titled(g["balance"])],
                ["labels", "selection"],
            )
        )
        rows = [row for group in groups if (row := _gains(results, group)) is not None]
        header = ["labels", "selection", *(f"{classifier}: {metric}" for classifier, metric in columns)]
        note = "Differences in percentage points on the same splits and seeds, with 95 % interval."
        tables.append(Table(f"{name}: gain over no selection", header, rows, note))
    return Report("Few labels", [TEXT], tables, {}, evaluation_rows(results))


def _gains(results: Results, group: dict[str, str]) -> list[str] | None:
    pair = results.against_plain(group)
    if pair is None:
        return None
    effects = compare(*pair, classifiers=("plain", "best"), metrics=METRICS)
    cells = [effects[classifier, metric].points() for classifier in ("plain", "best") for metric in METRICS]
    return [group["imbalance"], titled(group["balance"]), *cells]


STUDY = Study(
    StudySpec(
        name="starved",
        datasets=("amazon-photo", "amazon-computers", "dblp"),
        balances=BALANCES,
        imbalances=IMBALANCES,
        classifiers=CLASSIFIERS,
    ),
    report,
)
