"""Which cell comes next: stages, pre-trainings before what needs them, the graph that is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from imgcl.studies import Cell, GraphRef, PretrainCell, Store
from imgcl.studies.agenda import Agenda
from imgcl.training import RunConfig

DONE, FAILED = {"status": "done"}, {"status": "failed"}


class Side(Cell):
    """Starts from any number of pre-trainings."""

    kind = "side"
    name: str
    starts_from: tuple[PretrainCell, ...] = ()

    def identity(self) -> dict[str, Any]:
        return {"name": self.name}

    def compute(self, context: Any) -> dict[str, Any]:
        return {}

    @property
    def all_needs(self) -> tuple[PretrainCell, ...]:
        return self.starts_from


def pretraining(graph: str, seed: int = 0) -> PretrainCell:
    return PretrainCell(graph=GraphRef(source=graph, name=graph, fingerprint=graph), config=RunConfig(seed=seed))


@pytest.fixture
def store(tmp_path: Any) -> Store:
    return Store(tmp_path)


def test_a_cell_of_two_pre_trainings_waits_for_both(store: Store) -> None:
    one, two = pretraining("a"), pretraining("a", seed=1)
    both = Side(name="both", starts_from=(one, two))
    agenda = Agenda([both], store)
    assert len(agenda) == 3
    assert [agenda.next(), agenda.next(), agenda.next()] == [one, two, None]
    agenda.finished(one, DONE)
    assert agenda.next() is None
    assert agenda.open_cells() == [both]
    agenda.finished(two, DONE)
    assert agenda.next() == both
    assert len(agenda) == 0


def test_one_failed_pre_training_blocks_a_cell_of_two(store: Store) -> None:
    one, two = pretraining("a"), pretraining("a", seed=1)
    both, alone = Side(name="both", starts_from=(one, two)), Side(name="alone", starts_from=(two,))
    agenda = Agenda([both, alone], store)
    agenda.finished(one, FAILED)
    assert agenda.blocked == [both]
    agenda.finished(two, DONE)
    assert agenda.next() == alone
    assert Agenda([both, alone], store, frozenset({one.key})).blocked == [both]


def test_an_earlier_stage_comes_first_and_its_pre_trainings_with_it(store: Store) -> None:
    trained = pretraining("a")
    late, early = (Side(name=name, starts_from=(trained,)) for name in ("late", "early"))
    first = Side(name="first")
    agenda = Agenda([late, first, early], store, stages={late.key: 2, early.key: 0, first.key: 1})
    assert agenda.next() == trained  # the early one needs it, although the late one was named first
    agenda.finished(trained, DONE)
    assert [agenda.next(), agenda.next(), agenda.next()] == [early, first, late]


def test_the_loaded_graph_is_preferred_within_a_stage_only(store: Store) -> None:
    a, b, later = pretraining("a"), pretraining("b"), pretraining("b", seed=1)
    agenda = Agenda([a, later, b], store, stages={later.key: 1})
    assert [agenda.next("b"), agenda.next("b"), agenda.next("b")] == [b, a, later]


def test_evaluations_come_before_pre_trainings_of_their_stage(store: Store) -> None:
    a, b = pretraining("a"), pretraining("b")
    evaluation = Side(name="evaluation", starts_from=(a,))
    agenda = Agenda([evaluation, b], store)
    assert agenda.next() == a
    agenda.finished(a, DONE)
    assert agenda.next("b") == evaluation
