"""The directory of all studies: results of cells by key, and one journal per study.

``<root>/cells/<key>/`` holds a cell's record and, for a pre-training, its run directory; studies share them.
``<root>/<study>/journal.jsonl`` is all that a study's tables and figures are made from.
"""

from __future__ import annotations

from pathlib import Path

from imgcl._core.checksums import read_checked_json, write_checked_json
from imgcl.studies.cells import Cell, PretrainCell
from imgcl.studies.journal import JOURNAL, Journal
from imgcl.studies.lines import study_lines
from imgcl.studies.protocol import Embedded
from imgcl.studies.records import Record
from imgcl.training import Run

RECORD = "record.json"
RECORD_BYTES = 1 << 28
FORMAT = "imgcl-cell-2"
WEIGHTS = "checkpoint.safetensors"
EMBEDDING = "embedding.npy"
RECORDED = ("status", "seconds", "commit", "result")  # what a journal's line keeps of a record


class Store:
    """Where studies keep what they computed.

    Args:
        root: the directory.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def journal(self, study: str) -> Journal:
        """The journal of a study."""
        return Journal(self.root / study / JOURNAL)

    def studies(self) -> list[str]:
        """Names of the studies that have a journal."""
        return sorted(path.parent.name for path in self.root.glob(f"*/{JOURNAL}"))

    def directory(self, cell: Cell) -> Path:
        """The directory of a cell."""
        return self.root / "cells" / cell.key

    def run(self, cell: PretrainCell) -> Run:
        """The run directory of a pre-training."""
        return Run(self.directory(cell))

    def lock(self, cell: Cell) -> Path:
        """The lock file of the process that computes the cell."""
        return self.directory(cell) / ".lock"

    def record(self, cell: Cell) -> Record | None:
        """The record of a finished cell."""
        try:
            remedy = "delete it; the cell is computed again"
            return read_checked_json(self.directory(cell) / RECORD, FORMAT, remedy, largest=RECORD_BYTES)
        except FileNotFoundError:
            return None

    def journalled(self) -> dict[str, Record]:
        """Records of finished cells in any study's journal: they stay known when the directory of cells is gone."""
        return {
            line["key"]: {name: line[name] for name in RECORDED}
            for study in self.studies()
            for line in study_lines(self.journal(study))
            if line["type"] == "cell" and line["status"] == "done"
        }

    def finish(self, cell: Cell, record: Record) -> None:
        """Keep the record: the cell is finished. Of a pre-training the embedding is kept, not the weights."""
        write_checked_json(self.directory(cell) / RECORD, record, FORMAT)
        (self.directory(cell) / WEIGHTS).unlink(missing_ok=True)

    def has_embedding(self, cell: PretrainCell) -> bool:
        """Whether evaluations can start from this pre-training."""
        return (self.directory(cell) / EMBEDDING).exists() and (self.directory(cell) / RECORD).exists()

    def embeddings(self, cell: Cell) -> list[Embedded]:
        """The pre-trainings that a cell starts from, in their order."""
        return [Embedded.of(self.run(each)) for each in cell.all_needs]

    def drop_embedding(self, cell: PretrainCell) -> None:
        """Free the space of an embedding that nothing will read again."""
        (self.directory(cell) / EMBEDDING).unlink(missing_ok=True)
