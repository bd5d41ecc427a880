"""A worker process of the local engine: takes cells from a pipe, computes them, sends records back."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import threading
import time
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
from types import FrameType

from imgcl._core.files import DISK_TROUBLE
from imgcl._core.interrupts import never_lost
from imgcl._core.locks import locked
from imgcl.graph import Graph
from imgcl.studies.cells import Cell, Context, PretrainCell
from imgcl.studies.records import Record, failure, timed
from imgcl.studies.store import Store

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def serve(pipe: Connection, root: str, data_dir: str | None, threads: int) -> None:
    """Compute cells until the pipe says ``None`` or closes."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    signal.signal(signal.SIGTERM, _leave)
    _end_with_parent()
    torch.set_num_threads(threads)
    for package in ("imgcl.data", "imgcl.imbalance"):  # every cell of a graph would say the same
        logging.getLogger(package).addFilter(Once())
    with never_lost(SystemExit, lambda: signal.SIGTERM):
        _answer(pipe, Worker(Store(root), data_dir))


def _answer(pipe: Connection, worker: Worker) -> None:
    while True:
        try:
            cell = pipe.recv()
        except EOFError:
            return
        if cell is None:
            return
        try:
            answer: Record | OSError = worker.work(cell)
        except OSError as error:
            answer = error
        pipe.send(answer)


def _leave(number: int, _frame: FrameType | None) -> None:
    """End in good order: files that are half-written are removed, locks are released."""
    sys.exit(128 + number)


class Once(logging.Filter):
    """Lets a message pass the first time."""

    def __init__(self) -> None:
        super().__init__()
        self._passed: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the message is new."""
        message = record.getMessage()
        new = message not in self._passed
        self._passed.add(message)
        return new


class Worker:
    """Computes cells one after the other; keeps the last graph."""

    def __init__(self, store: Store, data_dir: str | None) -> None:
        self.store, self.data_dir = store, data_dir
        self._graph: tuple[str, Graph] | None = None

    def work(self, cell: Cell) -> Record:
        """The record of a cell: computed, found, or of its failure.

        Raises:
            OSError: when the disk is full or broken, which is no fault of the cell: what it has so far is kept.
        """
        start = time.monotonic()
        directory = self.store.directory(cell)
        context = Context(lambda: self._load(cell), lambda: self.store.embeddings(cell), directory)
        with locked(self.store.lock(cell)):  # another study may be at the same cell
            found = self.store.record(cell)
            if found is not None and (not isinstance(cell, PretrainCell) or self.store.has_embedding(cell)):
                return found
            try:
                record = timed(lambda: cell.compute(context))
            except Exception as error:
                if isinstance(error, OSError) and error.errno in DISK_TROUBLE:
                    raise
                shutil.rmtree(directory, ignore_errors=True)  # nothing half-done is left for the next try
                return failure(error, time.monotonic() - start)
            self.store.finish(cell, record)
            return record

    def _load(self, cell: Cell) -> Graph:
        from imgcl.data import load_graph

        assert cell.loads is not None
        if self._graph is None or self._graph[0] != cell.loads.fingerprint:
            self._graph = (cell.loads.fingerprint, load_graph(cell.loads.source, data_dir=self.data_dir))
        return self._graph[1]


def _end_with_parent() -> None:
    """A worker whose parent was killed ends at once: a restarted study must find the cell free."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
