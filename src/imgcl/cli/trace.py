"""``imgcl trace`` and ``imgcl theory``: what the balanced selection did, and what it should do in theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from imgcl._core.errors import InputError
from imgcl.cli.console import err, out

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
        raise InputError(f"{run} was trained without ImGCL: there is no labelling to show")
    out.print(
        rows_table(
            "ratios of the largest to the smallest class, of all nodes and drawn; agreements: adjusted Rand index",
            trace_rows(labellings),
        )
    )
    if plot is not None:
        save_picture(trace_figure(labellings), plot)


def theory(
    samples: Annotated[int, typer.Option(min=2, help="Points of each simulated sample.")] = 100_000,
    repeats: Annotated[int, typer.Option(min=2, help="Samples for each distance of the means.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw it into this file: .png, .svg or .pdf.")] = None,
) -> None:
    """Simulate Proposition 1: measured contraction of the boundary's bias beside its closed form C(x) and 2/pi.

    Examples:
      imgcl theory
      imgcl theory --plot theory.svg
    """
    from imgcl_lab.contraction import figure, simulate

    check_picture(plot)
    rows = simulate(samples=samples, repeats=repeats, seed=seed)
    out.print(rows_table("x is half the distance of the class means", rows))
    if plot is not None:
        save_picture(figure(rows, seed=seed), plot)


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
    """Refuse a picture format before any work starts."""
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise InputError(f"--plot {plot}: the name must end in {', '.join(PICTURES)}")


def save_picture(figure: Figure, plot: Path) -> None:
    """Write a figure atomically; the file name's ending is the format."""
    from imgcl._core.files import atomic_path

    with atomic_path(plot) as temporary:
        figure.savefig(temporary, dpi=150)
    err.print(f"[green]written[/green]: {escape(str(plot))}")
