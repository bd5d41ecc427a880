"""Tables of nodes that commands write: CSV or Parquet, all rows or the first ones by a class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean

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
    """The rows in falling order of a class, and only the first of them, where that was asked for.

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
    sources = {
        "labels": "as among the labels",
        "estimated": "estimated from the unlabelled nodes; the labels are not a random draw",
        "balanced": "all alike",
        "given": "as given",
    }
    shares = ", ".join(f"{name} {100 * share:.1f} %" for name, share in pairs)
    return [f"prior: {shares} ({sources[scorer.prior.source]})", *_expected(scorer)]


def _expected(scorer: FittedScorer) -> list[str]:
    rates = scorer.decision.expected.get(scorer.class_names[scorer.target])
    if rates is None:
        return []
    texts = [
        f"{name.replace('_', ' ')} {_percent(rate['value'])} [{_percent(rate['ci95'][0])}, {_percent(rate['ci95'][1])}]"
        for name, rate in rates.items()
    ]
    return [f"decision {scorer.decision.rule}, expected for {scorer.class_names[scorer.target]}: {', '.join(texts)}"]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
