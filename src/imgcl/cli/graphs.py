"""``imgcl datasets`` and ``imgcl info``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from imgcl.cli.console import DataDir, facts_table, out

if TYPE_CHECKING:
    from imgcl.graph import Likeness


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
    """Show what a graph holds: sizes, classes, what was cleaned, fingerprint, and how alike linked nodes are.

    Examples:
      imgcl info digits
      imgcl info amazon-photo --json
      imgcl info my-graph.npz
    """
    from imgcl.data import load_graph
    from imgcl.graph import linked_likeness

    loaded = load_graph(graph, features="own", data_dir=data_dir)
    facts, likeness = loaded.summary(), linked_likeness(loaded)
    if as_json:
        print(json.dumps(facts | {"linked nodes": likeness.facts()}))
    else:
        out.print(facts_table(str(facts.pop("name")), facts | _in_words(likeness)))


def _in_words(likeness: Likeness) -> dict[str, str]:
    """How alike linked nodes are, for people."""
    words = {}
    if likeness.linked_cosine is not None:
        words["linked nodes' features"] = (
            f"cosine {likeness.linked_cosine:.2f}, of random pairs {likeness.random_cosine:.2f}"
        )
    if likeness.same_label is not None and likeness.chance is not None:
        words["linked nodes' labels"] = (
            f"{100 * likeness.same_label:.0f} % the same, {100 * likeness.chance:.0f} % by chance"
        )
    return words | {"what it means": likeness.meaning}
