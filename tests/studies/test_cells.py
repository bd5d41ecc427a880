"""A cell's key changes with everything that decides its result, and with nothing else."""

import pytest

from imgcl.balance import BalanceSettings
from imgcl.studies import BaselineCell, EvaluateCell, GraphRef, PretrainCell, Protocol, TrialCell
from imgcl.training.estimator import make_config
from imgcl.training.settings import ScopeSettings, TrainingSettings

GRAPH = GraphRef(source="digits", name="digits", fingerprint="abc", n_classes=10)
CONFIG = make_config("digits", overrides={"epochs": 5})
CELL = PretrainCell(graph=GRAPH, config=CONFIG)


def with_config(**changes):
    return PretrainCell(graph=GRAPH, config=CONFIG.model_copy(update=changes))


@pytest.mark.parametrize(
    "other",
    [
        with_config(seed=1),
        with_config(method="grace", method_settings={}),
        with_config(method_settings={"dim": 7}),
        with_config(training=CONFIG.training.model_copy(update={"epochs": 6})),
        with_config(training=CONFIG.training.model_copy(update={"lr": 0.5})),
        with_config(balance=None),
        with_config(balance=BalanceSettings(centrality="none")),
        with_config(balance=BalanceSettings(n_clusters=9)),
        with_config(scope=ScopeSettings(scope="inductive", imbalance="exp:10")),
        PretrainCell(graph=GRAPH.model_copy(update={"fingerprint": "abd"}), config=CONFIG),
    ],
)
def test_what_decides_a_pretraining_changes_its_key(other):
    assert other.key != CELL.key


@pytest.mark.parametrize(
    "same",
    [
        with_config(preset="another name"),
        with_config(training=CONFIG.training.model_copy(update={"checkpoint_every": 3})),
        with_config(balance=BalanceSettings(n_clusters=10)),  # the number of classes is the default
        with_config(method_settings=CONFIG.build_settings().model_dump()),  # defaults written out
        with_config(scope=ScopeSettings(scope="train", imbalance="exp:7", split=3)),  # not read in this scope
        PretrainCell(graph=GRAPH.model_copy(update={"source": "/elsewhere/digits.npz"}), config=CONFIG),
    ],
)
def test_what_does_not_decide_it_does_not(same):
    assert same.key == CELL.key


def test_splits_of_a_scope_are_different_pretrainings():
    keys = {with_config(scope=ScopeSettings(scope="inductive", imbalance="exp:10", split=i)).key for i in range(3)}
    assert len(keys) == 3


def test_every_part_of_the_protocol_changes_the_key_of_an_evaluation():
    base = EvaluateCell(pretrain=CELL)
    changes = {
        "imbalance": "exp:20",
        "classifiers": ("plain",),
        "splits": 5,
        "seed": 1,
        "probe": "sklearn",
        "ceiling": 0,
    }
    assert set(changes) == set(Protocol.model_fields)
    keys = {EvaluateCell(pretrain=CELL, protocol=Protocol(**{name: value})).key for name, value in changes.items()}
    keys.add(EvaluateCell(pretrain=with_config(seed=1)).key)
    assert len(keys | {base.key}) == len(changes) + 2


def test_kinds_do_not_share_keys():
    cells = [CELL, EvaluateCell(pretrain=CELL), TrialCell(pretrain=CELL)]
    cells += [BaselineCell(graph=GRAPH, baseline=baseline) for baseline in ("features", "propagated")]
    assert len({cell.key for cell in cells}) == len(cells)


def test_training_settings_that_are_new_must_be_looked_at():
    """All training settings but the checkpoints decide results and are in the key; later ones when they are used."""
    identity = CELL.identity()
    assert set(identity["training"]) == set(TrainingSettings.model_fields) - {"checkpoint_every", "settle"}
    settling = CELL.config.training.model_copy(update={"settle": True})
    assert "settle" in with_config(training=settling).identity()["training"]
