"""``imgcl demo``: the whole pipeline on the embedded graph."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from imgcl._core.terminal import printable
from imgcl.cli.console import check_out, out, put, say
from imgcl.cli.progress import shown_progress


def demo(
    graph: Annotated[str, typer.Option(help="A labelled graph: data set name or path.")] = "digits",
    epochs: Annotated[int | None, typer.Option(help="Epochs of each pre-training (default: the preset's).")] = None,
    splits: Annotated[int, typer.Option(min=2, help="Number of splits.")] = 20,
    file: Annotated[Path, typer.Option("--out", help="Report to write: an HTML file.")] = Path("demo/report.html"),
) -> None:
    """Pre-train GBT without and with ImGCL on handwritten digits and compare both on long-tailed labels.

    The last line names the report: one HTML file to look at in a browser.

    Example: imgcl demo
    """
    from imgcl.report import write_report
    from imgcl.report.demo import IMBALANCE, METRICS, run_demo

    check_out("--out", file, [".html", ".htm"])
    start = time.perf_counter()
    with shown_progress("demo"):
        found = run_demo(graph, epochs=epochs, splits=splits)
    title = f"{graph}, training labels {IMBALANCE}, balanced test set (percent, mean ± sd)"
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("pre-training", "classifier", *METRICS):
        table.add_column(column, justify="left" if column in ("pre-training", "classifier") else "right", no_wrap=True)
    for name, result in found.results.items():
        for classifier in result.classifiers:
            cells = (printable(result[classifier, metric].percent()) for metric in METRICS)
            table.add_row(name, classifier, *cells)
    out.print(table)
    put(str(found.effects))
    out.print()
    put(found.conclusion())
    with shown_progress("report"):
        content = found.report()
    written = write_report(content, file)
    out.print(f"\nThe report, to look at it in a browser: {written.resolve().as_uri()}", markup=False, soft_wrap=True)
    say(f"took {time.perf_counter() - start:.0f} s")
