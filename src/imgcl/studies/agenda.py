"""Which cells are still to be computed, and which of them can start now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from imgcl.studies.cells import Cell
from imgcl.studies.store import Store


class Agenda:
    """The open cells of a study; an evaluation can start when all its pre-trainings are there.

    Args:
        cells: the unfinished cells of the study; pre-trainings they need are added.
        store: says which pre-trainings are there.
        hopeless: keys of pre-trainings that failed before and are not to be tried again.
        stages: by key, which cells come first: nothing starts while a cell of an earlier stage can; 0 where not given.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        store: Store,
        hopeless: frozenset[str] = frozenset(),
        stages: Mapping[str, int] | None = None,
    ) -> None:
        self.ready: list[Cell] = []
        self.blocked: list[Cell] = []
        self._waiting: dict[str, Cell] = {}
        self._missing: dict[str, set[str]] = {}  # of each waiting cell, the pre-trainings that are not there yet
        self._stages = dict(stages or {})
        seen: set[str] = set()
        for cell in cells:
            if cell.key not in seen:
                seen.add(cell.key)
                self._enter(cell, store, hopeless, seen)

    def _enter(self, cell: Cell, store: Store, hopeless: frozenset[str], seen: set[str]) -> None:
        missing = [each for each in cell.all_needs if not store.has_embedding(each)]
        if any(each.key in hopeless for each in missing):
            self.blocked.append(cell)
            return
        for each in missing:
            stage = min(self._stage(cell), self._stages.get(each.key, self._stage(cell)))
            self._stages[each.key] = stage
            if each.key not in seen:
                seen.add(each.key)
                self.ready.append(each)
        if missing:
            self._waiting[cell.key], self._missing[cell.key] = cell, {each.key for each in missing}
        else:
            self.ready.append(cell)

    def _stage(self, cell: Cell) -> int:
        return self._stages.get(cell.key, 0)

    def __len__(self) -> int:
        return len(self.ready) + len(self._waiting)

    def open_cells(self) -> list[Cell]:
        """Everything that is not started yet."""
        return [*self.ready, *self._waiting.values()]

    def next(self, graph: str | None = None) -> Cell | None:
        """Take the next cell of the first stage: evaluations, then pre-trainings, rather on the loaded graph."""
        if not self.ready:
            return None
        first = min(map(self._stage, self.ready))
        places = [i for i, cell in enumerate(self.ready) if self._stage(cell) == first]
        places = [i for i in places if self.ready[i].all_needs] or places
        loaded = (i for i in places if graph is not None and fingerprint(self.ready[i]) == graph)
        return self.ready.pop(next(loaded, places[0]))

    def again(self, cell: Cell) -> None:
        """Put back a cell that was taken but not computed."""
        self.ready.insert(0, cell)

    def finished(self, cell: Cell, record: dict[str, Any]) -> None:
        """A cell was computed, or failed: what waits for it can start, or never will."""
        waiting = [key for key, missing in self._missing.items() if cell.key in missing]
        if record["status"] != "done":
            self.blocked += map(self._leave, waiting)
            return
        for key in waiting:
            self._missing[key].discard(cell.key)
        self.ready = [self._leave(key) for key in waiting if not self._missing[key]] + self.ready

    def _leave(self, key: str) -> Cell:
        """Take a cell out of those that wait."""
        del self._missing[key]
        return self._waiting.pop(key)


def fingerprint(cell: Cell) -> str | None:
    """The graph that computing the cell loads."""
    return None if cell.loads is None else cell.loads.fingerprint
