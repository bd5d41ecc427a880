"""The page of the study: figures per graph, labels saved, where chosen labels lose, and what a search finds."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imgcl.studies.grid import NONE
from imgcl.studies.report import Report, Table, titled
from imgcl.studies.results import Results
from imgcl_lab.labelling.rounds import PER_CLASS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS = {"macro": "macro recall", "tail": "tail recall", "found": "classes found"}
CHOSEN_ON = ("amazon-photo", "cora", "tolokers")
DRAWN = ("random", "pagerank", "featprop", "margin", "age", "cover", "auto")
OURS = ("cover", "auto")
MARGIN = 0.01
YELLOW = "#F0E442"  # too pale for a line
TEXT = (
    "Nodes are labelled by a strategy, a class-weighted logistic regression (C = 10) is trained on them, and recall is "
    "taken over all other nodes of the graph, in percent: mean over classes (macro), mean over tail classes, share of "
    "the classes among the labels. Strategies that need no labels choose each budget at once. The others begin with "
    "two labels per class (random, or `cover` for those of imgcl) and go on in rounds of one node per class; `auto` "
    "goes from each budget to the next in one round. GBT embeddings with the preset `auto`, two pre-trainings, five "
    "selections each; ± is the standard error over the ten. `own`: the nodes' own features, `both`: side by side with "
    "the embedding; choosing and classifying use the same rows. The constants of `uncertain` and `auto` were chosen on "
    "half of the nodes of Amazon-Photo, Cora and tolokers; the other graphs confirm them."
)

Curve = dict[str, NDArray[np.float64]]  # labels (B,), and each metric (seeds, B)


def report(results: Results) -> Report:
    """Tables and curves of every graph that has results."""
    datasets = [name for name in results.values("dataset") if curve(results, name, "random") is not None]
    tables = [saved_table(results, datasets), losses_table(results, datasets)]
    tables += [search_table(results)] if results.find(search=True) else []
    tables += [graph_table(results, dataset) for dataset in datasets]
    figures: dict[str, Any] = {f"labelling-{dataset}": partial(_figure, results, dataset) for dataset in datasets}
    data = [row for dataset in datasets for row in _data(results, dataset)]
    return Report("Which nodes to label", [TEXT], tables, figures, data)


def curve(results: Results, dataset: str, strategy: str, rows: str = "embedding", balance: str = NONE) -> Curve | None:
    """Every seed of a strategy; ``None`` while nothing is finished."""
    points = results.find(dataset=dataset, strategy=strategy, rows=rows, balance=balance)
    found = [each for p in points if not p.get("search") and (made := results.result(p)) for each in made["curves"]]
    if not found:
        return None
    metrics = {name: np.array([each[name] for each in found], dtype=np.float64) for name in METRICS}
    return {"labels": np.array(found[0]["labels"], dtype=np.float64), **metrics}


def labels_needed(budgets: NDArray[np.float64], reached: NDArray[np.float64], wanted: float) -> float | None:
    """Labels with which a rising curve first reaches a value, between budgets on the logarithm; ``None``: never.

    Example:
        >>> labels_needed(np.array([10.0, 40.0]), np.array([0.5, 0.7]), 0.6)
        20.0
    """
    enough = np.flatnonzero(reached >= wanted)
    if not len(enough):
        return None
    span = slice(max(0, enough[0] - 1), enough[0] + 1)
    return round(float(np.exp(np.interp(wanted, reached[span], np.log(budgets[span])))), 4)


def saved_table(results: Results, datasets: list[str]) -> Table:
    """How many random labels have the tail recall of chosen ones."""
    rows = []
    for dataset in datasets:
        random = curve(results, dataset, "random")
        for strategy in OURS:
            chosen = curve(results, dataset, strategy)
            if random is None or chosen is None:
                continue
            cells = [_saved(random, chosen, i) for i in range(len(chosen["labels"]))]
            rows.append([titled(dataset), strategy, *cells, *["-"] * (len(PER_CLASS) - len(cells))])
    header = ["graph", "strategy", *(f"{n} per class" for n in PER_CLASS)]
    note = (
        "Random labels with the same mean tail recall, as a multiple; > : random does not reach it with 32 per class."
    )
    return Table("Labels saved", header, rows, note)


def _saved(random: Curve, chosen: Curve, i: int) -> str:
    needed = labels_needed(random["labels"], random["tail"].mean(axis=0), float(chosen["tail"][:, i].mean()))
    labels = chosen["labels"][i]
    return f"> {random['labels'][-1] / labels:.1f}" if needed is None else f"{needed / labels:.1f}"


def losses_table(results: Results, datasets: list[str]) -> Table:
    """Where chosen labels are more than a point of macro recall below random ones."""
    rows = []
    for dataset in datasets:
        random = curve(results, dataset, "random")
        for strategy in (*OURS, "uncertain", "balanced"):
            chosen = curve(results, dataset, strategy)
            if random is None or chosen is None:
                continue
            difference = chosen["macro"].mean(axis=0) - random["macro"].mean(axis=0)
            for labels, value in zip(chosen["labels"], difference, strict=True):
                if value < -MARGIN:
                    rows.append([titled(dataset), strategy, f"{labels:.0f}", f"{100 * value:+.1f}"])
    note = "Strategies of imgcl; differences in points of macro recall. An empty table: nowhere."
    return Table("More than a point below random", ["graph", "strategy", "labels", "difference"], rows, note)


def search_table(results: Results) -> Table:
    """Nodes of the rarer class found within a number of looks."""
    rows = []
    for dataset in results.values("dataset"):
        for rows_of, strategy in product(("embedding", "both"), ("random", "search")):
            points = results.find(dataset=dataset, rows=rows_of, strategy=strategy, search=True)
            made = [results.result(point) for point in points]
            found = [each for result in made if result is not None for each in result["curves"]]
            if found:
                cells = [f"{np.mean([each[n] for each in found]):.0f}" for n in found[0]]
                rows.append([titled(dataset), rows_of, strategy, *cells])
    note = "`search`: 40 labels by `cover`, then the ten most probable nodes at a time. Means."
    return Table(
        "Nodes of the rarer class found", ["graph", "rows", "strategy", "50 looks", "100", "150", "200"], rows, note
    )


def graph_table(results: Results, dataset: str) -> Table:
    """Macro and tail recall of every strategy at every budget."""
    rows, labels = [], np.empty(0)
    for balance, kind, strategy in _combinations(results, dataset):
        found = curve(results, dataset, strategy, kind, balance)
        if found is None:
            continue
        labels = found["labels"]
        cells = [_cell(found, i) for i in range(len(labels))]
        rows.append([strategy, kind if balance == NONE else f"{kind}, ImGCL", *cells])
    chosen = " Constants were chosen on this graph." if dataset in CHOSEN_ON else ""
    note = f"Macro recall ± standard error (tail recall), share of classes found.{chosen}"
    return Table(titled(dataset), ["strategy", "rows", *(f"{n:.0f} labels" for n in labels)], rows, note)


def _combinations(results: Results, dataset: str) -> list[tuple[str, str, str]]:
    points = [point for point in results.find(dataset=dataset) if not point.get("search")]
    return list(dict.fromkeys((p["balance"], p["rows"], p["strategy"]) for p in points))


def _cell(found: Curve, i: int) -> str:
    macro, tail, classes = (found[name][:, i] for name in METRICS)
    error = macro.std(ddof=1) / np.sqrt(len(macro)) if len(macro) > 1 else 0.0
    return f"{100 * macro.mean():.1f} ± {100 * error:.1f} ({100 * tail.mean():.1f}), {100 * classes.mean():.0f} %"


def _figure(results: Results, dataset: str) -> Figure:
    from imgcl.plots.style import PAGE, drawing

    curves = {name: found for name in DRAWN if (found := curve(results, dataset, name)) is not None}
    with drawing(PAGE, 2.4) as figure:
        for axes, (metric, title) in zip(figure.subplots(1, len(METRICS)), METRICS.items(), strict=True):
            _draw_curves(axes, curves, metric)
            axes.set_xlabel("labels")
            axes.set_ylabel(f"{title} (%)")
        axes.legend()
    return figure


def _draw_curves(axes: Any, curves: dict[str, Curve], metric: str) -> None:
    from imgcl.plots.style import COLOURS, MARKERS

    seen = [colour for colour in COLOURS if colour != YELLOW]
    for k, (name, found) in enumerate(curves.items()):
        colour, marker = seen[k % len(seen)], MARKERS[k % len(MARKERS)]
        mean = 100 * found[metric].mean(axis=0)
        error = 100 * found[metric].std(axis=0) / np.sqrt(len(found[metric]))
        axes.plot(found["labels"], mean, marker=marker, color=colour, label=name)
        axes.fill_between(found["labels"], mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log", base=2)


def _data(results: Results, dataset: str) -> list[dict[str, Any]]:
    rows = []
    for balance, kind, strategy in _combinations(results, dataset):
        found = curve(results, dataset, strategy, kind, balance)
        for metric in () if found is None else METRICS:
            assert found is not None
            labels = {"dataset": dataset, "balance": balance, "rows": kind, "strategy": strategy, "metric": metric}
            for i, n in enumerate(found["labels"]):
                values = found[metric][:, i]
                rows.append({**labels, "labels": int(n), "mean": float(values.mean()), "sd": float(values.std())})
    return rows
