"""Ours: other forms of balanced pre-training, chosen on validation nodes of two graphs, confirmed on three others.

None of them helped and their settings are gone: the journal is of imgcl 0.1.0, and only its page is still drawn.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from imgcl._core.errors import InputError
from imgcl.evaluation import Effects, compare
from imgcl.studies.grid import NONE, Graphs, Point, StudySpec
from imgcl.studies.report import Report, Table, evaluation_rows, grid_table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHOOSE, CONFIRM = "choose", "confirm"
GRAPHS = {CHOOSE: ("amazon-photo", "cora"), CONFIRM: ("amazon-computers", "dblp", "citeseer")}
FORMS: dict[str, tuple[str, ...]] = {
    "gbt": (
        "fresh draws",
        "5 clusters per class",
        "10 clusters per class",
        "weighted rows",
        "balanced statistics",
        "statistics within",
        "prototypes",
        "curriculum",
        "spared edges",
    ),
    "grace": ("other negatives", "normalised negatives"),
}
CLASSIFIER = "best"
METRICS = ("accuracy", "tail")
TEXT = (
    "Every form changes one setting of ImGCL's balance, and `fraction=1` where it acts on all rows. GBT and GRACE with "
    "100 epochs and width 128, labels exp:100, the classifier that validation prefers (`best`). The choice uses "
    "validation nodes of Amazon-Photo and Cora only: half of them choose the classifier's setting, the other half "
    "measure. The chosen form is then measured once on test nodes of three other graphs, with other seeds and splits."
)


def gains(results: Results, stage: str, method: str, form: str) -> dict[str, Effects]:
    """What a form gains over the plain pre-training, by graph."""
    found = {}
    for dataset in GRAPHS[stage]:
        pair = results.against_plain({"stage": stage, "dataset": dataset, "method": method, "balance": form})
        if pair is not None:
            found[dataset] = compare(*pair, classifiers=(CLASSIFIER,), metrics=METRICS)
    return found


def score(results: Results, method: str, form: str) -> float | None:
    """What forms are chosen by: gain in accuracy plus gain in tail recall on validation nodes, mean over the graphs."""
    found = gains(results, CHOOSE, method, form)
    if not found:
        return None
    by_graph = [sum(effects[CLASSIFIER, metric].mean or 0.0 for metric in METRICS) for effects in found.values()]
    return float(np.mean(by_graph))


def choice(results: Results) -> tuple[str, str]:
    """Method and form with the best score; figures of the confirmation are not looked at."""
    scores = {(method, form): score(results, method, form) for method, forms in FORMS.items() for form in forms}
    return max(scores, key=lambda pair: -np.inf if (found := scores[pair]) is None else found)


def report(results: Results) -> Report:
    """Gains of all forms on validation nodes, and of the chosen one on test nodes."""
    tables = [_chosen_table(results, method) for method in FORMS]
    figures: dict[str, Any] = {"forms-choose": partial(_figure, results)}
    text = [TEXT]
    if confirmed := results.find(stage=CONFIRM):
        method, form = choice(results)
        text.append(f"Chosen: **{form}** ({titled(method)}).")
        tables += _confirmed_tables(results, confirmed[0]["method"])
    return Report("Other forms of balance", text, tables, figures, [_measured(row) for row in evaluation_rows(results)])


def _measured(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "measure": "validation" if row["dataset"] in GRAPHS[CHOOSE] else "test"}


def _chosen_table(results: Results, method: str) -> Table:
    columns = [(dataset, metric) for dataset in GRAPHS[CHOOSE] for metric in METRICS]
    rows = []
    for form in ("uniform", "imgcl", *FORMS[method]):
        found, total = gains(results, CHOOSE, method, form), score(results, method, form)
        cells = [
            found[dataset][CLASSIFIER, metric].points() if dataset in found else "open" for dataset, metric in columns
        ]
        rows.append([titled(form), *cells, "open" if total is None else f"{100 * total:+.1f}"])
    header = ["form", *(f"{titled(dataset)}: {metric}" for dataset, metric in columns), "score"]
    note = (
        "Gain over the plain pre-training on validation nodes, percentage points with 95 % interval; score: accuracy "
        "plus tail, mean of the two graphs."
    )
    return Table(f"{titled(method)}: the choice", header, rows, note)


def _confirmed_tables(results: Results, method: str) -> list[Table]:
    groups = [each for each in results.groups() if each["dataset"] in GRAPHS[CONFIRM] and each["method"] == method]
    columns = [(CLASSIFIER, metric) for metric in METRICS]
    figures = grid_table(
        results,
        groups,
        columns,
        f"{titled(method)}: the confirmation",
        lambda group: [titled(group["dataset"]), titled(group["balance"])],
        ["graph", "form"],
    )
    rows = []
    for form in dict.fromkeys(group["balance"] for group in groups if group["balance"] != NONE):
        for dataset, effects in gains(results, CONFIRM, method, form).items():
            cells = [effects[CLASSIFIER, metric].points() for metric in METRICS]
            rows.append([titled(dataset), titled(form), *cells, "yes" if helps(effects) else "no"])
    note = "On test nodes, over the plain pre-training. It helps: tail's interval is above 0, accuracy's not below."
    header = ["graph", "form", *METRICS, "helps"]
    return [figures, Table("Gain of the confirmed forms", header, sorted(rows), note)]


def helps(effects: Effects) -> bool:
    """Tail recall is up with its whole interval, and accuracy's interval is not below 0."""
    tail, accuracy = (effects[CLASSIFIER, metric].ci95 or (0.0, 0.0) for metric in ("tail", "accuracy"))
    return tail[0] > 0 and accuracy[1] >= 0


def _figure(results: Results) -> Figure:
    from imgcl.plots import effects as draw

    rows = {}
    for method, forms in FORMS.items():
        for form in ("uniform", "imgcl", *forms):
            found = gains(results, CHOOSE, method, form)
            rows[f"{titled(method)}: {titled(form)}"] = {
                f"{metric}, {titled(dataset)}": found[dataset][CLASSIFIER, metric].to_dict()
                if dataset in found
                else {"mean": None, "ci95": None}
                for dataset in GRAPHS[CHOOSE]
                for metric in METRICS
            }
    return draw(rows)


def points(spec: StudySpec, graphs: Graphs) -> list[Point]:
    """Nothing is left to compute."""
    raise InputError(
        "the study 'forms' cannot be run: the settings it compared were removed after imgcl 0.1.0, which made its "
        "journal (commit 1b040af610); imgcl study render forms --root docs/results/studies still draws its page"
    )


STUDY = Study(StudySpec(name="forms", datasets=("digits",), methods=tuple(FORMS)), report, points, figures=True)
