"""When training stops by itself: hand-made embeddings, and real trainings with a resume in between."""

import json

import numpy as np
import pytest

import imgcl
from imgcl import InputError
from imgcl.training import Run, RunConfig, TrainingSettings
from imgcl.training.estimator import make_config
from imgcl.training.presets import find_preset
from imgcl.training.pretrain import pretrain
from imgcl.training.settings import apply_overrides
from imgcl.training.settling import EARLIEST, KEPT, MOST_EPOCHS, Settling, nearest, share_kept

GRAPH = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
AUTO = {"dim": 8, "epochs": "auto"}


def test_neighbours_of_points_on_a_circle():
    angle = np.deg2rad([0, 10, 21, 180, 191, 203])
    rows = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    assert nearest(rows)[0].tolist() == [1, 2, 3, 4, 5]  # fewer than ten others: all of them
    many = np.concatenate([np.tile(rows[:3], (4, 1)), np.tile(rows[3:], (4, 1))])
    assert (nearest(many)[:12] < 12).all()
    assert (nearest(many)[12:] >= 12).all()


def test_length_of_rows_does_not_matter_and_zero_rows_are_allowed():
    rows = np.random.default_rng(0).standard_normal((40, 5)).astype(np.float32)
    assert np.array_equal(nearest(rows), nearest(rows * np.linspace(1, 9, 40, dtype=np.float32)[:, None]))
    rows[3] = 0
    assert nearest(rows).shape == (40, 10)


def test_settled_needs_two_looks_and_three_quarters():
    rng = np.random.default_rng(0)
    settling, z = Settling(50, seed=0), rng.standard_normal((50, 4))
    assert not settling.settled
    settling.look(25, z)
    assert not settling.settled
    settling.look(50, rng.standard_normal((50, 4)))
    assert settling.looks[-1]["kept"] < KEPT
    assert not settling.settled
    settling.look(100, z)
    settling.look(200, z)
    assert settling.looks[-1] == {"epoch": 200, "kept": 1.0}
    assert settling.settled


def test_share_kept_by_hand():
    assert share_kept(np.array([[0, 1], [2, 3]]), np.array([[0, 5], [2, 3]])) == 0.75
    assert share_kept(np.empty((1, 0)), np.empty((1, 0))) == 0.0


def test_epochs_auto_and_a_number():
    config = RunConfig()
    auto = apply_overrides(config, {"epochs": "auto"}).training
    assert (auto.epochs, auto.settle, auto.schedule) == (MOST_EPOCHS, True, "constant")
    assert not apply_overrides(RunConfig(training=auto), {"epochs": 7}).training.settle
    with pytest.raises(InputError, match="epochs = 'soon'"):
        apply_overrides(config, {"epochs": "soon"})


def test_a_fixed_length_is_written_as_before():
    assert "settle" not in TrainingSettings().model_dump(mode="json")
    assert TrainingSettings(settle=True).model_dump(mode="json")["settle"] is True


def test_presets_of_an_unknown_graph():
    assert find_preset("gbt", "mine", "auto").training["settle"]
    assert find_preset("gbt", "amazon-photo", "auto").graph == "default"
    assert find_preset("dgi", "cora", "auto").name == "dgi/default/fast"


def test_the_estimator_stops_by_itself():
    model = imgcl.ImGCL(n_clusters=2, settings={"dim": 8}).fit(GRAPH)
    looks = model.history_["settling"]
    assert model.config_.training.settle
    assert len(model.history_["loss"]) == looks[-1]["epoch"] >= EARLIEST
    assert looks[-1]["kept"] >= KEPT
    assert [look["kept"] is None for look in looks] == [True] + [False] * (len(looks) - 1)


def test_balance_is_complete_when_training_may_stop():
    model = imgcl.ImGCL(n_clusters=2, epochs="auto", settings={"dim": 8}).fit(GRAPH)
    labellings = model.history_["labellings"]
    assert len(labellings) == model.config_.balance.labellings
    assert max(entry["epoch"] for entry in labellings) < EARLIEST


def test_a_resumed_run_stops_at_the_same_epoch(tmp_path):
    config = make_config("synthetic", balance=None, overrides={**AUTO, "checkpoint_every": 30})
    whole = pretrain(GRAPH, config, tmp_path / "whole")
    with pytest.raises(RuntimeError, match="enough"):
        pretrain(GRAPH, config, tmp_path / "cut", on_epoch=stop_at(35))
    again = pretrain(GRAPH, config, tmp_path / "cut", resume=True)
    assert again.history == whole.history
    assert np.array_equal(again.embedding, whole.embedding)
    assert json.loads((tmp_path / "cut" / "history.json").read_text())["settling"]


def stop_at(epoch):
    def stop(report):
        if report.epoch == epoch:
            raise RuntimeError("enough")

    return stop


def test_damaged_looks_are_refused(tmp_path):
    settling = Settling(50, seed=0)
    state = settling.state_dict()
    with pytest.raises(ValueError, match="between 0 and 1"):
        settling.load_state_dict({**state, "looks": [{"epoch": 25, "kept": 7.0}]})
    with pytest.raises(ValueError, match="instead of 50"):
        settling.load_state_dict({**state, "neighbours": state["neighbours"].new_zeros(3, 10)})


def test_batches_train_all_epochs(tmp_path):
    config = make_config(
        "synthetic", balance=None, overrides={"dim": 8, "batch_size": 16, "epochs": 30, "settle": True}
    )
    assert len(Run(pretrain(GRAPH, config, tmp_path / "run").path).history["loss"]) == 30
