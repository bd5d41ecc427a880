"""The report of a study: tables, figures and the numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from imgcl.evaluation import Estimate, EvaluationResult
from imgcl.studies.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {
    "gbt": "GBT",
    "grace": "GRACE",
    "bgrl": "BGRL",
    "dgi": "DGI",
    "mvgrl": "MVGRL",
    "infograph": "InfoGraph",
    "cca-ssg": "CCA-SSG",
    "vicreg": "VICReg",
    "graphmae": "GraphMAE",
    "amazon-computers": "Amazon-Computers",
    "amazon-photo": "Amazon-Photo",
    "wiki-cs": "Wiki-CS",
    "dblp": "DBLP",
    "cora": "Cora",
    "citeseer": "CiteSeer",
    "pubmed": "PubMed",
    "facebook-pages": "Facebook pages",
    "tolokers": "Tolokers",
    "amazon-fraud": "Amazon fraud",
    "uai2010": "UAI2010",
    "johns-hopkins": "Johns Hopkins",
    "lastfm-asia": "LastFM Asia",
    "wiki-cs-structure": "Wiki-CS, structure only",
    "imgcl": "ImGCL",
}
CSV_METRICS = ("accuracy", "head", "middle", "tail", "macro_f1", "g_mean", "ece")


@dataclass(frozen=True)
class Table:
    """A table of text cells."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True)
class Report:
    """A study's tables and figures.

    Attributes:
        title: of the page.
        text: paragraphs that say what the tables show and how to read them.
        tables: in order.
        figures: by file name; each is drawn when it is written.
        data: the numbers behind them, one row per value, for the CSV file.
    """

    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    data: Sequence[dict[str, Any]] = ()


def titled(name: str) -> str:
    """What a method or data set is called in tables."""
    from imgcl.baselines import BASELINES

    return TITLES.get(name) or (BASELINES[name].title if name in BASELINES else name)


def interval(estimate: Estimate) -> str:
    """The 95 % interval in percent.

    Example:
        >>> interval(Estimate(0.5, 0.1, (0.45, 0.55)))
        '45.0 to 55.0'
    """
    return "-" if estimate.ci95 is None else "{:.1f} to {:.1f}".format(*(100 * end for end in estimate.ci95))


def accuracy_and_tail(evaluation: EvaluationResult, classifier: str) -> str:
    """Accuracy of a classifier, in brackets tail recall; ``-`` where it was not evaluated."""
    if classifier not in evaluation.classifiers:
        return "-"
    tail = evaluation[classifier, "tail"].mean
    return evaluation[classifier, "accuracy"].percent() + ("" if tail is None else f" ({100 * tail:.1f})")


def ceiling_accuracy(evaluation: EvaluationResult) -> str:
    """Accuracy of the ceiling; ``-`` without one."""
    return "-" if evaluation.ceiling is None else evaluation["ceiling", "accuracy"].percent()


def evaluation_rows(results: Results) -> list[dict[str, Any]]:
    """Every group, classifier and metric as a row: mean, sd and interval as fractions."""
    rows = []
    for labels in results.groups():
        evaluation = results.evaluation(**labels)
        if evaluation is None:
            continue
        names = [*evaluation.classifiers, *(["ceiling"] if evaluation.ceiling is not None else [])]
        for classifier in names:
            for metric in CSV_METRICS:
                found = evaluation[classifier, metric]
                low, high = found.ci95 or (None, None)
                cells = len(evaluation.of(classifier).splits)
                rows.append(
                    {**labels, "classifier": classifier, "metric": metric, "cells": cells}
                    | {"mean": found.mean, "sd": found.sd, "low": low, "high": high}
                )
    return rows


def grid_table(
    results: Results,
    groups: Sequence[dict[str, Any]],
    columns: Sequence[tuple[str, str]],
    title: str,
    name: Callable[[dict[str, Any]], Sequence[str]],
    first: Sequence[str],
) -> Table:
    """A table with one row per group and one column per (classifier, metric).

    Args:
        results: of the study.
        groups: labels of the rows.
        columns: classifier and metric.
        title: of the table.
        name: what to call a group, one text per column of ``first``.
        first: headers of the first columns.
    """
    rows = []
    for labels in groups:
        evaluation = results.evaluation(**labels)
        if evaluation is None:
            rows.append([*name(labels), *("open" for _ in columns)])
            continue
        cells = [
            evaluation[classifier, metric].percent() if classifier in evaluation.classifiers else "-"
            for classifier, metric in columns
        ]
        rows.append([*name(labels), *cells])
    return Table(title, [*first, *(f"{classifier}: {metric}" for classifier, metric in columns)], rows)


def attribution_rows(results: Results, **labels: str) -> dict[str, dict[str, Estimate]] | None:
    """The 2 x 2 of a group with ImGCL and the same without; ``None`` while one of them is open."""
    from imgcl.evaluation import attribution

    pair = results.against_plain({**labels, "balance": "imgcl"})
    if pair is None or any(name not in pair[0].classifiers for name in ("plain", "pbs")):
        return None
    return attribution(*pair, metrics=("accuracy", "tail")).effects
