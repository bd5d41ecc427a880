"""An evaluation by periods: how well each was predicted from what came before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from imgcl._core.errors import InputError
from imgcl._core.terminal import printable
from imgcl.evaluation.render import align
from imgcl.evaluation.results import EvaluationResult
from imgcl.graph.time import NodeTime
from imgcl.imbalance.periods import PERIODS, Period, time_splits

METRICS = {"accuracy": "accuracy", "tail": "tail", "macro_f1": "macro-F1", "auprc": "AUPRC"}
LATER = (
    "classifiers were trained on labels of earlier nodes alone; the encoder saw all edges and features of its graph: "
    "import with `as_of` and pre-train on that to hide later edges too"
)


def periods_of(split: str, time: NodeTime | None, y: Any, random_state: int = 0) -> list[Period]:
    """The periods that ``time:COLUMN`` or ``time:COLUMN:NUMBER`` means.

    Args:
        split: the text.
        time: the times of the nodes, if the graph has some.
        y: labels of the nodes.
        random_state: seed of the validation nodes.

    Raises:
        InputError: for another text, or a column that the graph does not keep.

    Example:
        >>> import numpy as np
        >>> joined = NodeTime("year", np.repeat([2015.0, 2016.0, 2017.0], 20), dates=False)
        >>> [period.first for period in periods_of("time:year:3", joined, np.tile([0, 1], 30))]
        [2016.0, 2017.0]
    """
    kind, _, rest = split.partition(":")
    column, _, number = rest.rpartition(":") if rest.rpartition(":")[2].isdigit() else (rest, "", "")
    if kind != "time" or not column:
        raise InputError(f"`split` is {split!r}: write time:COLUMN, or time:COLUMN:5 for five periods")
    if time is None or time.column != column:
        known = "none" if time is None else repr(time.column)
        raise InputError(
            f"the graph keeps no times {column!r} of its nodes (it has {known}): import it with `node_time` {column}"
        )
    return time_splits(time.values, y, int(number) if number else PERIODS, random_state)


def period_rows(result: EvaluationResult, periods: Sequence[Period], time: NodeTime) -> list[dict[str, Any]]:
    """One row for each period and classifier, as plain values; fractions in 0..1.

    Args:
        result: of an evaluation on the splits of the periods, in their order.
        periods: the periods.
        time: the times, which say how to write one.
    """
    rows = []
    for i, period in enumerate(periods):
        facts = {
            "first": time.text(period.first),
            "last": time.text(period.last),
            "train_nodes": len(period.split.train) + len(period.split.val),
            "test_nodes": len(period.split.test),
        }
        rows += [facts | {"classifier": name} | _metrics(result, name, i) for name in result.classifiers]
    return rows


def period_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows of :func:`period_rows` for people, in percent."""
    shown = [metric for metric in METRICS if any(row.get(metric) is not None for row in rows)]
    head = ["tested on", "trained on", "test nodes", "classifier", *(METRICS[metric] for metric in shown)]
    lines = [
        [
            f"{row['first']} to {row['last']}",
            f"{row['train_nodes']:,} earlier",
            f"{row['test_nodes']:,}",
            row["classifier"],
            *("-" if row.get(metric) is None else f"{100 * row[metric]:.1f}" for metric in shown),
        ]
        for row in rows
    ]
    return printable("\n".join(["by period, percent", *align(head, lines), LATER]))


def _metrics(result: EvaluationResult, classifier: str, cell: int) -> dict[str, float | None]:
    values = result.of(classifier).values(result.groups)
    found = {metric: float(values[metric][cell]) for metric in METRICS if metric in values}
    return {metric: None if math.isnan(value) else value for metric, value in found.items()}
