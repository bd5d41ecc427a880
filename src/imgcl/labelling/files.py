"""The CSV file that goes back and forth: filled by a person, extended by the next batch."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imgcl._core.errors import InputError
from imgcl._core.files import atomic_path
from imgcl.evaluation import read_labels
from imgcl.evaluation.prediction import read_rows

if TYPE_CHECKING:
    import pandas as pd

FIRST = ("node", "label")
BATCH = "batch"  # column that the files of suggestions have


@dataclass(frozen=True)
class LabelFile:
    """Every node suggested so far, as rows of text: nothing that a person wrote into the file is changed.

    Attributes:
        columns: ``node``, ``label``, and whatever else the file has.
        rows: one value per column.
        labels: class of each node, empty where it has none.
        delimiter: what stands between values; that of the file that was read.
    """

    columns: tuple[str, ...] = FIRST
    rows: tuple[tuple[str, ...], ...] = ()
    labels: dict[str, str] | None = None
    delimiter: str = ","

    @classmethod
    def read(cls, path: str | Path, node_names: Sequence[str] | None = None) -> LabelFile:
        """Read a file.

        Args:
            path: a CSV file whose first columns are ``node`` and ``label``.
            node_names: names of the graph's nodes (empty: they are numbers).

        Raises:
            InputError: when it is not such a file, or a node has two labels.
        """
        labels = read_labels(path, node_names)
        lines, delimiter = read_rows(Path(path))
        if not lines or tuple(name.strip().lower() for name in lines[0][:2]) != FIRST:
            raise InputError(f"{path}: the first line must begin with node,label")
        columns = (*FIRST, *lines[0][2:])
        return cls(columns, tuple(_fitted(line, len(columns)) for line in lines[1:]), labels, delimiter)

    @property
    def n_labels(self) -> int:
        """Nodes with a label."""
        return sum(bool(label) for label in (self.labels or {}).values())

    @property
    def batches(self) -> int:
        """The number of the last batch, 0 without any."""
        if BATCH not in self.columns:
            return int(bool(self.rows))
        at = self.columns.index(BATCH)
        return max((int(row[at]) for row in self.rows if row[at].isdigit()), default=0)

    def extended(self, batch: pd.DataFrame) -> LabelFile:
        """The file with a further batch at its end, in the order of the file's columns; new columns come last."""
        numbered = batch.assign(batch=self.batches + 1)
        new = (*FIRST, BATCH, *(name for name in batch.columns if name not in FIRST))
        columns = (*self.columns, *(name for name in new if name not in self.columns))
        kept = tuple(_fitted(row, len(columns)) for row in self.rows)
        table = numbered.reindex(columns=list(columns)).astype(object)
        added = tuple(tuple(_text(value) for value in row) for row in table.itertuples(index=False))
        labels = {**(self.labels or {}), **{str(node): "" for node in batch["node"]}}
        return LabelFile(columns, kept + added, labels, self.delimiter)

    def write(self, path: str | Path) -> None:
        """Write the file atomically; a file that has labels which this one has not is left alone.

        Raises:
            InputError: when labels would be lost.
        """
        self.check_keeps(path)
        with atomic_path(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, delimiter=self.delimiter, lineterminator="\n").writerows([self.columns, *self.rows])

    def check_keeps(self, path: str | Path) -> None:
        """Refuse to replace a file with labels that this one does not have."""
        if not Path(path).exists() or not Path(path).stat().st_size:
            return
        there = {node: label for node, label in read_labels(path).items() if label}
        mine = {node.strip(): label for node, label in (self.labels or {}).items()}
        lost = [node for node, label in there.items() if mine.get(node) != label]
        if lost:
            raise InputError(
                f"{path} has {len(lost)} labels that would be lost, first {there[lost[0]]!r} of node {lost[0]!r}: "
                f"hand them back (`labels`), or choose another file (`out`)"
            )


def is_batch(path: str | Path) -> bool:
    """Whether a CSV file was written by ``imgcl suggest``, by its first line."""
    rows, _ = read_rows(Path(path))
    header = tuple(name.strip().lower() for name in rows[0]) if rows else ()
    return header[:2] == FIRST and BATCH in header


def _fitted(row: Sequence[str], width: int) -> tuple[str, ...]:
    return tuple([*row, *[""] * width][:width])


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)  # NaN differs from itself
