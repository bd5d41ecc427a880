"""Results as tables: text for a terminal, Markdown for a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imgcl._core.terminal import printable

if TYPE_CHECKING:
    from imgcl.evaluation.results import EvaluationResult

COLUMNS = {
    "accuracy": "accuracy",
    "head": "head",
    "middle": "middle",
    "tail": "tail",
    "macro_f1": "macro-F1",
    "g_mean": "G-mean",
    "ece": "ECE",
}


def text_table(result: EvaluationResult) -> str:
    """Mean and standard deviation in percent, one line per classifier, the ceiling below."""
    lines = align(["classifier", *COLUMNS.values()], _rows(result))
    protocol = ", ".join(f"{key} {value}" for key, value in result.protocol.items())
    title = f"{protocol}; percent, mean ± sd over {_cells(result)}"
    lines.insert(2 + len(result.scores), "-" * len(lines[0])) if result.ceiling is not None else None
    if result.ceiling is not None:
        lines.append("ceiling: the probe trained on every label outside the test set")
    return printable("\n".join([title, "", *lines, *result.notes]))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table.

    Example:
        >>> print(markdown_table(["a", "b"], [["1", "2"]]))
        | a | b |
        |---|---|
        | 1 | 2 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("|" + "|".join(cell if cell == "---" else f" {cell} " for cell in line) + "|" for line in lines)


def align(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a text table for a terminal: first column to the left, the others to the right."""
    cells = [[printable(cell) for cell in line] for line in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    ]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def _rows(result: EvaluationResult) -> list[list[str]]:
    names = [*result.scores, *(["ceiling"] if result.ceiling is not None else [])]
    return [[name, *(result[name, metric].percent() for metric in COLUMNS)] for name in names]


def _cells(result: EvaluationResult) -> str:
    scores = next(iter(result.scores.values()))
    splits, seeds = len(set(scores.splits.tolist())), len(set(scores.seeds.tolist()))
    text = f"{splits} split{'s' * (splits > 1)}"
    return text if seeds == 1 else f"{text} x {seeds} seeds"
