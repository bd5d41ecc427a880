"""Figure 5: the number of clusters and the number of labellings, GBT with ImGCL on Amazon-Computers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from imgcl.studies.grid import StudySpec
from imgcl.studies.report import Report, evaluation_rows, grid_table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLUSTERS = (4, 6, 8, 10, 12, 14, 16)
LABELLINGS = (2, 4, 6, 8, 10, 12)
PARAMETERS = {"n_clusters": "clusters", "labellings": "labellings"}
BALANCES = {
    "none": "none",
    **{f"n_clusters={value}": f"n_clusters={value}" for value in CLUSTERS},
    **{f"labellings={value}": f"labellings={value}" for value in LABELLINGS},
}
TEXT = (
    "Accuracy and tail recall in percent, mean ± standard deviation over splits x seeds, when one setting of ImGCL "
    "moves and the others stay at their defaults (as many clusters as classes, 8 labellings)."
)


def report(results: Results) -> Report:
    """A table, and a figure for each of the two settings."""
    tables, figures = [], {}
    columns = [(classifier, metric) for classifier in ("plain", "pbs") for metric in ("accuracy", "tail")]
    for dataset in results.values("dataset"):
        for method in results.values("method"):
            groups = [each for each in results.groups() if (each["dataset"], each["method"]) == (dataset, method)]
            title = f"{titled(method)} on {titled(dataset)}"
            tables.append(grid_table(results, groups, columns, title, lambda g: [g["balance"]], ["setting"]))
            for parameter in PARAMETERS:
                if points := _points(results, dataset, method, parameter):
                    plain = results.evaluation(dataset=dataset, method=method, balance="none")
                    name = f"sensitivity-{dataset}-{method}-{PARAMETERS[parameter]}"
                    figures[name] = partial(_figure, PARAMETERS[parameter], points, plain)
    return Report("Sensitivity", [TEXT], tables, figures, evaluation_rows(results))


def _points(results: Results, dataset: str, method: str, parameter: str) -> dict[int, Any]:
    found = {}
    for balance in results.values("balance"):
        name, _, value = balance.partition("=")
        evaluation = results.evaluation(dataset=dataset, method=method, balance=balance) if name == parameter else None
        if evaluation is not None:
            found[int(value)] = evaluation
    return found


def _figure(xlabel: str, points: dict[int, Any], plain: Any) -> Figure:
    from imgcl.plots import sensitivity

    lines = {f"{metric}, {name}": (name, metric) for name in ("plain", "pbs") for metric in ("accuracy", "tail")}
    estimates = {line: [each[key] for each in points.values()] for line, key in lines.items()}
    return sensitivity(
        list(points),
        {line: [each.mean for each in found] for line, found in estimates.items()},
        {line: [each.ci95 or (each.mean,) * 2 for each in found] for line, found in estimates.items()},
        xlabel=xlabel,
        ylabel="recall",
        reference=None if plain is None else {"accuracy, without ImGCL, pbs": plain["pbs", "accuracy"].mean},
    )


STUDY = Study(StudySpec(name="sensitivity", datasets=("amazon-computers",), balances=BALANCES), report)
