"""What every engine is given and gives."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from imgcl._core.errors import InputError
from imgcl.studies.agenda import Agenda
from imgcl.studies.cells import Cell
from imgcl.studies.store import Store

OnDone = Callable[[Cell, dict[str, Any]], None]


@dataclass(frozen=True)
class Settings:
    """How an engine works.

    Attributes:
        workers: cells computed at the same time; by default one per core.
        threads: threads of each; by default what keeps workers x threads within the cores.
        data_dir: directory of raw data files.
        deadline: moment of ``time.monotonic()`` at which work stops; ``None``: never.
        address: of a Ray cluster; ``None``: one is started here.
    """

    workers: int | None = None
    threads: int | None = None
    data_dir: str | None = None
    deadline: float | None = None
    address: str | None = None

    def sizes(self, cores: int | None = None) -> tuple[int, int]:
        """Workers and threads of each.

        Example:
            >>> Settings(workers=3).sizes(cores=8), Settings(threads=4).sizes(cores=8), Settings().sizes(cores=2)
            ((3, 2), (2, 4), (2, 1))
        """
        available = cores or usable_cores()
        for name, value in (("workers", self.workers), ("threads", self.threads)):
            if value is not None and value < 1:
                raise InputError(f"`{name}` is {value}: it must be at least 1")
        threads = self.threads or max(1, available // (self.workers or available))
        return self.workers or max(1, available // threads), threads

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline."""
        return None if self.deadline is None else self.deadline - time.monotonic()

    @property
    def time_is_up(self) -> bool:
        left = self.time_left
        return left is not None and left <= 0


Engine = Callable[[Agenda, Store, Settings, OnDone], None]


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
