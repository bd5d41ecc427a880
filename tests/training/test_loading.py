"""Fitted models as run directories: save, load, and runs of `imgcl pretrain`."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import imgcl
from imgcl._core.checksums import read_checked_json, write_checked_json
from imgcl.data import synthetic_graph
from imgcl.methods import METHODS
from imgcl.training import Run, TrainingSettings
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.estimator import make_config
from imgcl.training.loading import load_encoder
from imgcl.training.pretrain import pretrain
from imgcl.training.run import FORMAT

SMALL = {"grace": {"dim": 8, "projection": 8}, "bgrl": {"dim": 8, "predictor": 8}}
NAMES = tuple(f"feature {i}" for i in range(6))


def named(n_nodes=60, seed=1):
    graph = synthetic_graph(n_nodes=n_nodes, n_classes=3, n_features=6, mean_degree=6, seed=seed)
    names = tuple(f"node {i}" for i in range(n_nodes))
    return replace(graph, feature_names=NAMES, node_names=names, class_names=("a", "b", "c"))


def fitted(graph, method="gbt", **settings):
    model = imgcl.ImGCL(method, epochs=3, settings={**SMALL.get(method, {"dim": 8}), **settings}, device="cpu")
    return model.fit(graph)


def config_of(graph, method="gbt", **settings):
    overrides = {**SMALL.get(method, {"dim": 8}), "epochs": 3, **settings}
    return make_config(graph.name, preset="auto", method=method, overrides=overrides, device="cpu")


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_model_embeds_new_graphs_as_before(method, tmp_path):
    model, new = fitted(named(), method), named(40, seed=2)
    model.save(tmp_path / "mine")
    loaded = imgcl.ImGCL.load(tmp_path / "mine", device="cpu")
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    np.testing.assert_array_equal(loaded.embedding_, model.embedding_)
    assert loaded.history_ == json.loads(json.dumps(model.history_))
    assert loaded.config_ == model.config_
    assert loaded.n_features_in_ == 6
    assert loaded.feature_names_in_.tolist() == list(NAMES)


@pytest.mark.parametrize("blocks", [("learned", "own", "neighbours"), "learned,own", ["learned"]])
def test_blocks_are_fitted_saved_and_applied(blocks, tmp_path):
    graph, new = named(), named(40, seed=2)
    model = imgcl.ImGCL(epochs=3, settings={"dim": 8}, device="cpu", blocks=blocks).fit(graph)
    names = blocks.split(",") if isinstance(blocks, str) else list(blocks)
    assert list(model.blocks_) == names
    assert model.blocks_["learned"] is model.embedding_
    model.save(tmp_path / "run")
    loaded = imgcl.ImGCL.load(tmp_path / "run", device="cpu")
    assert list(Run(tmp_path / "run").blocks) == list(loaded.transform_blocks(new)) == names
    for name in names:
        assert np.array_equal(loaded.blocks_[name], model.blocks_[name])
        assert np.array_equal(loaded.transform_blocks(new)[name], model.transform_blocks(new)[name])
        assert model.transform_blocks(graph)[name] == pytest.approx(model.blocks_[name], abs=1e-6)
    assert np.array_equal(model.transform_blocks(new)["learned"], model.transform(new))


def test_unknown_blocks_are_refused_before_training():
    with pytest.raises(imgcl.InputError, match="unknown block 'neighbors' in `blocks`: did you mean 'neighbours'"):
        imgcl.ImGCL(blocks=("learned", "neighbors")).fit(named())


@pytest.mark.parametrize("method", METHODS)
def test_a_run_of_pretrain_is_a_fitted_model(method, tmp_path):
    graph, new = named(), named(40, seed=2)
    pretrain(graph, config_of(graph, method), tmp_path / "run")
    np.testing.assert_array_equal(
        imgcl.ImGCL.load(tmp_path / "run").transform(new), fitted(graph, method).transform(new)
    )


def test_a_saved_model_is_a_run_like_any_other(tmp_path):
    graph = named()
    model = fitted(graph)
    model.save(tmp_path / "mine")
    run = Run(tmp_path / "mine")
    assert run.finished
    assert run.whole
    assert run.node_names == list(graph.node_names)
    assert run.class_names == ["a", "b", "c"]
    np.testing.assert_array_equal(run.labels, graph.y)
    assert run.facts["graph"]["fingerprint"] == graph.fingerprint
    assert run.facts["graph"]["n_features"] == 6
    before = {file.name: file.read_bytes() for file in run.path.iterdir()}
    pretrain(graph, model.config_, run.path, resume=True)
    assert {file.name: file.read_bytes() for file in run.path.iterdir()} == before


def test_features_are_matched_by_name_and_standardised_as_in_the_fit(tmp_path):
    graph, order = named(), np.array([3, 0, 5, 1, 4, 2])
    model = fitted(graph, normalise="column")
    model.save(tmp_path / "mine")
    new = named(40, seed=2)
    swapped = replace(new, x=new.x[:, order], feature_names=tuple(NAMES[i] for i in order))
    np.testing.assert_allclose(imgcl.ImGCL.load(tmp_path / "mine").transform(swapped), model.transform(new), atol=1e-6)


def test_a_loaded_model_repeats_the_fit_and_saves_again(tmp_path):
    graph = named()
    model = fitted(graph, lr=0.01)
    model.save(tmp_path / "one")
    loaded = imgcl.ImGCL.load(tmp_path / "one", device="cpu")
    loaded.save(tmp_path / "two")
    for file in (tmp_path / "one").iterdir():
        if file.suffix != ".safetensors":  # the order of its header is not fixed
            assert (tmp_path / "two" / file.name).read_bytes() == file.read_bytes()
    again = loaded.fit(graph)
    assert again.config_ == model.config_
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_a_run_that_is_tied_to_a_split_keeps_it(tmp_path):
    graph = synthetic_graph(class_sizes=[150, 100, 80], n_features=6, mean_degree=6, seed=1)
    scope = imgcl.training.ScopeSettings(scope="graph", imbalance="exp:5")
    config = config_of(graph).model_copy(update={"scope": scope})
    split = pretrain(graph, config, tmp_path / "run").split
    imgcl.ImGCL.load(tmp_path / "run").save(tmp_path / "copy")
    np.testing.assert_array_equal(Run(tmp_path / "copy").split.test, split.test)


def test_nothing_is_written_over(tmp_path):
    model = fitted(named())
    model.save(tmp_path / "mine")
    with pytest.raises(imgcl.RunError, match="mine already holds a run: choose another directory"):
        model.save(tmp_path / "mine")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    with pytest.raises(imgcl.InputError, match="notes is not empty"):
        model.save(tmp_path / "notes")
    with pytest.raises(imgcl.InputError, match=r"a\.txt is a file"):
        model.save(tmp_path / "notes" / "a.txt")
    (tmp_path / "empty").mkdir()
    model.save(tmp_path / "empty")
    assert Run(tmp_path / "empty").whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "mine", "notes"]


def test_a_save_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    model = fitted(named())
    monkeypatch.setattr(Run, "finish", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        model.save(tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_not_fitted_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match=r"call fit\(graph\) first"):
        imgcl.ImGCL().save(tmp_path / "mine")


def test_an_unfinished_run_is_refused_with_what_to_do(tmp_path):
    graph = named()
    Run.start(tmp_path / "run", config_of(graph), graph, source="mine")
    with pytest.raises(imgcl.RunError, match=r"run is not finished: .*resume"):
        imgcl.ImGCL.load(tmp_path / "run")
    with pytest.raises(imgcl.RunError, match="nowhere is not a run directory"):
        imgcl.ImGCL.load(tmp_path / "nowhere")


def older(path, *, names):
    """Make a run directory as it was before the number of features was kept."""
    facts = read_checked_json(path / "config.json", FORMAT, "")
    del facts["graph"]["n_features"]
    write_checked_json(
        path / "config.json",
        {k: v for k, v in facts.items() if k in ("config", "graph", "versions", "threads")},
        FORMAT,
    )
    if not names:
        write_checked_json(path / "names.json", {"nodes": None, "classes": None}, FORMAT)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("names", [True, False])
def test_older_runs_have_their_number_of_features_in_the_weights(tmp_path, method, names):
    model = fitted(named(), method)
    model.save(tmp_path / "mine")
    older(tmp_path / "mine", names=names)
    loaded = imgcl.ImGCL.load(tmp_path / "mine")
    assert loaded.n_features_in_ == 6
    np.testing.assert_array_equal(loaded.transform(named(40, seed=2)), model.transform(named(40, seed=2)))


def test_older_runs_without_statistics_are_refused_where_those_are_needed(tmp_path):
    fitted(named(), normalise="column").save(tmp_path / "mine")
    file = tmp_path / "mine" / "checkpoint.safetensors"
    whole = Checkpoint.load(file)
    Checkpoint({k: v for k, v in whole.tensors.items() if not k.startswith("features/")}, whole.values).save(file)
    with pytest.raises(imgcl.RunError, match="from before runs kept the statistics"):
        imgcl.ImGCL.load(tmp_path / "mine")


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    fitted(named()).save(tmp_path / "one")
    fitted(named(), dim=4).save(tmp_path / "two")
    file = tmp_path / "one" / "checkpoint.safetensors"
    file.write_bytes((tmp_path / "two" / "checkpoint.safetensors").read_bytes())
    with pytest.raises(imgcl.RunError, match="does not fit the run's settings"):
        imgcl.ImGCL.load(tmp_path / "one")


def test_mini_batches_embed_a_store(tmp_path):
    from imgcl.data.store import open_store, write_store

    model = fitted(named(), batch_size=32)
    model.save(tmp_path / "mine")
    store = open_store(write_store(named(40, seed=2), tmp_path / "new.store"))
    encoder = load_encoder(Run(tmp_path / "mine"), device="cpu", scratch=tmp_path)
    assert isinstance(encoder.training, TrainingSettings)
    np.testing.assert_allclose(encoder.embed(store), model.transform(named(40, seed=2)), atol=1e-6)
