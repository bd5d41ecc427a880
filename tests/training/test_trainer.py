import numpy as np
import pytest
import torch

from imgcl._core.errors import InputError, TrainingError
from imgcl.balance import BalanceSettings
from imgcl.graph import Graph
from imgcl.training import RunConfig, Trainer, TrainingSettings


def config(**changes):
    training = TrainingSettings(**{"epochs": 12, "lr": 0.01, **changes.pop("training", {})})
    return RunConfig(**{"method_settings": {"dim": 8}, "training": training, "balance": BalanceSettings(), **changes})


def test_loss_falls_and_selection_is_recorded(small_graph):
    trainer = Trainer(config(training={"epochs": 40}), small_graph, diagnose=True)
    trainer.train()
    assert np.mean(trainer.losses[-5:]) < 0.9 * np.mean(trainer.losses[:5])
    labellings = trainer.history()["labellings"]
    assert [entry["epoch"] for entry in labellings] == list(range(0, 40, 5))
    assert {entry["selected"] for entry in labellings} == {round(0.1 * small_graph.n_nodes)}
    assert all(entry["ari"] is not None for entry in labellings)


def test_the_number_of_classes_is_the_default_number_of_clusters(small_graph):
    trainer = Trainer(config(), small_graph)
    assert trainer.selector.n_clusters == 3


def test_classes_that_do_not_occur_are_not_counted(small_graph):
    gap = small_graph.with_labels(small_graph.y + 1)
    assert (gap.n_classes, gap.n_occurring_classes) == (4, 3)
    assert Trainer(config(), gap).selector.n_clusters == 3
    named = small_graph.with_labels(small_graph.y, class_names=["a", "b", "c", "d"])
    assert Trainer(config(), named).selector.n_clusters == 3
    unlabelled = small_graph.with_labels(np.full(small_graph.n_nodes, -1), class_names=["a", "b"])
    assert unlabelled.n_occurring_classes == small_graph.with_labels(None).n_occurring_classes == 0
    assert Trainer(config(), unlabelled).selector.settings.n_clusters == "auto"


def test_given_labels_with_a_gap_are_taken_as_they_are(small_graph):
    trainer = Trainer(config(balance=BalanceSettings(clusters="given")), small_graph.with_labels(small_graph.y + 1))
    trainer.step()
    assert np.array_equal(trainer.selector.labels, small_graph.y + 1)


def test_same_seed_same_bits_and_another_seed_others(small_graph):
    runs = []
    for seed in (1, 1, 2):
        trainer = Trainer(config(seed=seed), small_graph)
        trainer.train()
        runs.append(trainer.embed())
    assert np.array_equal(runs[0], runs[1])
    assert not np.allclose(runs[0], runs[2])


def test_training_leaves_torchs_global_generator_alone(small_graph):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    trainer = Trainer(config(), small_graph)
    trainer.train()
    assert torch.equal(before, torch.get_rng_state())


def test_labels_do_not_influence_training(small_graph):
    rng = np.random.default_rng(0)
    shuffled = small_graph.with_labels(rng.permutation(small_graph.y))
    embeddings = []
    for graph in (small_graph, shuffled):
        trainer = Trainer(config(), graph)
        trainer.train()
        embeddings.append(trainer.embed())
    assert np.array_equal(*embeddings)


@pytest.mark.parametrize("stop_at", [1, 5, 11])
def test_resume_continues_bit_for_bit(small_graph, tmp_path, stop_at):
    whole = Trainer(config(), small_graph)
    whole.train()
    first = Trainer(config(), small_graph)
    for _ in range(stop_at):
        first.step()
    first.checkpoint().save(tmp_path / "c.safetensors")
    from imgcl.training.checkpoint import Checkpoint

    second = Trainer(config(), small_graph)
    second.restore(Checkpoint.load(tmp_path / "c.safetensors"))
    second.train()
    assert np.array_equal(whole.embed(), second.embed())
    assert whole.history() == second.history()


def test_patience_stops_and_goes_back_to_the_best_epoch(small_graph):
    training = {"epochs": 200, "lr": 0.05, "patience": 3, "schedule": "constant"}
    trainer = Trainer(config(training=training, balance=None), small_graph)
    trainer.train()
    assert trainer.epoch < 200
    best = int(np.argmin(trainer.losses))
    assert trainer.epoch - 1 - best == 3


@pytest.mark.parametrize(
    ("balance", "patience", "epochs"),
    [
        (None, 10, 11),
        (BalanceSettings(), 10, 40),
        (BalanceSettings(), 3, 39),
        (BalanceSettings(relabel_every=7), 3, 39),
        (BalanceSettings(labellings=2), 3, 24),
    ],
)
def test_patience_counts_from_the_last_labelling(small_graph, monkeypatch, balance, patience, epochs):
    trainer = Trainer(config(training={"epochs": 40, "patience": patience}, balance=balance), small_graph)
    weight = next(trainer.method.parameters())
    # A loss that only rises.
    monkeypatch.setattr(trainer.method, "loss", lambda *_: weight.sum() * 0 + float(trainer.epoch))
    trainer.train()
    assert trainer.epoch == epochs


def test_other_graph_is_embedded_and_wrong_width_refused(small_graph):
    trainer = Trainer(config(), small_graph)
    trainer.train()
    part = small_graph.subgraph(np.arange(100))
    assert trainer.embed(part).shape == (100, 8)
    with pytest.raises(InputError, match="has 2 features, the encoder was trained on 16"):
        trainer.embed(Graph.from_edges([[0], [1]], np.eye(2)))


def test_a_loss_that_is_not_finite_stops_with_the_epoch(small_graph, monkeypatch):
    trainer = Trainer(config(), small_graph)
    trainer.step()
    monkeypatch.setattr(trainer.method, "loss", lambda *_: torch.tensor(float("nan"), requires_grad=True))
    with pytest.raises(TrainingError, match="the loss is nan at epoch 1"):
        trainer.step()


def test_given_clusters_need_labels_everywhere(small_graph):
    y = small_graph.y.copy()
    y[4] = -1
    with pytest.raises(InputError, match="needs a label for every node"):
        Trainer(config(balance=BalanceSettings(clusters="given")), small_graph.with_labels(y))


def test_few_rows_drawn_by_poisson_do_not_end_training(small_graph):
    """Two rows on average; a draw of fewer is repeated."""
    balance = BalanceSettings(selection="poisson", fraction=2.4 / small_graph.n_nodes, resample_every=1)
    trainer = Trainer(config(balance=balance, method="dgi", training={"epochs": 30}), small_graph)
    trainer.train()
    assert trainer.finished


@pytest.mark.parametrize("batch_size", [0, 16])
def test_a_residual_encoder_of_unequal_widths_trains_and_embeds_alike(small_graph, batch_size):
    settings = {"dim": 8, "residual": True, "edge_drop": 0.0, "feature_mask": 0.0}
    plain, residual = (
        Trainer(
            config(method_settings={**settings, "residual": each}, training={"batch_size": batch_size}), small_graph
        )
        for each in (False, True)
    )
    for trainer in (plain, residual):
        trainer.train()
    assert not np.allclose(plain.embed(), residual.embed())
    whole = Trainer(config(method_settings=settings), small_graph)
    whole.method.load_state_dict(residual.method.state_dict())
    np.testing.assert_allclose(whole.embed(), residual.embed(), atol=1e-5)
