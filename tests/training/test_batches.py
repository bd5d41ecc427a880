"""Training in mini-batches: every method, the same bits after a resume, and what a batch holds."""

import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from imgcl._core.errors import InputError
from imgcl._core.sparse import order as locality
from imgcl.balance import BalanceSettings
from imgcl.data import load_graph, synthetic_graph
from imgcl.data.store import open_store, write_store
from imgcl.methods import METHODS
from imgcl.training import RunConfig, Trainer, TrainingSettings
from imgcl.training import batches as batches_module
from imgcl.training.batches import MiniBatches, WholeGraph
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.pretrain import pretrain

GRAPH = synthetic_graph(class_sizes=[200, 120, 80], n_features=16, mean_degree=10, homophily=0.9, seed=3)
SMALL = {
    "infograph": {"dim": 8, "layers": 2},
    "grace": {"dim": 16, "projection": 16},
    "bgrl": {"dim": 16, "predictor": 16},
}
each_method = pytest.mark.parametrize("method", METHODS)


def trainer(method="gbt", graph=GRAPH, *, imgcl=True, epochs=30, **training):
    config = RunConfig(
        method=method,
        method_settings=SMALL.get(method, {"dim": 16}),
        training=TrainingSettings(**{"epochs": epochs, "lr": 5e-3, "batch_size": 64, "fanout": (5, 3), **training}),
        balance=BalanceSettings(fraction=0.5, labellings=3) if imgcl else None,
        device="cpu",
    )
    return Trainer(config, graph)


@each_method
@pytest.mark.parametrize("imgcl", [False, True])
def test_every_method_learns(method, imgcl):
    run = trainer(method, imgcl=imgcl)
    assert isinstance(run.batches, MiniBatches)
    run.train()
    losses = np.array(run.losses)
    assert np.isfinite(losses).all()
    assert losses[-8:].mean() < losses[:4].mean()
    assert run.embed().shape[0] == GRAPH.n_nodes
    assert np.isfinite(run.embed()).all()


@pytest.mark.parametrize("method", ["gbt", "mvgrl"])
def test_resumes_bit_for_bit(method, tmp_path):
    whole, first = trainer(method, epochs=12), trainer(method, epochs=12)
    whole.train()
    for _ in range(5):
        first.step()
    first.checkpoint().save(tmp_path / "half.safetensors")
    second = trainer(method, epochs=12)
    second.restore(Checkpoint.load(tmp_path / "half.safetensors"))
    second.train()
    assert second.losses == whole.losses
    assert np.array_equal(second.embed(), whole.embed())


def test_a_batch_does_not_depend_on_what_was_prepared_before():
    run = trainer(imgcl=False)
    rows = torch.arange(0, 400, 2)
    expected = run.batches.batch(3, rows)
    for epoch in range(3):
        run.batches.step(epoch, rows)
    ahead, anchors = run.batches.step(3, rows)
    assert ahead.nodes.tolist() == expected.nodes.tolist()
    assert anchors.tolist() == list(range(64))
    other = torch.arange(1, 401, 2)  # another selection: what was prepared is of no use
    assert set(run.batches.step(4, other)[0].nodes[:64]) <= set(range(1, 401, 2))


def test_anchors_take_turns():
    run = trainer(imgcl=False)
    rows = torch.arange(0, 300, 2)  # 150 rows: two batches of 64 a turn
    turn = [run.batches.anchors(epoch, rows) for epoch in range(4)]
    for first, second in (turn[:2], turn[2:]):
        assert len(first) == len(second) == 64
        assert not set(first) & set(second)
        assert set(first) | set(second) <= set(range(0, 300, 2))
    assert set(turn[0]) != set(turn[2])
    everybody = [run.batches.anchors(epoch, None) for epoch in range(6)]
    assert len(np.unique(np.concatenate(everybody))) == 6 * 64


def test_anchors_come_from_the_selection(monkeypatch):
    run, seen = trainer(epochs=9), []
    step = run.batches.step

    def watched(epoch, rows):
        block, anchors = step(epoch, rows)
        seen.append(block.nodes[anchors])
        return block, anchors

    monkeypatch.setattr(run.batches, "step", watched)
    for _ in range(9):
        run.step()
        assert set(seen[-1]) <= set(run.selector.rows.tolist())
    assert len(run.selector.rows) == 200
    assert len(np.unique(np.concatenate(seen))) > 200  # three labellings select different nodes


def test_the_next_batch_is_made_in_the_background(monkeypatch):
    run = trainer(imgcl=False)
    made, batch = {}, run.batches.batch

    def watched(epoch, rows):
        made[epoch] = threading.current_thread().name
        return batch(epoch, rows)

    monkeypatch.setattr(run.batches, "batch", watched)
    for _ in range(3):
        run.step()
    assert made.pop(0) == threading.current_thread().name
    assert {1, 2} <= set(made)
    assert all(name.startswith("batches") for name in made.values())


def test_fewer_rows_than_a_batch_are_all_taken():
    rows = torch.tensor([5, 9, 100])
    assert trainer(imgcl=False).batches.anchors(7, rows).tolist() == [5, 9, 100]


def test_large_graphs_are_trained_in_batches(monkeypatch):
    assert isinstance(trainer(batch_size="auto").batches, WholeGraph)
    assert isinstance(trainer(batch_size=0).batches, WholeGraph)
    monkeypatch.setattr(batches_module, "LARGE_NODES", 399)
    chosen = trainer(batch_size="auto").batches
    assert isinstance(chosen, MiniBatches)
    assert chosen.batch_size == 1024
    assert isinstance(trainer(batch_size=0).batches, WholeGraph)
    monkeypatch.setattr(batches_module, "LARGE_NODES", 400)
    monkeypatch.setattr(batches_module, "LARGE_ENTRIES", len(GRAPH.indices) - 1)
    assert isinstance(trainer(batch_size="auto").batches, MiniBatches)


def test_fanout_follows_the_layers():
    assert trainer("dgi").batches.fanout == [5]
    assert trainer("infograph").batches.fanout == [5, 3]
    deep = RunConfig(method_settings={"dim": 8, "layers": 4}, training=TrainingSettings(batch_size=8, fanout="4,2"))
    assert Trainer(deep, GRAPH).batches.fanout == [4, 2, 2, 2]


@pytest.mark.parametrize(
    "settings", [{"batch_size": -1}, {"batch_size": "many"}, {"fanout": ()}, {"fanout": (0,)}, {"fanout": "a,b"}]
)
def test_bad_settings(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        TrainingSettings(**settings)


def test_a_batch_needs_two_anchors():
    with pytest.raises(InputError, match="at least 2 anchors"):
        trainer(batch_size=1)


def test_a_diffusion_needs_one_layer():
    config = RunConfig(method="mvgrl", method_settings={"dim": 8, "layers": 2}, training=TrainingSettings(batch_size=8))
    with pytest.raises(InputError, match="one layer"):
        Trainer(config, GRAPH).step()


def test_embedding_is_that_of_the_whole_graph():
    run = trainer(epochs=3)
    run.train()
    whole = trainer(epochs=3, batch_size=0)
    whole.method.load_state_dict(run.method.state_dict())
    np.testing.assert_allclose(run.embed(), whole.embed(), rtol=1e-4, atol=1e-5)
    other = synthetic_graph(n_nodes=100, n_features=16, seed=5)
    np.testing.assert_allclose(run.embed(other), whole.embed(other), rtol=1e-4, atol=1e-5)


def test_a_stored_graph_gives_the_same_run(tmp_path):
    stored = open_store(write_store(GRAPH, tmp_path / "g.store"))
    runs = [trainer(graph=graph, epochs=6) for graph in (GRAPH, stored)]
    for run in runs:
        run.train()
    assert runs[0].losses == runs[1].losses
    assert np.array_equal(runs[0].embed(), runs[1].embed())


def test_a_run_directory(tmp_path):
    config = trainer(epochs=4).config
    done = pretrain(GRAPH, config, tmp_path / "run")
    assert done.embedding.shape == (400, 16)
    assert done.config.training.batch_size == 64
    assert not [path for path in Path(done.path).iterdir() if path.name.startswith(("imgcl-", "."))]


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("name", ["amazon-photo", "amazon-computers"])
def test_accuracy_of_mini_batches(name):
    """Within 1.5 points of training on the whole graph (balanced accuracy of a linear probe, three splits)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.preprocessing import normalize

    from imgcl.training.estimator import make_config

    graph, accuracy = load_graph(name), {}
    for size in (0, 1024):
        run = Trainer(make_config(graph.name, overrides={"epochs": 200, "batch_size": size}), graph)
        run.train()
        z, scores = normalize(run.embed()), []
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(graph.n_nodes)
            train, test = order[: graph.n_nodes // 10], order[graph.n_nodes // 2 :]
            probe = LogisticRegression(C=100.0, max_iter=2000, class_weight="balanced").fit(z[train], graph.y[train])
            scores.append(balanced_accuracy_score(graph.y[test], probe.predict(z[test])))
        accuracy[size] = 100 * np.mean(scores)
    assert accuracy[1024] > accuracy[0] - 1.5, accuracy


def test_the_order_inside_does_not_show(monkeypatch):
    graph = load_graph("digits")
    settings = {"edge_drop": 0, "feature_mask": 0, "dim": 8}
    config = RunConfig(method="gbt", method_settings=settings, training=TrainingSettings(epochs=3))
    rows = torch.tensor([5, 3, 700, 41])

    def losses_and_embedding():
        trainer = Trainer(config, graph)
        block, placed = trainer.batches.step(0, rows)
        loss = trainer.method.loss(block, placed, trainer.views)
        return trainer.batches.place, float(loss.detach()), trainer.embed()

    _, plain_loss, plain = losses_and_embedding()
    monkeypatch.setattr(locality, "WORTHWHILE", 2)
    place, loss, embedding = losses_and_embedding()
    assert place is not None
    assert place.tolist() != list(range(graph.n_nodes))
    assert loss == pytest.approx(plain_loss, rel=1e-4)
    np.testing.assert_allclose(embedding, plain, atol=1e-5)
