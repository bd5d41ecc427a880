"""Tuning: the criterion, the search space, and going on where a search stopped."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.imbalance import make_splits
from imgcl.methods import METHODS
from imgcl.training import tuning
from imgcl.training.tuning import effective_rank, search_space, tune, validation_accuracy

pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::Warning:optuna")


def test_effective_rank_counts_directions():
    rng = np.random.default_rng(0)
    flat = rng.standard_normal((500, 2)) @ rng.standard_normal((2, 16))
    wide = rng.standard_normal((500, 16))
    assert effective_rank(flat.astype(np.float32)) < 2.01
    assert effective_rank(wide.astype(np.float32)) > 15
    assert effective_rank(np.ones((9, 4), dtype=np.float32)) == pytest.approx(1, abs=1e-5)


def test_validation_accuracy_never_sees_test_nodes(small_graph):
    y = small_graph.y
    splits = make_splits(y, "exp:5", splits=2, val_per_class=4)
    Z = np.eye(3, dtype=np.float32)[y]
    assert validation_accuracy(Z, y, splits) == 1
    for split in splits:
        spoilt = Z.copy()
        spoilt[split.test] = np.nan
        only = validation_accuracy(np.where(np.isnan(spoilt), 7.0, spoilt).astype(np.float32), y, [split])
        assert only == 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_something_to_search(method):
    assert {"lr", "weight_decay", "normalise", "dim"} <= set(search_space(method))


def test_a_search_goes_on_and_starts_at_the_preset(small_graph, tmp_path):
    seen = []
    options = {"epochs": 2, "imbalance": "exp:5", "storage": tmp_path / "trials.db"}
    options["on_trial"] = lambda number, value, settings: seen.append((number, settings))
    first = tune(small_graph, trials=2, **options)
    assert [number for number, _ in seen] == [0, 1]
    assert first.criterion == "validation accuracy"
    assert 0 < first.value <= 1
    again = tune(small_graph, trials=3, **options)
    assert [number for number, _ in seen] == [0, 1, 2]
    assert again.trials == 3
    assert again.value >= first.value
    tune(small_graph, trials=3, **options)
    assert len(seen) == 3


def test_trials_of_another_seed_or_preset_do_not_count(small_graph, tmp_path):
    seen = []
    options = {"trials": 1, "epochs": 2, "imbalance": "exp:5", "storage": tmp_path / "trials.db"}
    options["on_trial"] = lambda *trial: seen.append(trial)
    for changes in ({}, {"random_state": 1}, {"preset": "paper"}, {}, {"random_state": 1}):
        assert tune(small_graph, **options, **changes).trials == 1
    assert len(seen) == 3


def test_a_storage_in_a_new_directory(small_graph, tmp_path):
    tune(small_graph, trials=1, epochs=2, imbalance="exp:5", storage=tmp_path / "new" / "deep" / "trials.db")
    assert (tmp_path / "new" / "deep" / "trials.db").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("text.db", "file is not a database"),
        ("text.db/t.db", "File exists: .*text.db"),
        ("folder", "unable to open database file"),
        ("other.db", "no such column"),
        ("old.db", "no longer compatible"),
    ],
)
def test_a_storage_that_cannot_be_used_is_explained(small_graph, tmp_path, name, reason):
    (tmp_path / "text.db").write_text("not a data base, but a text of some length")
    (tmp_path / "folder").mkdir()
    with closing(sqlite3.connect(tmp_path / "other.db")) as base, base:
        base.execute("CREATE TABLE version_info (words TEXT)")
    if name == "old.db":
        tune(small_graph, trials=1, epochs=2, imbalance="exp:5", storage=tmp_path / name)
        with closing(sqlite3.connect(tmp_path / name)) as base, base:
            base.execute("UPDATE alembic_version SET version_num = 'v0.9.0.a'")
    with pytest.raises(InputError, match=rf"{name} cannot be used to keep trials: .*{reason}.*; choose another file"):
        tune(small_graph, trials=1, epochs=2, imbalance="exp:5", storage=tmp_path / name)


def test_without_labels_the_criterion_needs_none(small_graph):
    found = tune(small_graph.with_labels(None), method="gbt", trials=1, epochs=2, balance=None)
    assert found.criterion == "effective rank"
    assert found.value > 1


def test_without_optuna_it_says_what_to_install(small_graph, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"imgcl\[tune\]"):
        tuning.tune(small_graph, trials=1)


def test_a_search_that_goes_on_draws_other_settings(small_graph, tmp_path):
    seen = []
    options = {"epochs": 1, "imbalance": "exp:5", "storage": tmp_path / "trials.db", "balance": None}
    options["on_trial"] = lambda number, value, settings: seen.append(tuple(settings.values()))
    for trials in (2, 3, 4):
        tune(small_graph, trials=trials, **options)
    assert len(set(seen)) == len(seen) == 4


def test_trials_do_not_count_when_the_preset_has_changed(small_graph, tmp_path, monkeypatch):
    options = {"epochs": 1, "imbalance": "exp:5", "storage": tmp_path / "trials.db", "trials": 1}
    tune(small_graph, **options)
    made = tuning.make_config

    def other(*arguments, **given):
        config = made(*arguments, **given)
        return config.model_copy(update={"training": config.training.model_copy(update={"warm_up": 0.3})})

    monkeypatch.setattr(tuning, "make_config", other)
    seen = []
    tune(small_graph, **options, on_trial=lambda *trial: seen.append(trial))
    assert len(seen) == 1


def test_a_class_number_without_nodes_does_not_cost_validation_nodes(small_graph, monkeypatch):
    made = []
    monkeypatch.setattr(tuning, "make_splits", lambda *a, **k: made.append(k) or make_splits(*a, val_per_class=5))
    y = np.where(small_graph.y >= 1, small_graph.y + 1, small_graph.y)  # 0, 2, 3
    tuning._criterion(small_graph.with_labels(y), "exp:5", 0)
    assert made == [{}]
