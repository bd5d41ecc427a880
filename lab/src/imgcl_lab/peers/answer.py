"""What to use with many, few and very few labels of rare classes: one sentence for each, from the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from imgcl.studies.results import Results
from imgcl_lab.peers.rows import EMBEDDING, Row, found

REGIMES = {
    "imgcl": "With many labels (10 % of the nodes, `imgcl`)",
    "step:10": "With two labels in each rare class (`step:10`)",
    "step:100": "With one label in each rare class (`step:100`)",
}
Cells = list[Mapping[str, Any]]


def answers(results: Results, rows: Sequence[Row], graphs: Sequence[str]) -> list[str]:
    """A sentence for every regime that has a graph on which all methods are finished."""
    found_of = {protocol: _complete(results, rows, graphs, protocol) for protocol in REGIMES}
    return [_sentence(REGIMES[protocol], known) for protocol, known in found_of.items() if next(iter(known.values()))]


def _complete(results: Results, rows: Sequence[Row], graphs: Sequence[str], protocol: str) -> dict[Row, Cells]:
    """What every row gave on the graphs where all rows are finished."""
    by_row: dict[Row, Cells] = {row: [] for row in rows}
    for name in graphs:
        known = [found(results, name, row, protocol) for row in rows]
        if all(each is not None for each in known):
            for row, each in zip(rows, known, strict=True):
                by_row[row] += [] if each is None else [each]
    return by_row


def _sentence(regime: str, known: Mapping[Row, Cells]) -> str:
    """The best of either kind by mean balanced accuracy over the graphs, with tail recall and costs."""
    graphs = len(next(iter(known.values())))
    ours = _best(known, lambda row: row.name == EMBEDDING)
    theirs = _best(known, lambda row: row.name != EMBEDDING)
    where = "one graph" if graphs == 1 else f"{graphs} graphs"
    return (
        f"{regime}, mean over {where}: {_figures(ours, known)}. The supervised network that is best by these figures "
        f"themselves: {_figures(theirs, known)}."
    )


def _best(known: Mapping[Row, Cells], wanted: Callable[[Row], bool]) -> Row:
    return max(filter(wanted, known), key=lambda row: mean(known[row], "balanced_accuracy"))


def _figures(row: Row, known: Mapping[Row, Cells]) -> str:
    cells = known[row]
    accuracy, tail = mean(cells, "balanced_accuracy"), mean(cells, "tail")
    seconds = float(np.mean([each["seconds"] / len(each["values"]["accuracy"]) for each in cells]))
    return f"{row.title} {100 * accuracy:.1f} (tail {100 * tail:.1f}, {seconds:.1f} s a split)"


def mean(cells: Cells, metric: str) -> float:
    """The mean over graphs of the means over splits."""
    return float(np.mean([np.mean(each["values"][metric]) for each in cells]))
