"""Reports as text for a terminal, Markdown, CSV, LaTeX and figure files; the same report gives the same bytes."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from imgcl._core.files import write_text
from imgcl._core.spreadsheets import safe_cell
from imgcl.evaluation.render import align, markdown_table
from imgcl.studies.report import Report, Table
from imgcl.studies.results import Results

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "†": r"$\dagger$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
PICTURES = (".svg", ".png")


def to_text(report: Report, results: Results) -> str:
    """For a terminal."""
    tables = [
        "\n".join([table.title, *align(table.header, table.rows), *filter(None, [table.note])])
        for table in report.tables
    ]
    parts = [report.title, *report.text, *tables]
    return "\n\n".join([*parts, *_state(results)])


def to_markdown(report: Report, results: Results) -> str:
    """A page: text, tables, figures, and how it was made."""
    parts = [f"# {report.title}", *report.text]
    for table in report.tables:
        parts += [f"## {table.title}", markdown_table(table.header, table.rows), *filter(None, [table.note])]
    parts += [f"![{name}]({name}.svg)" for name in report.figures]
    facts = [f"- {name}: `{value}`" if name == "command" else f"- {name}: {value}" for name, value in _facts(results)]
    return "\n\n".join([*parts, *_state(results), "## How it was made", "\n".join(facts)]) + "\n"


def to_latex(report: Report, results: Results) -> str:
    """One ``table`` per table, for ``booktabs``."""
    facts = [f"% {name}: {value}" for name, value in _facts(results)]
    return "\n".join([*facts, *(_latex(table) for table in report.tables)]) + "\n"


def to_csv(report: Report, *, spreadsheet_safe: bool = False) -> str:
    """The numbers behind the report, one value per line; ``spreadsheet_safe`` puts an apostrophe before formulas."""
    columns = list(dict.fromkeys(key for row in report.data for key in row))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL if spreadsheet_safe else csv.QUOTE_MINIMAL)
    lines = [columns, *([_number(row.get(column)) for column in columns] for row in report.data)]
    writer.writerows([safe_cell(cell) for cell in line] if spreadsheet_safe else line for line in lines)
    return stream.getvalue()


def write_report(report: Report, results: Results, out: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
    """Write every form of a report into a directory.

    Args:
        report: of the study.
        results: that it was made from.
        out: the directory.
        spreadsheet_safe: put an apostrophe before names in the CSV file that a spreadsheet would take for a formula.

    Returns:
        The files.
    """
    folder, name = Path(out), results.name
    texts = {".md": to_markdown(report, results), ".tex": to_latex(report, results)}
    if report.data:
        texts[".csv"] = to_csv(report, spreadsheet_safe=spreadsheet_safe)
    written = []
    for ending, text in texts.items():
        written.append(folder / f"{name}{ending}")
        write_text(written[-1], text)
    if report.figures:
        from imgcl.plots import save

        for figure_name, draw in report.figures.items():
            figure = draw()
            for ending in PICTURES:
                written.append(folder / f"{figure_name}{ending}")
                save(figure, written[-1])
    return written


def _facts(results: Results) -> list[tuple[str, str]]:
    return list(results.facts().items())


def _state(results: Results) -> list[str]:
    """What is not there, in words."""
    counts, parts = results.counts(), []
    if counts["open"] or counts["failed"]:
        parts.append(f"Not complete: {counts['open']} cells are open, {counts['failed']} failed.")
    parts += [f"{name}: {why}." for name, why in results.missing.items()]
    return parts


def _latex(table: Table) -> str:
    columns = "l" + "r" * (len(table.header) - 1)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escape(table.title)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(map(_escape, table.header)) + r" \\",
        r"\midrule",
        *(" & ".join(map(_escape, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _escape(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


def _number(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
