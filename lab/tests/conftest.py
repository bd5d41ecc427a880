"""What the tests of the studies share."""

from __future__ import annotations

import pytest

from imgcl.studies import Graphs, running
from imgcl.studies.agenda import Agenda
from imgcl.studies.engines import Settings
from imgcl.studies.engines.base import OnDone
from imgcl.studies.engines.worker import Worker
from imgcl.studies.store import Store


def compute_in_line(agenda: Agenda, store: Store, settings: Settings, on_done: OnDone) -> None:
    worker = Worker(store, None)
    while (cell := agenda.next()) is not None:
        record = worker.work(cell)
        assert record["status"] == "done", record
        agenda.finished(cell, record)
        on_done(cell, record)


@pytest.fixture(scope="module")
def in_line():
    """Studies are computed in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "resolve_engine", lambda name: compute_in_line)
        yield


@pytest.fixture(scope="session")
def digits() -> Graphs:
    return Graphs.load(["digits"])
