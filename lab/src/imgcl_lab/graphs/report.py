"""The page: the default against features on every graph, what was to be reached, then all rows."""

from __future__ import annotations

from typing import Any

from imgcl.studies.grid import StudySpec
from imgcl.studies.report import CSV_METRICS, Report, Table, interval, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.graphs.acceptance import acceptance, is_above, is_below, listed
from imgcl_lab.graphs.figures import BEST, Found, against_reference, found
from imgcl_lab.graphs.rows import (
    ALONE,
    DEFAULT,
    DEVELOPMENT,
    FEATURES,
    GRAPHS,
    METHODS,
    OWN,
    PAIR,
    PROPAGATED,
    WALKED,
    WALKS,
    Row,
    label,
    points,
)

CLASSIFIERS = ("plain", BEST)
MISSING = "not run"
BLOCKS = {"own": "own", "neighbours": "propagated"}  # as parts of a row's name
TEXT = (
    "Own features (standardised, or 256 singular vectors of wide ones), propagated features (S^2 X, 256 singular "
    "vectors, not centred), every method alone, every method with own and propagated features beside it, and two "
    "methods side by side. Where there are several blocks, validation nodes choose their weights. The default "
    "of `imgcl pretrain` and `imgcl evaluate` is GBT with the preset `auto`, which stops by itself, beside own and "
    "propagated features; the other methods have their preset `fast`. Pre-training is plain in this study, without "
    "ImGCL's balanced selection. Percent on balanced test nodes, mean ± standard deviation over splits x seeds; in "
    "brackets: tail recall. Classifier `best` is whichever of `plain`, `reweight` and `logit-adjust` the validation "
    "nodes prefer."
)
ROLES = (
    "† Development graph: settings of the default were chosen on its validation nodes. The other graphs confirm. The "
    "better reference is the one of own and propagated features with the higher mean on the test nodes themselves, a "
    "choice that nobody has in practice."
)
NO_FEATURES = (
    "LastFM Asia and Wiki-CS, structure only, have no features: own features are structural ones there, made from "
    "walks and degrees. Wiki-CS, structure only, is not the graph of the paper's table, which has 300 features."
)
FRAUD = "The features of Amazon fraud are said to contain the votes that define its classes."


def report(results: Results) -> Report:
    """The page."""
    datasets = results.values("dataset")
    tables = [overview(results), acceptance(results), _overview_plain(results), _graphs(results)]
    tables += [_matrix(results, "Methods alone", ()), _matrix(results, "Methods with own and propagated", FEATURES)]
    tables += [_rows_table(results, dataset) for dataset in datasets]
    text = [*_summary(results), TEXT, f"{NO_FEATURES} {FRAUD}"]
    return Report("Thirteen graphs", text, tables, data=_data(results))


def _summary(results: Results) -> list[str]:
    """What the default loses and gains, losses first."""
    gains = {name: against_reference(results, name, DEFAULT) for name in results.values("dataset")}
    known = {name: gain for name, gain in gains.items() if gain is not None}
    if not known:
        return []
    below = {name: gain for name, gain in known.items() if is_below(gain)}
    above = sum(map(is_above, known.values()))
    lost = (
        f"more than 0.5 points below the better of own and propagated features on {len(below)} of {len(known)} graphs"
    )
    where = f" ({listed(below)})" if below else ""
    return [f"With classifier `best`, the default is {lost}{where}, and 0.5 or more above both on {above}."]


def overview(results: Results) -> Table:
    """One line per graph with the best classifier: references, embedding alone, default. The table of the README."""
    return _against(results, "The default against features", BEST, ROLES)


def _overview_plain(results: Results) -> Table:
    return _against(results, "The same with a plain classifier", "plain", "")


def _against(results: Results, title: str, classifier: str, note: str) -> Table:
    rows = [OWN, PROPAGATED, ALONE, DEFAULT]
    lines = []
    for dataset in results.values("dataset"):
        law = str(results.find(dataset=dataset)[0]["imbalance"])
        gain = against_reference(results, dataset, DEFAULT, classifier)
        cells = [_accuracy(found(results, dataset, row), classifier) for row in rows]
        lines.append([marked(dataset), law, *cells, MISSING if gain is None else gain.points()])
    header = ["graph", "labels", *map(row_title, rows), "last - better of the first two"]
    return Table(title, header, lines, note)


def marked(dataset: str) -> str:
    """The title of a graph, with the mark of development graphs."""
    return titled(dataset) + (" †" if dataset in DEVELOPMENT else "")


def row_title(row: Row) -> str:
    """What a row is called in tables.

    Example:
        >>> row_title(("own",)), row_title(("gbt", "own", "neighbours"))
        ('own features', 'GBT + own + propagated')
    """
    if row in (OWN, PROPAGATED):
        return f"{BLOCKS[row[0]]} features"
    return " + ".join(BLOCKS.get(name) or titled(name) for name in row)


def _accuracy(row: Found | None, classifier: str) -> str:
    if row is None:
        return MISSING
    tail = row.estimate(classifier, "tail").mean
    return row.estimate(classifier, "accuracy").percent() + ("" if tail is None else f" ({100 * tail:.1f})")


def _graphs(results: Results) -> Table:
    lines = []
    for dataset in results.values("dataset"):
        own = found(results, dataset, OWN)
        facts = {} if own is None else next(iter(own.by_seed.values()))["graph"]
        sizes = [f"{facts[key]:,}" if facts else MISSING for key in ("nodes", "edges", "features", "classes")]
        epochs = [str(each["epochs"]) for each in results.pretrainings(dataset=dataset, row=label(ALONE))]
        role = "development" if dataset in DEVELOPMENT else "confirmation"
        lines.append([titled(dataset), *sizes, role, ", ".join(epochs) or MISSING])
    header = ["graph", "nodes", "edges", "features", "classes", "role", "epochs of the default, by seed"]
    return Table("The graphs", header, lines)


def _matrix(results: Results, title: str, beside: Row) -> Table:
    """Accuracy of every method on every graph with the best classifier, means alone."""
    datasets = results.values("dataset")
    every = [(method, *beside) for method in METHODS] + ([PAIR] if beside else [])
    rows = [row for row in every if any(found(results, dataset, row) for dataset in datasets)]
    lines = [[marked(name), *(_mean(found(results, name, row)) for row in rows)] for name in datasets]
    header = ["graph", *("+".join(titled(name) for name in row if name not in FEATURES) for row in rows)]
    return Table(title, header, lines, "Accuracy with classifier `best`.")


def _mean(row: Found | None) -> str:
    mean = None if row is None else row.estimate(BEST, "accuracy").mean
    return MISSING if mean is None else f"{100 * mean:.1f}"


def rows_of(dataset: str) -> list[Row]:
    """The rows that a graph's own table can have, in their order."""
    walks = [(walk,) for walk in WALKS] if dataset in WALKED else []
    both = [row for method in METHODS for row in ((method,), (method, *FEATURES))]
    return [OWN, PROPAGATED, *walks, *both, PAIR]


def _rows_table(results: Results, dataset: str) -> Table:
    known = {row: each for row in rows_of(dataset) if (each := found(results, dataset, row)) is not None}
    lines = [[row_title(row), *_cells(results, dataset, row, each)] for row, each in known.items()]
    figures = [f"{name}: {part}" for name in CLASSIFIERS for part in ("accuracy", "95 %", "tail", "95 %")]
    header = ["row", *figures, "best: gain over the better reference", "weights of the blocks", "cells"]
    law = results.find(dataset=dataset)[0]["imbalance"]
    return Table(
        titled(dataset),
        header,
        lines,
        f"Labels `{law}`. Weights: of `best`, percent, mean over cells (seeds x splits).",
    )


def _cells(results: Results, dataset: str, row: Row, known: Found) -> list[str]:
    cells = []
    for classifier in CLASSIFIERS:
        for metric in ("accuracy", "tail"):
            figure = known.estimate(classifier, metric)
            cells += [figure.percent(), interval(figure)]
    gain = None if row in (OWN, PROPAGATED) else against_reference(results, dataset, row)
    return [*cells, "-" if gain is None else gain.points(), _weights(known, row), str(known.cells)]


def _weights(known: Found, row: Row) -> str:
    if len(row) == 1:
        return "-"
    shares = [result["weights"][BEST] for result in known.by_seed.values()]
    means = {name: 100 * sum(share[name] for share in shares) / len(shares) for name in row}
    return ", ".join(f"{BLOCKS.get(name) or titled(name)} {mean:.0f}" for name, mean in means.items())


def _data(results: Results) -> list[dict[str, Any]]:
    """Every row, classifier and metric: mean, sd and interval as fractions."""
    lines = []
    for dataset in results.values("dataset"):
        law = results.find(dataset=dataset)[0]["imbalance"]
        for row in rows_of(dataset):
            known = found(results, dataset, row)
            facts = {"dataset": dataset, "imbalance": law, "row": label(row)}
            lines += [] if known is None else [{**facts, **line} for line in _numbers(known)]
    return lines


def _numbers(known: Found) -> list[dict[str, Any]]:
    lines = []
    for classifier in CLASSIFIERS:
        for metric in CSV_METRICS:
            figure = known.estimate(classifier, metric)
            low, high = figure.ci95 or (None, None)
            numbers = {"mean": figure.mean, "sd": figure.sd, "low": low, "high": high}
            lines.append({"classifier": classifier, "metric": metric, "cells": known.cells, **numbers})
    return lines


STUDY = Study(
    StudySpec(
        name="graphs",
        datasets=GRAPHS,
        methods=METHODS,
        balances={"none": "none"},
        imbalances=("natural",),
        classifiers=CLASSIFIERS,
        seeds=2,
        splits=10,
    ),
    report,
    points,
)
