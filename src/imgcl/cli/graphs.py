"""``imgcl datasets``: the graphs that have a name."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from imgcl.cli.console import DataDir, out


def datasets(
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List the graphs that can be loaded by name, and whether they are on this machine.

    Examples:
      imgcl datasets
      imgcl datasets --json
    """
    from imgcl.data import dataset_table

    rows = dataset_table(data_dir=data_dir)
    if as_json:
        print(json.dumps([row.to_dict() for row in rows]))
        return
    table = Table()
    for column in ("name", "nodes", "edges", "features", "classes", "raw file", "here"):
        numeric = column in ("nodes", "edges", "features", "classes")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=column == "name")
    for row in rows:
        sizes = (
            f"{value:,}" if isinstance(value, int) else "any"
            for value in (row.nodes, row.edges, row.features, row.classes)
        )
        table.add_row(row.name, *sizes, row.file or "built in", "yes" if row.present else "no")
    out.print(table)
