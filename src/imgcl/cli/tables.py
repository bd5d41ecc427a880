"""Tables of nodes that commands write: CSV or Parquet, all rows or the first ones by a class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean, percent
from imgcl.cli.console import warn

if TYPE_CHECKING:
    import pandas as pd

    from imgcl.evaluation import FittedScorer

TABLES = (".csv", ".parquet")


def write_table(frame: pd.DataFrame, file: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write a table; the file name's ending is the format."""
    from imgcl._core.files import atomic_path
    from imgcl._core.spreadsheets import write_frame

    with atomic_path(file) as temporary:
        if file.suffix.lower() == ".csv":
            write_frame(frame, temporary, spreadsheet_safe=spreadsheet_safe)
        else:
            import duckdb

            # The file is a temporary one already; one more would be left behind by a crash.
            duckdb.from_df(frame).write_parquet(str(temporary), use_tmp_file=False)


def check_sort_by(sort_by: str | None, class_names: Sequence[str]) -> None:
    """Refuse, before any work starts, to sort by a class that there is not."""
    if sort_by is not None and sort_by not in class_names:
        hint = did_you_mean(sort_by, class_names, f"the classes are {', '.join(class_names)}")
        raise InputError(f"--sort-by {sort_by}{hint}")


def first_rows(frame: pd.DataFrame, scorer: FittedScorer, sort_by: str | None, top: int | None) -> pd.DataFrame:
    """The rows sorted by the probability of a class, and only the first of them, where the user asks for that.

    Without ``--sort-by``, ``--top`` takes the nodes with the smallest rank.
    """
    if sort_by is None and top is None:
        return frame
    columns, rising = ["rank"], [True]
    if sort_by is not None:  # equal probabilities: by rank, which is about another class if that is not the one
        columns, rising = [f"p_{sort_by}", "rank"], [False, scorer.class_names.index(sort_by) == scorer.target]
    return frame.sort_values(columns, ascending=rising, kind="stable").head(len(frame) if top is None else top)


def describe(scorer: FittedScorer) -> list[str]:
    """What the probabilities and classes of a table stand on, one line each."""
    pairs = zip(scorer.class_names, scorer.prior.shares, strict=True)
    name, labelled = scorer.class_names[scorer.target], scorer.labels[scorer.target] / sum(scorer.labels)
    sources = {
        "labels": "as among the labels",
        "estimated": f"estimated from the unlabelled nodes; among the labels {name} has {percent(labelled)}",
        "balanced": "all alike",
        "given": "as given",
    }
    shares = ", ".join(f"{name} {100 * share:.1f} %" for name, share in pairs)
    flagged = scorer.decision.target is not None
    why = "the class that is flagged" if flagged else "the class with the fewest labels"
    return [
        f"prior: {shares} ({sources[scorer.prior.source]})",
        *_expected(scorer),
        f"rank: 1 is the most likely {name}, {why}",
    ]


def warn_of_few_labels(scorer: FittedScorer) -> None:
    """Name the classes whose figures mean little, or say that few labels chose the decision."""
    from imgcl.training.model_card import FEW, hopeful

    few = [f"{name} ({n})" for name, n in zip(scorer.class_names, scorer.labels, strict=True) if n < FEW]
    if few:
        warn(f"fewer than {FEW} labels: {', '.join(few)}; what is said about these classes is hardly more than chance")
    elif remark := hopeful(scorer):
        warn(remark)


def _expected(scorer: FittedScorer) -> list[str]:
    rates = scorer.decision.expected.get(scorer.class_names[scorer.target])
    if rates is None:
        return []
    texts = [
        f"{name.replace('_', ' ')} {percent(rate['value'])} [{percent(rate['ci95'][0])}, {percent(rate['ci95'][1])}]"
        for name, rate in rates.items()
    ]
    accuracy = _accuracy(scorer) if len(scorer.class_names) > 2 else None
    overall = "" if accuracy is None else f" of all classes: accuracy {percent(accuracy)};"
    return [
        f"decision {scorer.decision.rule}, expected{overall} for {scorer.class_names[scorer.target]}: "
        f"{', '.join(texts)}"
    ]


def _accuracy(scorer: FittedScorer) -> float | None:
    """The share of the nodes that will get their class; ``None`` where a class could not be measured."""
    recalls = [scorer.decision.expected[name]["recall"]["value"] for name in scorer.class_names]
    if None in recalls:
        return None
    return float(sum(share * recall for share, recall in zip(scorer.prior.shares, recalls, strict=True)))
