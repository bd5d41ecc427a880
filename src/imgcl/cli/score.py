"""``imgcl score``: probabilities and classes for the nodes of another graph, without training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imgcl.cli.console import DataDir, SpreadsheetSafe, check_out, put, say, warn
from imgcl.cli.predict import SortBy, Top
from imgcl.cli.tables import TABLES, check_sort_by, describe, first_rows, warn_of_few_labels, write_table

if TYPE_CHECKING:
    import pandas as pd

    from imgcl.evaluation.scorer import FittedScorer
    from imgcl.training.record import GraphRecord


def score(
    scorer: Annotated[Path, typer.Argument(help="Scorer directory, of `imgcl predict --save`.")],
    graph: Annotated[str, typer.Argument(help="Data set name or path, with the features of the training graph.")],
    file: Annotated[Path, typer.Option("--out", help="File to write: .csv or .parquet.")],
    sort_by: SortBy = None,
    top: Top = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    data_dir: DataDir = None,
    spreadsheet_safe: SpreadsheetSafe = False,
) -> None:
    """Score every node of a grown or new graph by a saved scorer: class, class probabilities and rank.

    Nothing is trained. Features are matched by name where both graphs have names. Prior and decision are those of the
    scorer; its MODEL_CARD.md says what to expect. The column given says which nodes have a label in this graph.

    Example: imgcl score scorers/mine tomorrow.store --sort-by banned --top 100 --out queue.csv
    """
    from imgcl.data import load_graph
    from imgcl.graph.structure import is_structural
    from imgcl.training.scoring import GraphScorer

    check_out("--out", file, TABLES)
    file.parent.mkdir(parents=True, exist_ok=True)
    loaded = GraphScorer.load(scorer, device=device, scratch=file.parent)
    check_sort_by(sort_by, loaded.scorer.class_names)
    structural = is_structural(loaded.encoder.feature_names)
    nodes = load_graph(graph, features="structure" if structural else "auto", data_dir=data_dir)
    compare_rules(loaded.record, graph)
    frame = loaded.score(nodes, given=None if nodes.y is None else nodes.y >= 0)
    shown = first_rows(frame, loaded.scorer, sort_by, top)
    write_table(shown, file, spreadsheet_safe=spreadsheet_safe)
    for name, count in frame["class"].value_counts().items():
        put(f"{name}: {count:,}")
    for line in describe(loaded.scorer):
        say(line)
    warn_of_few_labels(loaded.scorer)
    warn_of_other_nodes(loaded.scorer, frame)
    said = f"{len(shown):,} of {len(frame):,} nodes; {frame['given'].sum():,} nodes have a label in the graph"
    say(f"{file} ({said})", head="written")


def warn_of_other_nodes(scorer: FittedScorer, frame: pd.DataFrame) -> None:
    """Warn where a share of the nodes is flagged that was not to be expected, by more than two standard errors."""
    name = scorer.class_names[scorer.target]
    expected = scorer.decision.expected.get(name)
    if expected is None or not len(frame):
        return
    share, (low, high) = float((frame["class"] == name).mean()), expected["flag_rate"]["ci95"]
    error = (share * (1 - share) / len(frame)) ** 0.5
    if not low - 2 * error <= share <= high + 2 * error:
        warn(
            f"{100 * share:.1f} % of the nodes are {name}, where {100 * low:.1f} to {100 * high:.1f} % were to be "
            "expected: these nodes differ from those of the training graph, and precision and recall may as well"
        )


def compare_rules(trained: GraphRecord, graph: str) -> None:
    """Warn of features with the names of the training graph that were made by other rules."""
    from imgcl.data.importing.recipe import rules_of

    rules = rules_of(graph)
    if None not in (rules, trained.rules) and rules != trained.rules:
        warn(
            f"{graph} was imported by other rules than the training graph (weights, means, deviations, categories or "
            f"relations differ): its numbers cannot be relied on; import its tables with --like {trained.source}"
        )
