"""Results as tables: text for a terminal, Markdown for a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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

RANKED = {
    "auroc": "AUROC",
    "auprc": "AUPRC",
    "tail_auprc": "tail AUPRC",
    "tail_recall_at_k": "tail recall@k",
    "tail_lift": "tail lift",
    "brier": "Brier",
}
FACTORS = ("tail_lift",)  # are no percentages
LISTED = 12  # classes whose numbers of test nodes are listed one by one


def text_table(result: EvaluationResult) -> str:
    """Mean and standard deviation in percent, one line per classifier, the ceiling below."""
    protocol = ", ".join(f"{key} {value}" for key, value in result.protocol.items())
    title = f"{protocol}; percent, mean ± sd over {_cells(result)}"
    lines = _table(result, shown_columns(result))
    if result.ceiling is not None:
        lines.append("ceiling: the probe trained on every label outside the test set")
    if any(scores.ranking for scores in result.scores.values()):
        lines += ["", *_table(result, RANKED), "one class against the others; k: the test nodes of the class"]
    return printable("\n".join([title, "", *lines, _test_nodes(result), *result.notes]))


def shown_columns(result: EvaluationResult) -> dict[str, str]:
    """The columns of the table: two classes have no middle group; protocols of papers report balanced accuracy."""
    columns = {metric: title for metric, title in COLUMNS.items() if metric != "middle" or result.groups.middle}
    papers = "protocol" in result.protocol and "test" in result.protocol
    return {"balanced_accuracy": "balanced", **columns} if papers else columns


def _table(result: EvaluationResult, columns: Mapping[str, str]) -> list[str]:
    lines = align(["classifier", *columns.values()], _rows(result, columns))
    if result.ceiling is not None:
        lines.insert(2 + len(result.scores), "-" * len(lines[0]))
    return lines


def _test_nodes(result: EvaluationResult) -> str:
    """How many test nodes a split has of each class."""
    tested = next(iter(result.scores.values())).test_nodes
    ends = zip(tested.min(axis=0), tested.max(axis=0), strict=True)
    sizes = [f"{low:,}" if low == high else f"{low:,}-{high:,}" for low, high in ends]
    if len(set(sizes)) == 1:
        return f"test nodes: {sizes[0]} of each of {len(sizes)} classes"
    if len(sizes) > LISTED:
        return f"test nodes: {tested.min():,} to {tested.max():,} of each of {len(sizes)} classes"
    pairs = zip(result.class_names, sizes, strict=True)
    return "test nodes: " + ", ".join(f"{name} {size}" for name, size in pairs)


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


def _rows(result: EvaluationResult, columns: Iterable[str]) -> list[list[str]]:
    names = [*result.scores, *(["ceiling"] if result.ceiling is not None else [])]
    return [[name, *(table_cell(result, name, metric) for metric in columns)] for name in names]


def table_cell(result: EvaluationResult, name: str, metric: str) -> str:
    """A metric of a classifier as a table shows it."""
    if metric in RANKED and not result.of(name).ranking:
        return "-"
    found = result[name, metric]
    return found.percent() if metric not in FACTORS or found.mean is None else f"{found.mean:.2f}"


def _cells(result: EvaluationResult) -> str:
    scores = next(iter(result.scores.values()))
    splits, seeds = len(set(scores.splits.tolist())), len(set(scores.seeds.tolist()))
    text = f"{splits} split{'s' * (splits > 1)}"
    return text if seeds == 1 else f"{text} x {seeds} seeds"
