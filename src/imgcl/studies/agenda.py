"""Which cells are still to be computed, and which of them can start now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from imgcl.studies.cells import Cell
from imgcl.studies.store import Store


class Agenda:
    """The open cells of a study; an evaluation can start when its pre-training is there.

    Args:
        cells: the unfinished cells of the study; pre-trainings they need are added.
        store: says which pre-trainings are there.
        hopeless: keys of pre-trainings that failed before and are not to be tried again.
    """

    def __init__(self, cells: Sequence[Cell], store: Store, hopeless: frozenset[str] = frozenset()) -> None:
        self.ready: list[Cell] = []
        self.blocked: list[Cell] = []
        self._waiting: dict[str, list[Cell]] = {}
        seen: set[str] = set()
        for cell in cells:
            needs = cell.needs
            if cell.key in seen:
                continue
            seen.add(cell.key)
            if needs is None or store.has_embedding(needs):
                self.ready.append(cell)
            elif needs.key in hopeless:
                self.blocked.append(cell)
            else:
                if needs.key not in seen:
                    seen.add(needs.key)
                    self.ready.append(needs)
                self._waiting.setdefault(needs.key, []).append(cell)

    def __len__(self) -> int:
        return len(self.ready) + sum(map(len, self._waiting.values()))

    def open_cells(self) -> list[Cell]:
        """Everything that is not started yet."""
        return [*self.ready, *(cell for cells in self._waiting.values() for cell in cells)]

    def next(self, graph: str | None = None) -> Cell | None:
        """Take the next cell: evaluations first, then a pre-training, rather on the graph that is loaded already."""
        if not self.ready:
            return None
        place = next((i for i, cell in enumerate(self.ready) if cell.needs is not None), None)
        if place is None and graph is not None:
            place = next((i for i, cell in enumerate(self.ready) if fingerprint(cell) == graph), None)
        return self.ready.pop(place or 0)

    def again(self, cell: Cell) -> None:
        """Put back a cell that was taken but not computed."""
        self.ready.insert(0, cell)

    def finished(self, cell: Cell, record: dict[str, Any]) -> None:
        """A cell was computed, or failed: what waits for it can start, or never will."""
        waiting = self._waiting.pop(cell.key, [])
        if record["status"] == "done":
            self.ready = waiting + self.ready
        else:
            self.blocked += waiting


def fingerprint(cell: Cell) -> str | None:
    """The graph that computing the cell loads."""
    return None if cell.loads is None else cell.loads.fingerprint
