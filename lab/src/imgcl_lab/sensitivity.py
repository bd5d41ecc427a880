"""Figure 5: the number of clusters and the number of labellings, GBT with ImGCL on Amazon-Computers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from imgcl._core.errors import InputError
from imgcl.plots.style import COLOURS, COLUMN, MARKERS, checked, drawing, plain
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
                    without = results.evaluation(dataset=dataset, method=method, balance="none")
                    name = f"sensitivity-{dataset}-{method}-{PARAMETERS[parameter]}"
                    figures[name] = partial(_figure, PARAMETERS[parameter], points, without)
    return Report("Sensitivity", [TEXT], tables, figures, evaluation_rows(results))


def _points(results: Results, dataset: str, method: str, parameter: str) -> dict[int, Any]:
    found = {}
    for balance in results.values("balance"):
        name, _, value = balance.partition("=")
        evaluation = results.evaluation(dataset=dataset, method=method, balance=balance) if name == parameter else None
        if evaluation is not None:
            found[int(value)] = evaluation
    return found


def _figure(xlabel: str, points: dict[int, Any], without: Any) -> Figure:
    shown = {f"{metric}, {name}": (name, metric) for name in ("plain", "pbs") for metric in ("accuracy", "tail")}
    estimates = {line: [each[key] for each in points.values()] for line, key in shown.items()}
    return lines(
        list(points),
        {line: [each.mean for each in found] for line, found in estimates.items()},
        {line: [each.ci95 or (each.mean,) * 2 for each in found] for line, found in estimates.items()},
        xlabel=xlabel,
        ylabel="recall",
        reference=None if without is None else {"accuracy, without ImGCL, pbs": without["pbs", "accuracy"].mean},
    )


def lines(
    values: ArrayLike,
    means: Mapping[str, ArrayLike],
    intervals: Mapping[str, ArrayLike] | None = None,
    *,
    xlabel: str,
    ylabel: str = "accuracy",
    reference: Mapping[str, float] | None = None,
) -> Figure:
    """One line per name over the values of a parameter, the interval as a band around it.

    Args:
        values: of the parameter, (n,).
        means: of the result at each value, by name.
        intervals: lower and upper ends, (n, 2), by the same names.
        xlabel: the parameter.
        ylabel: the result.
        reference: level lines by name, for example the plain method.

    Example:
        >>> figure = lines([2, 4, 8], {"tail": [0.5, 0.6, 0.6]}, xlabel="labellings")
        >>> figure.axes[0].get_xlabel()
        'labellings'
    """
    x = np.asarray(values, dtype=np.float64)
    if not means or not len(x):
        raise InputError("a sensitivity plot needs at least one line with at least one point")
    with drawing(COLUMN, 2.1) as figure:
        axis = figure.subplots()
        for i, (name, given) in enumerate(means.items()):
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            axis.plot(x, checked(f"means[{name!r}]", given, x.shape), color=colour, marker=marker, label=plain(name))
            if intervals is not None and name in intervals:
                low, high = checked(f"intervals[{name!r}]", intervals[name], (len(x), 2)).T
                axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        for name, level in (reference or {}).items():
            axis.axhline(level, color="#555555", linestyle="--", linewidth=0.9, label=plain(name))
        axis.set(xlabel=xlabel, ylabel=ylabel)
        axis.set_xticks(x)
        axis.grid(axis="y")
        handles, labels = axis.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(4, len(labels)))
    return figure


STUDY = Study(StudySpec(name="sensitivity", datasets=("amazon-computers",), balances=BALANCES), report, figures=True)
