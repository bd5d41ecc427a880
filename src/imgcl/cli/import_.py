"""``imgcl import``: tables of edges and nodes into a graph store."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imgcl._core.errors import InputError
from imgcl._core.words import listed
from imgcl.cli.console import err, facts_table, put, say, verbosity, warn
from imgcl.cli.flags import in_flags
from imgcl.cli.progress import shown_progress

if TYPE_CHECKING:
    from imgcl.data.importing import ImportReport, ImportSettings
    from imgcl.data.importing import Progress as OnProgress


def import_graph(
    context: typer.Context,
    store: Annotated[Path, typer.Option("--out", help="Graph store to create, for example graph.store.")],
    edges: Annotated[str | None, typer.Option(help="Edges: .parquet, .csv or .tsv, or a glob of them.")] = None,
    nodes: Annotated[
        str | None, typer.Option(help="Nodes, likewise (default: those that edges name, without labels).")
    ] = None,
    id_column: Annotated[str, typer.Option(help="Column of the nodes that edges refer to.")] = "id",
    src: Annotated[str, typer.Option(help="Column of an edge's source.")] = "src",
    dst: Annotated[str, typer.Option(help="Column of an edge's target.")] = "dst",
    label: Annotated[str | None, typer.Option(help="Column with the class of a node.")] = None,
    numeric_label: Annotated[
        bool, typer.Option("--numeric-label", help="The class is a number: 3 and 3.0 are one class.")
    ] = False,
    features: Annotated[
        str | None, typer.Option(help="Feature columns: a,b,c or prefix* (default: structure, made from the edges).")
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(help="Store of an earlier import: the same columns, categories, means and rules for new tables."),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column of an edge's weight; rows with weight 0 are no edges.")
    ] = None,
    relation: Annotated[str | None, typer.Option(help="Column of an edge's relation: what links its ends.")] = None,
    relations: Annotated[
        str,
        typer.Option(help="union: an edge is an edge; side-by-side: every relation gives a block of its own."),
    ] = "union",
    time: Annotated[str | None, typer.Option(help="Column of an edge's time: dates or numbers.")] = None,
    node_time: Annotated[
        str | None, typer.Option(help="Column of a node's time, for imgcl evaluate --split time:COLUMN.")
    ] = None,
    as_of: Annotated[str | None, typer.Option(help="Keep the edges up to this date (or number), see --time.")] = None,
    directed_as: Annotated[
        str, typer.Option(help="both: a row links its ends; mutual: both must point; in, out: whom a node sees.")
    ] = "both",
    on_dangling: Annotated[str, typer.Option(help="Edges that name unknown nodes: error or drop.")] = "error",
    missing: Annotated[str, typer.Option(help="Missing feature values: error, mean or zero.")] = "error",
    most_values: Annotated[
        int,
        typer.Option(help="Values of a text column that get a feature each, the most common ones; others share one."),
    ] = 50,
    log: Annotated[
        str | None,
        typer.Option(help="Columns whose logarithms are taken, a,b,c or prefix*: amounts with a few huge values."),
    ] = None,
    standardise: Annotated[
        bool, typer.Option("--standardise", help="Scale numeric features to mean 0 and deviation 1.")
    ] = False,
    dtype: Annotated[str, typer.Option(help="How features are stored: float32 or float16.")] = "float32",
    memory_limit: Annotated[str, typer.Option(help="Memory the import may use.")] = "2GB",
    name: Annotated[str | None, typer.Option(help="Name of the graph (default: the store's).")] = None,
    ogb: Annotated[Path | None, typer.Option(help="Directory of an OGB node data set, instead of tables.")] = None,
) -> None:
    """Import tables of any size as a graph store, which all commands open like any other graph.

    Examples:
      imgcl import --edges edges.parquet --nodes nodes.parquet --features 'f*' --label class --out graph.store
      imgcl import --edges 'edges-*.csv' --nodes nodes.csv --id-column user --features age,country --out users.store
      imgcl import --edges edges.parquet --out links.store
      imgcl import --edges links.csv --nodes users.csv --features 'f*' --weight amount --relation kind --out calls.store
      imgcl import --edges new-edges.csv --nodes new-nodes.csv --like users.store --out tomorrow.store
      imgcl import --ogb dataset/ogbn_products --out products.store
    """
    from imgcl.data.importing import import_ogb, import_tables, parse_size
    from imgcl.data.importing.recipe import Recipe

    limit = parse_size(memory_limit)
    if ogb is not None:
        given = [name for name in ("edges", "nodes", "features", "like") if context.params[name] is not None]
        if given:
            raise InputError(f"--ogb and --{given[0]} contradict each other: give one of them")
        with _said_when_stopped(store), _progress() as on_progress:
            report = import_ogb(ogb, store, memory_limit=limit, on_progress=on_progress)
    else:
        if edges is None:
            raise InputError("--edges is missing: an import needs a table of edges (or --ogb)")
        settings = _settings(context)
        with _said_when_stopped(store), _progress() as on_progress:
            report = import_tables(settings, store, on_progress)
    _say(report)
    if ogb is None and like is None and settings.structural:
        say("no feature columns (--features): the store has structural features, of random walks and degrees")
    command = shlex.join(["imgcl", "pretrain", str(store), "--out", f"runs/{store.stem}"])
    if like is not None and not Recipe.read(store).columns:
        say("structural features mean something else in every graph: a scorer of the earlier one cannot be used")
    elif like is not None:
        command = shlex.join(["imgcl", "score", "SCORER", str(store), "--out", f"{store.stem}.csv"])
    say(f"next: {command}")
    put(str(report.path))


def _settings(context: typer.Context) -> ImportSettings:
    """Settings of the options that were given: with --like it matters which."""
    from imgcl.data.importing import ImportSettings, parse_size

    chosen = {
        name: value
        for name, value in context.params.items()
        if name in ImportSettings.model_fields and _given(context, name)
    }
    if "features" in chosen:
        chosen["features"] = tuple(listed(chosen["features"]))
    if "memory_limit" in chosen:
        chosen["memory_limit"] = parse_size(chosen["memory_limit"])
    return _validated(chosen)


def _validated(chosen: dict[str, Any]) -> ImportSettings:
    """The settings; a value that is refused is named by its option."""
    from imgcl.data.importing import ImportSettings
    from imgcl.training.settings import validated

    try:
        return validated(ImportSettings, chosen)
    except InputError as error:
        named = re.sub(r"^setting (\w+) = ", lambda found: f"--{found[1].replace('_', '-')} is ", str(error))
        raise InputError(named) from None


def _given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _say(report: ImportReport) -> None:
    """What was read, what was left out, and what an import that is repeated did not have."""
    from imgcl.data.importing.source import shown

    facts: dict[str, int | str] = {
        "nodes": report.nodes,
        "feature columns": report.features,
        "edge rows read": report.rows,
        "edges": report.edges,
    }
    if report.weights is not None:
        low, high, mean = report.weights
        facts["edge weights"] = f"{low:g} to {high:g}, mean {mean:.3g}"
    facts |= {"relations": shown(report.relations)} if report.relations else {}
    if report.class_sizes is not None:
        classes = shown([f"{name} {size:,}" for name, size in report.class_sizes.items()])
        facts["labelled nodes"] = f"{sum(report.class_sizes.values()):,}" + (f": {classes}" if classes else "")
    facts |= {"dangling rows left out": report.dangling} if report.dangling else {}
    facts |= {"later rows left out": report.late} if report.late else {}
    facts |= {"rows without weight left out": report.weightless} if report.weightless else {}
    if verbosity.get() >= 0:
        err.print(facts_table(str(report.path), {**facts, "cleaned": str(report.cleaning)}))
    for line in _differences(report):
        warn(line)


def _differences(report: ImportReport) -> Iterator[str]:
    from imgcl.data.importing.remarks import remarks

    if report.class_sizes is not None and len(report.class_sizes) < 2:
        found = f"every label is {next(iter(report.class_sizes))!r}" if report.class_sizes else "no node has a label"
        yield f"{found}: a classifier needs at least two classes (--label)"
    if not report.edges:
        yield "the graph has no edges: nothing can be learned from links"
    yield from map(in_flags, remarks(report))
    if report.new_relations:
        yield f"new relations, which the earlier import did not have: {', '.join(report.new_relations)}"
    if report.new_classes:
        yield f"new classes, which the earlier import did not have: {', '.join(report.new_classes)}"
    if report.without_label is not None:
        yield f"the nodes have no column {report.without_label!r}: the store has no labels"


@contextmanager
def _said_when_stopped(store: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        warn(f"stopped: {store} was not made; the same command starts again")
        raise typer.Exit(130) from None


STAGES = {"nodes": 1, "features": 3, "edges": 4, "neighbour lists": 2, "structure": 4}
"""Stages of an import in their order, and about how long each takes against the others."""


@contextmanager
def _progress() -> Iterator[OnProgress]:
    """The rows of every stage, as parts of one progress."""
    names = list(STAGES)
    with shown_progress("import", sum(STAGES.values())) as whole:

        def show(stage: str, done: int, total: int | None) -> None:
            before = sum(STAGES[name] for name in names[: names.index(stage)]) if stage in STAGES else whole.done
            share = done / total if total else 0.0
            counted = f"{stage} {done:,}/{total:,}" if total and total != 100 else stage
            whole.to(before + STAGES.get(stage, 0) * share, counted)

        yield show
