"""Reasons for scores on the command line: a second table beside that of the scores, and the first ones to read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imgcl.cli.console import put, say, warn
from imgcl.cli.tables import write_table

if TYPE_CHECKING:
    from imgcl.evaluation import FittedScorer, Reasons
    from imgcl.training import Run

SHOWN = 3  # nodes whose reasons are printed


def reasons_file(file: Path) -> Path:
    """The file of reasons beside that of scores.

    Example:
        >>> reasons_file(Path("ranked.csv")).name
        'ranked-reasons.csv'
    """
    return file.with_name(f"{file.stem}-reasons{file.suffix}")


def check_reasons(file: Path, classifier: str) -> None:
    """Refuse, before any work starts, what could not be explained or written at its end."""
    from imgcl._core.files import refuse_link
    from imgcl.evaluation.explanation import check_explained

    refuse_link(reasons_file(file))
    check_explained(classifier)


def find_reasons(
    run: Run, scorer: FittedScorer, blocks: Any, labels: Any, nodes: Any, target: str | None
) -> list[Reasons]:
    """Reasons for nodes of a run; standard error says why features are missing."""
    from imgcl.evaluation import explain
    from imgcl.training.source import feature_sources

    sources, problem = feature_sources(run)
    if problem is not None:
        warn(problem)
    return explain(scorer, blocks, labels, nodes, target=target, sources=sources)


def write_reasons(
    reasons: Sequence[Reasons],
    file: Path,
    node_names: Sequence[str] | None,
    *,
    spreadsheet_safe: bool,
    printed: bool = True,
) -> None:
    """Write the table, and print the reasons of the first nodes."""
    from imgcl.evaluation import reasons_frame

    beside = reasons_file(file)
    write_table(reasons_frame(reasons, node_names), beside, spreadsheet_safe=spreadsheet_safe)
    for each in reasons[: SHOWN if printed else 0]:
        put(each.text(node_names))
    say(f"{beside} (reasons of {len(reasons):,} nodes)", head="written")
