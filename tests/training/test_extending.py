"""More epochs for a run: what the further ones follow, that no crash harms it, and what is refused."""

import numpy as np
import pytest

import imgcl
from imgcl._core.errors import RunError
from imgcl.balance import BalanceSettings
from imgcl.training import Run, RunConfig, Trainer, TrainingSettings
from imgcl.training.extending import continued_config, extension_sentence
from imgcl.training.optimiser import learning_rate_factor
from imgcl.training.pretrain import pretrain

FIRST = RunConfig(
    method_settings={"dim": 4},
    training=TrainingSettings(epochs=6, checkpoint_every=2, lr=0.01, warm_up=0),
    balance=BalanceSettings(labellings=3),
    seed=3,
)


def lasting(epochs, config=FIRST, **changes):
    return config.model_copy(update={"training": config.training.model_copy(update={"epochs": epochs, **changes})})


def cut_after(epoch):
    def cut(report):
        if report.epoch == epoch:
            raise KeyboardInterrupt

    return cut


@pytest.fixture
def extended(small_graph, tmp_path):
    """A finished run of 6 epochs, extended to 10."""
    pretrain(small_graph, FIRST, tmp_path / "run")
    return pretrain(small_graph, lasting(10), tmp_path / "run", resume=True)


def test_the_further_epochs_follow_the_schedules_of_the_new_length(small_graph, tmp_path, extended):
    alone = pretrain(small_graph, FIRST, tmp_path / "alone")
    assert extended.finished
    assert extended.whole
    assert (extended.config.training.epochs, extended.config.extended) == (10, ((6, 6),))
    assert len(extended.history["loss"]) == 10
    assert extended.history["loss"][:6] == alone.history["loss"]
    labellings = {entry["epoch"]: entry["alpha"] for entry in extended.history["labellings"]}
    # three labellings of 6 epochs; one where the length changes (alpha 1 - 6/10); the third period of 10 begins at 7
    assert labellings == pytest.approx({0: 1.0, 2: 2 / 3, 4: 1 / 3, 6: 0.4, 7: 0.3})
    assert not np.array_equal(extended.embedding, alone.embedding)


def test_the_learning_rate_is_that_of_the_new_length(small_graph, tmp_path):
    pretrain(small_graph, FIRST, tmp_path / "run")
    run = Run(tmp_path / "run")
    trainer = Trainer(continued_config(run, small_graph, lasting(10)), small_graph)
    trainer.restore(run.checkpoint())
    trainer.step()
    expected = 0.01 * 0.5 * (1 + np.cos(np.pi * 6 / 10))
    assert trainer.optimiser.param_groups[0]["lr"] == pytest.approx(expected)
    assert learning_rate_factor(6, lasting(10).training) == pytest.approx(expected / 0.01)


@pytest.mark.parametrize("epoch", [7, 9])
def test_an_interrupted_extension_goes_on_with_the_same_bits(small_graph, tmp_path, extended, epoch):
    pretrain(small_graph, FIRST, tmp_path / "cut")
    with pytest.raises(KeyboardInterrupt):
        pretrain(small_graph, lasting(10), tmp_path / "cut", resume=True, on_epoch=cut_after(epoch))
    assert not Run(tmp_path / "cut").finished
    again = pretrain(small_graph, lasting(10), tmp_path / "cut", resume=True)
    assert np.array_equal(again.embedding, extended.embedding)
    assert again.history == extended.history
    assert again.config == extended.config


def test_a_crash_before_the_new_length_is_written_leaves_the_old_run(small_graph, tmp_path, extended, monkeypatch):
    old = pretrain(small_graph, FIRST, tmp_path / "cut").embedding.copy()

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("imgcl.training.run.write_checked_json", crash)
        with pytest.raises(KeyboardInterrupt):
            pretrain(small_graph, lasting(10), tmp_path / "cut", resume=True)
    assert Run(tmp_path / "cut").config.training.epochs == 6
    assert np.array_equal(pretrain(small_graph, FIRST, tmp_path / "cut", resume=True).embedding, old)
    assert np.array_equal(
        pretrain(small_graph, lasting(10), tmp_path / "cut", resume=True).embedding, extended.embedding
    )


def test_an_interrupted_run_can_be_extended_and_extended_again(small_graph, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        pretrain(small_graph, FIRST, tmp_path / "run", on_epoch=cut_after(5))
    assert pretrain(small_graph, lasting(8), tmp_path / "run", resume=True).config.extended == ((4, 6),)
    assert pretrain(small_graph, lasting(9), tmp_path / "run", resume=True).config.extended == ((4, 6), (8, 8))


def test_a_run_without_a_checkpoint_just_has_another_length(small_graph, tmp_path):
    Run.start(tmp_path / "run", FIRST, small_graph, source="x")
    run = pretrain(small_graph, lasting(10), tmp_path / "run", resume=True)
    assert run.config == lasting(10)
    assert np.array_equal(run.embedding, pretrain(small_graph, lasting(10), tmp_path / "whole").embedding)


def test_a_run_that_settled_or_ran_out_of_patience_goes_on(small_graph, tmp_path):
    settling = lasting(500, settle=True, schedule="constant")
    done = len(pretrain(small_graph, settling, tmp_path / "settled").history["loss"])
    longer = lasting(done + 3, schedule="constant")
    run = pretrain(small_graph, longer, tmp_path / "settled", resume=True)
    assert len(run.history["loss"]) == done + 3
    assert run.config.extended == ((done, 500),)
    patient = lasting(200, FIRST.model_copy(update={"balance": None}), patience=1, lr=1.0)
    stopped = len(pretrain(small_graph, patient, tmp_path / "patient").history["loss"])
    assert stopped < 200
    run = pretrain(small_graph, lasting(300, patient), tmp_path / "patient", resume=True)
    assert len(run.history["loss"]) > stopped


def test_what_is_refused(small_graph, tmp_path, extended):
    for epochs in (6, 9):
        with pytest.raises(RunError, match=rf"was started with 10 epochs: .* more of them \(`epochs`\), not {epochs}"):
            pretrain(small_graph, lasting(epochs), tmp_path / "run", resume=True)
    with pytest.raises(RunError, match=r"other settings \(epochs, lr\)"):
        pretrain(small_graph, lasting(20, lr=0.5), tmp_path / "run", resume=True)
    assert Run(tmp_path / "run").whole
    model = imgcl.ImGCL(epochs=4, settings={"dim": 4}).fit(small_graph)
    model.save(tmp_path / "saved")
    with pytest.raises(RunError, match="a saved model without the state of its training"):
        pretrain(small_graph, lasting(9, model.config_), tmp_path / "saved", resume=True)
    assert Run(tmp_path / "saved").whole


@pytest.mark.parametrize(
    ("training", "balance", "end"),
    [
        ({"schedule": "constant", "warm_up": 10}, None, "epochs would"),
        ({"schedule": "constant", "warm_up": 0.1}, None, "would: learning rate follows the new length"),
        ({"schedule": "constant", "warm_up": 0}, BalanceSettings(), "would: balance follows the new length"),
        ({}, BalanceSettings(), "would: learning rate and balance follow the new length"),
    ],
)
def test_only_what_depends_on_the_length_is_said_to_follow_it(training, balance, end):
    config = RunConfig(training=TrainingSettings(epochs=9, **training), balance=balance, extended=((5, 5),))
    assert extension_sentence(config).endswith(end)


def test_with_a_constant_learning_rate_the_result_is_that_of_all_epochs_at_once(small_graph, tmp_path):
    plain = lasting(6, FIRST.model_copy(update={"balance": None}), schedule="constant")
    pretrain(small_graph, plain, tmp_path / "extended")
    pretrain(small_graph, lasting(12, plain), tmp_path / "extended", resume=True)
    pretrain(small_graph, lasting(12, plain), tmp_path / "at once")
    assert np.array_equal(Run(tmp_path / "extended").embedding, Run(tmp_path / "at once").embedding)
