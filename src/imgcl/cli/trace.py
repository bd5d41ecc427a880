"""``imgcl trace``: what the balanced selection did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl.cli.console import check_out, out, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")


def trace(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    plot: Annotated[Path | None, typer.Option(help="Draw it into this file: .png, .svg or .pdf.")] = None,
) -> None:
    """Show every labelling of a run: pseudo-class sizes, drawn shares, alpha, agreement with the labelling before.

    Examples:
      imgcl trace runs/photo
      imgcl trace runs/photo --plot trace.svg
    """
    from imgcl.balance.trace import trace_figure, trace_rows
    from imgcl.training import Run

    check_picture(plot)
    labellings = Run(run).history["labellings"]
    if not labellings:
        remedy = "`imgcl pretrain --balance imgcl` makes some"
        raise InputError(f"{run} was trained without ImGCL: there is no labelling to show; {remedy}")
    out.print(
        rows_table(
            "ratios of the largest to the smallest class, of all nodes and drawn; agreements: adjusted Rand index",
            trace_rows(labellings),
        )
    )
    if plot is not None:
        save_picture(trace_figure(labellings), plot)


def rows_table(caption: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of plain values as a table; columns without any value are left out."""
    table = Table(caption=caption, caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    columns = [key for key in rows[0] if any(row[key] is not None for row in rows)]
    for column in columns:
        table.add_column(column.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(
            *("" if (v := row[key]) is None else f"{v:.3g}" if isinstance(v, float) else f"{v:,}" for key in columns)
        )
    return table


def check_picture(plot: Path | None) -> None:
    """Refuse a picture that cannot be drawn before any work starts."""
    if plot is not None:
        need("plots", "--plot")
        check_out("--plot", plot, PICTURES)


def save_picture(figure: Figure, plot: Path) -> None:
    """Write a figure atomically; the file name's ending is the format."""
    from imgcl._core.files import atomic_path

    with atomic_path(plot) as temporary:
        figure.savefig(temporary, dpi=150)
    say(str(plot), head="written")
