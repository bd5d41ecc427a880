"""Cells on a Ray cluster, one that runs already or one started here; a node that dies costs its cells' time only.

Only the driver touches the study's directory: graphs and embeddings travel to the tasks, results and run directories
travel back, so the nodes need no common file system and no data files.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from imgcl._core.extras import need
from imgcl._core.files import atomic_path
from imgcl.graph import Graph
from imgcl.studies.agenda import Agenda
from imgcl.studies.cells import Cell, Context
from imgcl.studies.engines.base import OnDone, Settings
from imgcl.studies.protocol import Embedded
from imgcl.studies.records import failure, timed
from imgcl.studies.store import EMBEDDING, WEIGHTS, Store

RETRIES = 5  # of a task whose node or process died
Files = dict[str, bytes]


def run_ray(agenda: Agenda, store: Store, settings: Settings, on_done: OnDone) -> None:
    """Compute every cell of the agenda; stops early at the deadline."""
    need("ray", "engine 'ray'")
    import ray

    started = not ray.is_initialized()
    if started:
        # A cluster of our own may use this machine as fully as the local engine does (Ray's workers are nice by 15).
        own: dict[str, Any] = (
            {} if settings.address else {"include_dashboard": False, "_system_config": {"worker_niceness": 0}}
        )
        ray.init(address=settings.address, log_to_driver=False, logging_level=logging.ERROR, **own)
    try:
        Driver(ray, agenda, store, settings).run(on_done)
    finally:
        if started:
            ray.shutdown()


class Driver:
    """Gives cells to the cluster and files what comes back."""

    def __init__(self, ray: Any, agenda: Agenda, store: Store, settings: Settings) -> None:
        self.ray, self.agenda, self.store, self.settings = ray, agenda, store, settings
        self.threads = settings.threads or 1
        self.task = ray.remote(num_cpus=self.threads, max_retries=RETRIES)(remote_compute)
        self._graphs: dict[str, Any] = {}

    def run(self, on_done: OnDone) -> None:
        """Until the agenda is empty or the time is up."""
        running: dict[Any, Cell] = {}
        try:
            while not self.settings.time_is_up:
                while len(running) < self._slots() and (cell := self.agenda.next()) is not None:
                    running[self.task.remote(cell, *self._inputs(cell), self.threads)] = cell
                if not running:
                    break
                ready, _ = self.ray.wait(list(running), timeout=self.settings.time_left)
                for reference in ready:
                    cell = running.pop(reference)
                    record = self._collect(cell, reference)
                    self.agenda.finished(cell, record)
                    on_done(cell, record)
        finally:
            for reference in running:
                self.ray.cancel(reference, force=True)

    def _slots(self) -> int:
        """How many cells the cluster, as it is now, computes at the same time."""
        slots = max(1, int(self.ray.cluster_resources().get("CPU", 1)) // self.threads)
        return slots if self.settings.workers is None else min(slots, self.settings.workers)

    def _inputs(self, cell: Cell) -> tuple[Any, Any]:
        """The graph and the pre-trainings that a cell needs."""
        graph = None
        if cell.loads is not None:
            graph = self._graphs.get(cell.loads.fingerprint)
            if graph is None:
                from imgcl.data import load_graph

                graph = self.ray.put(load_graph(cell.loads.source, data_dir=self.settings.data_dir))
                self._graphs[cell.loads.fingerprint] = graph
        return graph, self.ray.put(self.store.embeddings(cell))

    def _collect(self, cell: Cell, reference: Any) -> dict[str, Any]:
        record: dict[str, Any]
        try:
            record, files = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            return failure(error)
        if record["status"] == "done":
            write_files(self.store.directory(cell), files)
            self.store.finish(cell, record)
        return record


def remote_compute(
    cell: Cell, graph: Graph | None, embeddings: list[Embedded], threads: int
) -> tuple[dict[str, Any], Files]:
    """What a task does: the record of a cell and, of a pre-training, the files of its run directory."""
    import torch

    torch.set_num_threads(threads)
    start = time.monotonic()

    def given_graph() -> Graph:
        assert graph is not None
        return graph

    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "run"
        try:
            record = timed(lambda: cell.compute(Context(given_graph, lambda: embeddings, directory)))
        except Exception as error:
            return failure(error, time.monotonic() - start), {}
        return record, read_files(directory)


def read_files(directory: Path) -> Files:
    """The files of a run directory; the weights stay behind."""
    if not directory.exists():
        return {}
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file() and path.name != WEIGHTS}


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write them, the embedding last: a directory that has one is complete."""
    for name in sorted(files, key=lambda name: name == EMBEDDING):
        with atomic_path(directory / name) as temporary:
            temporary.write_bytes(files[name])
