"""``imgcl predict``: from a run and some labels to a class for every node."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from imgcl.cli.console import NoOwnFeatures, SpreadsheetSafe, check_out, chosen_blocks, err, out


def predict(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    labels: Annotated[Path, typer.Option(help="CSV file: node (name or number) and class, with a header node,label.")],
    file: Annotated[Path, typer.Option("--out", help="CSV file to write.")],
    classifier: Annotated[str, typer.Option(help="Classifier; see `imgcl evaluate`.")] = "pbs",
    seed: Annotated[int, typer.Option(help="Seed of the cross-validation that chooses the classifier's setting.")] = 0,
    no_own_features: NoOwnFeatures = False,
    spreadsheet_safe: SpreadsheetSafe = False,
) -> None:
    """Classify every node from the labels you have: class, probability, and how common the class is.

    All blocks of the run are used, each with a weight chosen by cross-validation, 0 included.

    Example: imgcl predict runs/mine --labels labels.csv --classifier pbs --out predictions.csv
    """
    from imgcl._core.files import atomic_path
    from imgcl._core.spreadsheets import write_frame
    from imgcl.evaluation import predict as classify
    from imgcl.evaluation import read_labels
    from imgcl.training import Run

    check_out("--out", file, [".csv"])
    stored = Run(run)
    given = read_labels(labels, stored.node_names or ())
    blocks = chosen_blocks(stored, no_own_features)
    frame = classify(blocks, given, classifier, node_names=stored.node_names, random_state=seed)
    with atomic_path(file) as temporary:
        write_frame(frame, temporary, spreadsheet_safe=spreadsheet_safe)
    for name, count in frame["class"].value_counts().items():
        out.print(f"{name}: {count:,}", highlight=False, markup=False)
    counts = f"{len(frame):,} nodes, {int(frame['given'].sum()):,} of them labelled by you"
    err.print(f"[green]written[/green]: {escape(str(file))} ({counts})")
