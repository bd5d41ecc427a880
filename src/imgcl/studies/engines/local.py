"""Cells on the cores of this machine, each worker a process: one that dies costs its cell's time and nothing else."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from imgcl.studies.agenda import Agenda, fingerprint
from imgcl.studies.cells import Cell
from imgcl.studies.engines.base import OnDone, Settings
from imgcl.studies.engines.worker import THREAD_VARIABLES, serve
from imgcl.studies.records import failure
from imgcl.studies.store import Store

TRIES = 2  # a cell whose worker dies is given to another worker once
PATIENCE = 3.0  # seconds that a worker has to leave its cell


class WorkerDiedError(RuntimeError):
    """A worker process ended in the middle of a cell."""


class Hand:
    """The parent's side of one worker."""

    def __init__(self, store: Store, settings: Settings, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe: Connection
        self.pipe, theirs = context.Pipe()
        arguments = (theirs, str(store.root), settings.data_dir, threads)
        self.process: BaseProcess = context.Process(target=serve, args=arguments, daemon=True)
        with _thread_variables(threads):
            self.process.start()
        theirs.close()
        self.cell: Cell | None = None
        self.graph: str | None = None

    def give(self, cell: Cell) -> None:
        """Start a cell."""
        self.cell, self.graph = cell, fingerprint(cell) or self.graph
        with suppress(OSError):  # it died while idle: taking its answer finds out
            self.pipe.send(cell)

    def take(self) -> dict[str, Any] | None:
        """The record of the cell, or ``None`` when the worker died.

        Raises:
            OSError: when the worker's disk is full or broken.
        """
        try:
            record: dict[str, Any] | OSError = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(record, OSError):
            raise record
        return record

    def ask_to_end(self) -> None:
        """Let the process leave its cell: what it is writing is removed."""
        if self.cell is not None:
            self.process.terminate()

    def end(self) -> None:
        """End the process, whatever it is doing; one that is in a cell has some time to leave it."""
        if self.cell is not None:
            self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_local(agenda: Agenda, store: Store, settings: Settings, on_done: OnDone) -> None:
    """Compute every cell of the agenda; stops early at the deadline."""
    workers, threads = settings.sizes()
    hands: list[Hand] = []
    tries: dict[str, int] = {}
    try:
        hands += [Hand(store, settings, threads) for _ in range(min(workers, len(agenda)))]
        while not settings.time_is_up:
            for hand in hands:
                if hand.cell is None and (cell := agenda.next(hand.graph)) is not None:
                    tries[cell.key] = tries.get(cell.key, 0) + 1
                    hand.give(cell)
            busy = {hand.pipe: hand for hand in hands if hand.cell is not None}
            if not busy:
                break
            for pipe in connection.wait(list(busy), timeout=settings.time_left):
                hand = busy[pipe]  # type: ignore[index]
                cell, record = hand.cell, hand.take()
                assert cell is not None
                hand.cell = None
                if record is None:
                    hand.end()
                    code = hand.process.exitcode
                    hands[hands.index(hand)] = Hand(store, settings, threads)
                    if tries[cell.key] < TRIES:
                        agenda.again(cell)
                        continue
                    record = failure(WorkerDiedError(f"the worker process ended with exit code {code}, {TRIES} times"))
                agenda.finished(cell, record)
                on_done(cell, record)
    finally:
        for hand in hands:
            hand.ask_to_end()
        for hand in hands:
            hand.end()


@contextmanager
def _thread_variables(threads: int) -> Iterator[None]:
    """Libraries read these when they are loaded, so they must stand in the worker's environment from its start."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
