"""``imgcl datasets`` and ``imgcl info``."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from imgcl.cli.console import DataDir, facts_table, out


def datasets(
    data_dir: DataDir = None,
) -> None:
    """List the graphs that can be loaded by name, and whether they are here already.

    Example: imgcl datasets
    """
    from imgcl.data import dataset_table

    table = Table()
    for column in ("name", "nodes", "edges", "features", "classes", "raw file", "here"):
        numeric = column in ("nodes", "edges", "features", "classes")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=column == "name")
    for row in dataset_table(data_dir=data_dir):
        sizes = (
            f"{value:,}" if isinstance(value, int) else "any"
            for value in (row.nodes, row.edges, row.features, row.classes)
        )
        table.add_row(row.name, *sizes, row.file or "built in", "yes" if row.present else "no")
    out.print(table)


def info(
    graph: Annotated[str, typer.Argument(help="Data set name, or path of a graph file.")],
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what a graph holds: sizes, classes, what was cleaned, fingerprint.

    Examples:
      imgcl info digits
      imgcl info amazon-photo --json
      imgcl info my-graph.npz
    """
    from imgcl.data import load_graph

    facts = load_graph(graph, data_dir=data_dir).summary()
    if as_json:
        print(json.dumps(facts))
    else:
        out.print(facts_table(str(facts.pop("name")), facts))
