"""``imgcl predict``: from a run and some labels to probabilities and a class for every node."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imgcl._core.errors import InputError
from imgcl.cli.completion import classifiers
from imgcl.cli.console import NoOwnFeatures, SpreadsheetSafe, check_out, chosen_blocks, out, say, warn
from imgcl.cli.info import scorer_facts
from imgcl.cli.progress import shown_progress
from imgcl.cli.reasons import check_reasons, find_reasons, reasons_file, write_reasons
from imgcl.cli.tables import TABLES, check_sort_by, describe, first_rows, warn_of_few_labels, write_table

if TYPE_CHECKING:
    import pandas as pd

    from imgcl.evaluation import FittedScorer
    from imgcl.training import Run

Top = Annotated[int | None, typer.Option(min=1, help="Only the first rows of the order.")]
SortBy = Annotated[str | None, typer.Option(help="Most probable nodes of this class first; default: as in the graph.")]


def predict(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    file: Annotated[Path, typer.Option("--out", help="File to write: .csv or .parquet.")],
    labels: Annotated[
        Path | None,
        typer.Option(help="CSV file with a node (name or number) and its class (default: labels of the graph)."),
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of --labels that names the node.")] = None,
    label_column: Annotated[str | None, typer.Option(help="Column of --labels that has the class.")] = None,
    classifier: Annotated[
        str, typer.Option(help="Classifier; see docs/choosing.md.", autocompletion=classifiers)
    ] = "ensemble",
    prior: Annotated[
        str, typer.Option(help="Class shares of the nodes: natural, balanced, labels, estimated, or CLASS=2%.")
    ] = "natural",
    decide: Annotated[
        str,
        typer.Option(
            help="argmax, balanced, cost:CLASS=10,OTHER=1, flag-rate:2%, min-precision:0.8 or min-recall:0.9."
        ),
    ] = "argmax",
    sort_by: SortBy = None,
    top: Top = None,
    explain: Annotated[
        int | None,
        typer.Option(min=1, help="Reasons for the scores of the first nodes of the order, into FILE-reasons."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Directory to write a scorer into, for `imgcl score` on other graphs.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the cross-validation that chooses the classifier's setting.")] = 0,
    no_own_features: NoOwnFeatures = False,
    spreadsheet_safe: SpreadsheetSafe = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object about what was written.")] = False,
) -> None:
    """Class, class probabilities and rank of every node, from the labels of some.

    Labels are those of the graph, or of --labels in their place; a file of `imgcl suggest` adds to them. All blocks of
    the run are used, each with a weight chosen by cross-validation. Probabilities are calibrated, and hold for nodes
    whose classes are as common as --prior says.

    Examples:
      imgcl predict runs/mine --out predictions.csv
      imgcl predict runs/mine --labels labels.csv --decide min-precision:0.8 --sort-by banned --out flagged.csv
      imgcl predict runs/mine --out all.parquet --save scorers/mine
      imgcl predict runs/mine --sort-by banned --explain 20 --out ranked.csv
    """
    from imgcl.evaluation.fitting import fit_all
    from imgcl.evaluation.labels import encode_labels
    from imgcl.training import Run

    check_out("--out", file, TABLES)
    if save is not None:
        _check_save(save)
    if explain is not None:
        check_reasons(file, classifier)
    stored = Run(run)
    given, class_names = _labels(stored, labels, id_column, label_column)
    check_sort_by(sort_by, encode_labels(given, class_names).names)
    blocks = chosen_blocks(stored, no_own_features)
    with shown_progress("predictions"):
        fitted = fit_all(blocks, given, classifier, prior, decide, class_names, "batched", seed)
    frame = fitted.frame(blocks, stored.node_names)
    shown = first_rows(frame, fitted.scorer, sort_by, top)
    if save is not None:
        from imgcl.training.scoring import GraphScorer

        GraphScorer.of(stored, fitted.scorer).save(save)
    write_table(shown, file, spreadsheet_safe=spreadsheet_safe)
    written = {"path": file, "rows": len(shown), "reasons": reasons_file(file) if explain else None, "scorer": save}
    _report(frame, fitted.scorer, written, as_json=as_json)
    if explain is not None:
        first = first_rows(frame, fitted.scorer, sort_by, explain).index.to_numpy()
        reasons = find_reasons(stored, fitted.scorer, blocks, given, first, sort_by)
        write_reasons(reasons, file, stored.node_names, spreadsheet_safe=spreadsheet_safe, printed=not as_json)
    if save is not None:
        say(f"{save}; next: imgcl score {shlex.quote(str(save))} GRAPH --out FILE", head="written")


def _check_save(folder: Path) -> None:
    """Refuse, before any work starts, what could not be saved at its end."""
    from imgcl._core.files import refuse_link

    refuse_link(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"--save {folder}: there is something already; choose another directory")


def _labels(
    run: Run, file: Path | None, id_column: str | None, label_column: str | None
) -> tuple[Any, Sequence[str] | None]:
    """Labels in node order, and names of their classes where they are numbers."""
    from imgcl.labelling.inputs import joined_labels, labels_in_file

    if file is None:
        if id_column is not None or label_column is not None:
            raise InputError("--id-column and --label-column are columns of a file: give it with --labels")
        return run.labels, run.class_names
    found, unknown = labels_in_file(run, file, id_column=id_column, label_column=label_column)
    joined, remarks = joined_labels(run, found, file)
    for remark in (*unknown, *remarks):
        warn(remark)
    return joined, None


def _report(frame: pd.DataFrame, scorer: FittedScorer, written: Mapping[str, Any], *, as_json: bool) -> None:
    counts = {str(name): int(count) for name, count in frame["class"].value_counts().items()}
    labelled = int(frame["given"].sum())
    if as_json:
        print(json.dumps(_facts(scorer, counts, written, nodes=len(frame), labelled=labelled), allow_nan=False))
    for name, count in () if as_json else counts.items():
        out.print(f"{name}: {count:,}", highlight=False, markup=False)
    for line in describe(scorer):
        say(line)
    warn_of_few_labels(scorer)
    said = f"{written['rows']:,} of {len(frame):,} nodes; {labelled:,} nodes have a label"
    say(f"{written['path']} ({said})", head="written")


def _facts(
    scorer: FittedScorer, counts: Mapping[str, int], written: Mapping[str, Any], **numbers: int
) -> dict[str, Any]:
    """What was written and what it stands on, as plain values with stable names."""
    paths = {key: str(value) if isinstance(value, Path) else value for key, value in written.items()}
    facts = scorer_facts(scorer)
    classes = [{**each, "predicted": counts.get(each["name"], 0)} for each in facts.pop("classes")]
    return {**paths, **numbers, "blocks": list(scorer.widths), **facts, "classes": classes}
