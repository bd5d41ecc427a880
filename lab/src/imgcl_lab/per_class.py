"""Figure 4: precision and recall of every class, GBT without and with ImGCL on Amazon-Computers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imgcl.evaluation import EvaluationResult
from imgcl.evaluation.metrics import precision, recall
from imgcl.studies.grid import StudySpec
from imgcl.studies.report import Report, Table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNS = (("none", "plain"), ("none", "pbs"), ("imgcl", "plain"), ("imgcl", "pbs"))
METRICS = {"recall": recall, "precision": precision}
TEXT = (
    "Recall and precision of every class in percent on balanced test nodes, mean over splits x seeds; classes stand "
    "from the largest to the smallest. The paper's left panel is the plain pre-training with the plain classifier "
    "(largest and smallest class: recall 82.0 and 4.1, precision 30.9 and 95.8), its right panel is ImGCL with `pbs` "
    "(precision of the largest class 81.2, recall of the smallest 88.2)."
)


def report(results: Results) -> Report:
    """A table and a figure per graph and method."""
    tables, figures, data = [], {}, []
    for dataset in results.values("dataset"):
        for method in results.values("method"):
            runs = {}
            for balance, classifier in RUNS:
                evaluation = results.evaluation(dataset=dataset, method=method, balance=balance)
                if evaluation is not None:
                    runs[balance, classifier] = evaluation
            if not runs:
                continue
            sizes, labels = class_sizes(results, dataset=dataset, method=method)
            means = {
                metric: {run: class_means(evaluation, run[1], metric) for run, evaluation in runs.items()}
                for metric in METRICS
            }
            names = next(iter(runs.values())).class_names
            tables.append(_table(f"{titled(method)} on {titled(dataset)}", names, sizes, labels, means))
            figures[f"per-class-{dataset}-{method}"] = partial(_figure, names, sizes, means, titled(method))
            data += [
                {"dataset": dataset, "method": method, "balance": run[0], "classifier": run[1], "metric": metric}
                | {"class": names[k], "nodes": sizes[k], "training labels": labels[k], "mean": float(values[k])}
                for metric, by_run in means.items()
                for run, values in by_run.items()
                for k in range(len(names))
            ]
    return Report("Per class", [TEXT], tables, figures, data)


def class_sizes(results: Results, **labels: Any) -> tuple[list[int], list[float]]:
    """Nodes and training labels of each class, from any finished evaluation of the group."""
    found = (results.result(point) for point in results.find(**labels))
    result = next(each for each in found if each is not None)
    return result["class_sizes"], result["train_sizes"]


def class_means(evaluation: EvaluationResult, classifier: str, metric: str) -> NDArray[np.float64]:
    """Mean of a per-class metric over splits x seeds."""
    return np.asarray(np.nanmean(METRICS[metric](evaluation.of(classifier).confusion), axis=0))


def _table(title: str, names: tuple[str, ...], sizes: list[int], labels: list[float], means: Any) -> Table:
    header = ["class", "nodes", "labels"]
    header += [f"{metric}: {titled(b)}, {c}" for metric in METRICS for b, c in means[metric]]
    rows = []
    for k in sorted(range(len(names)), key=lambda k: -sizes[k]):
        cells = [f"{100 * values[k]:.1f}" for metric in METRICS for values in means[metric].values()]
        rows.append([names[k], str(sizes[k]), f"{labels[k]:g}", *cells])
    return Table(title, header, rows)


def _figure(names: tuple[str, ...], sizes: list[int], means: Any, method: str) -> Figure:
    from imgcl.plots import per_class

    shown = {("none", "plain"): f"{method}, plain", ("none", "pbs"): f"{method}, pbs"}
    shown |= {("imgcl", "pbs"): f"{method} + ImGCL, pbs"}
    by_metric = {
        metric: {title: means[metric][run] for run, title in shown.items() if run in means[metric]}
        for metric in METRICS
    }
    return per_class(by_metric["recall"], by_metric["precision"], class_names=list(names), sizes=sizes)


STUDY = Study(StudySpec(name="per-class", datasets=("amazon-computers",)), report, figures=True)
