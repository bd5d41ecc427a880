"""Figure 1: how many labels each class has, how well it is served, and what the balanced selection drew."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from imgcl.studies.grid import StudySpec
from imgcl.studies.report import Report, Table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.per_class import class_means, class_sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNS = {"plain": ("none", "plain"), "pbs": ("none", "pbs"), "ImGCL, pbs": ("imgcl", "pbs")}
TEXT = (
    "Class sizes, training labels, accuracy of each class in percent (mean over splits x seeds), and the share of each "
    "true class among the rows that ImGCL selected at its first and at its last labelling (mean over seeds)."
)


def report(results: Results) -> Report:
    """A table and a figure per graph and method."""
    tables, figures, data = [], {}, []
    for dataset in results.values("dataset"):
        for method in results.values("method"):
            runs = _runs(results, dataset, method)
            if not runs:
                continue
            sizes, labels = class_sizes(results, dataset=dataset, method=method)
            evaluation = results.evaluation(dataset=dataset, method=method)
            names = () if evaluation is None else evaluation.class_names
            drawn = _drawn(results, dataset, method)
            columns = {**{f"accuracy: {name}": values for name, values in runs.items()}, **drawn}
            rows = [
                [names[k], str(sizes[k]), f"{labels[k]:g}", *(f"{100 * values[k]:.1f}" for values in columns.values())]
                for k in sorted(range(len(names)), key=lambda k: -sizes[k])
            ]
            tables.append(Table(f"{titled(method)} on {titled(dataset)}", ["class", "nodes", "labels", *columns], rows))
            figures[f"distribution-{dataset}-{method}"] = partial(_figure, labels, names, runs)
            data += [
                {"dataset": dataset, "method": method, "class": names[k], "nodes": sizes[k]}
                | {"training labels": labels[k], "quantity": column, "mean": float(values[k])}
                for column, values in columns.items()
                for k in range(len(names))
            ]
    return Report("Class distribution", [TEXT], tables, figures, data)


def _runs(results: Results, dataset: str, method: str) -> dict[str, Any]:
    found = {}
    for name, (balance, classifier) in RUNS.items():
        evaluation = results.evaluation(dataset=dataset, method=method, balance=balance)
        if evaluation is not None:
            found[name] = class_means(evaluation, classifier, "recall")
    return found


def _drawn(results: Results, dataset: str, method: str) -> dict[str, Any]:
    histories = [each["labellings"] for each in results.pretrainings(dataset=dataset, method=method, balance="imgcl")]
    if not histories:
        return {}
    return {
        f"selected, {name} labelling": np.mean([history[place]["true_drawn"] for history in histories], axis=0)
        for name, place in (("first", 0), ("last", -1))
    }


def _figure(labels: list[float], names: tuple[str, ...], runs: dict[str, Any]) -> Figure:
    from imgcl.plots import class_distribution

    return class_distribution(labels, class_names=list(names), accuracy=runs, ylabel="training labels")


STUDY = Study(StudySpec(name="distribution", datasets=("amazon-computers",)), report, figures=True)
