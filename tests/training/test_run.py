import json
import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch

from imgcl._core.checksums import write_checked_json
from imgcl._core.errors import InputError, RunError, StoppedError, TrainingError
from imgcl._core.files import write_array, write_json
from imgcl.balance import BalanceSettings
from imgcl.imbalance import make_splits
from imgcl.training import Run, RunConfig, ScopeSettings, Trainer, TrainingSettings
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.pretrain import pretrain, restore, scoped_graph, train_into
from imgcl.training.run import FORMAT, LOCK

CONFIG = RunConfig(
    method_settings={"dim": 4},
    training=TrainingSettings(epochs=6, checkpoint_every=2),
    balance=BalanceSettings(),
    seed=3,
)


def test_a_run_directory_says_everything_about_its_run(small_graph, tmp_path):
    run = pretrain(small_graph, CONFIG, tmp_path / "run", source="here")
    facts = json.loads((tmp_path / "run" / "config.json").read_text())
    assert facts["graph"] == {
        "name": "synthetic",
        "source": "here",
        "fingerprint": small_graph.fingerprint,
        "n_features": small_graph.n_features,
        "direction": "both",
        "rules": None,
    }
    assert facts["config"]["seed"] == 3
    assert {"imgcl", "python", "torch", "numpy", "numba"} <= set(facts["versions"])
    assert run.config == CONFIG
    assert run.embedding.shape == (small_graph.n_nodes, 4)
    assert np.array_equal(run.labels, small_graph.y)
    assert len(run.history["loss"]) == 6
    assert not list(run.path.glob(".*tmp*"))


def test_resume_after_an_interruption_gives_the_same_bits(small_graph, tmp_path):
    whole = pretrain(small_graph, CONFIG, tmp_path / "whole")
    run = Run.start(tmp_path / "cut", CONFIG, small_graph, source="x")
    trainer = Trainer(CONFIG, small_graph)

    def cut(report):
        if report.epoch == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_into(run, trainer, cut)
    assert run.checkpoint().values["epoch"] == 4
    resumed = pretrain(small_graph, CONFIG, tmp_path / "cut", resume=True)
    assert np.array_equal(resumed.embedding, whole.embedding)
    assert resumed.history == whole.history


def test_resume_before_the_first_checkpoint_and_after_the_end(small_graph, tmp_path):
    Run.start(tmp_path / "run", CONFIG, small_graph, source="x")
    run = pretrain(small_graph, CONFIG, tmp_path / "run", resume=True)
    before = (run.path / "checkpoint.safetensors").stat().st_mtime_ns
    again = pretrain(small_graph, CONFIG, tmp_path / "run", resume=True)
    assert again.finished
    assert (run.path / "checkpoint.safetensors").stat().st_mtime_ns == before


def test_an_existing_run_is_never_overwritten(small_graph, tmp_path):
    pretrain(small_graph, CONFIG, tmp_path / "run")
    with pytest.raises(RunError, match="already holds a run: continue it with `resume=True`"):
        pretrain(small_graph, CONFIG, tmp_path / "run")


def test_resume_refuses_another_graph_or_other_settings(small_graph, tmp_path):
    Run.start(tmp_path / "run", CONFIG, small_graph, source="x")
    with pytest.raises(RunError, match="was trained on another graph"):
        pretrain(small_graph.subgraph(np.arange(50)), CONFIG, tmp_path / "run", resume=True)
    with pytest.raises(RunError, match=r"other settings \(seed\)"):
        pretrain(small_graph, CONFIG.model_copy(update={"seed": 4}), tmp_path / "run", resume=True)


def test_unfinished_missing_and_damaged_runs_are_named(small_graph, tmp_path):
    with pytest.raises(RunError, match="is not a run directory"):
        _ = Run(tmp_path / "nowhere").embedding
    run = Run.start(tmp_path / "run", CONFIG, small_graph, source="x")
    with pytest.raises(RunError, match="is not finished"):
        _ = run.embedding
    (run.path / "config.json").write_text("{half")
    with pytest.raises(RunError, match=r"config\.json is damaged .*train again into another directory \(`out`\)"):
        _ = run.config


def test_a_config_of_a_newer_version_is_named(small_graph, tmp_path):
    run = Run.start(tmp_path / "run", CONFIG, small_graph, source="x")
    write_checked_json(run.path / "config.json", {"what": "ever"}, "imgcl-run-3")
    with pytest.raises(RunError, match=r"config\.json has format 'imgcl-run-3', .*: install a newer imgcl"):
        _ = run.config


def test_a_run_directory_from_before_there_were_checksums_is_read(small_graph, tmp_path):
    run = pretrain(small_graph, CONFIG, tmp_path / "run")
    embedding, history, config = run.embedding, run.history, run.config
    for name in ("config.json", "history.json", "names.json"):
        content = json.loads((run.path / name).read_text())
        del content["format"], content["checksum"]
        write_json(run.path / name, content)
    for name in ("embedding.npy", "labels.npy"):
        write_array(run.path / name, np.load(run.path / name))
    assert run.whole
    assert np.array_equal(run.embedding, embedding)
    assert (run.history, run.config) == (history, config)


@pytest.mark.parametrize("name", ["history.json", "names.json", "embedding.npy", "labels.npy"])
def test_resume_writes_damaged_files_again(small_graph, tmp_path, name):
    run = pretrain(small_graph, CONFIG, tmp_path / "run")
    good = (run.path / name).read_bytes()
    (run.path / name).write_bytes(good[:-20])
    assert not run.whole
    assert pretrain(small_graph, CONFIG, tmp_path / "run", resume=True).whole
    assert (run.path / name).read_bytes() == good


def test_resume_names_a_damaged_checkpoint_and_one_of_another_run(small_graph, tmp_path):
    run = pretrain(small_graph, CONFIG, tmp_path / "run")
    (run.path / "embedding.npy").unlink()
    file = run.path / "checkpoint.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(
        RunError, match=r"checkpoint\.safetensors is damaged .*delete it; `resume=True` then trains again"
    ):
        pretrain(small_graph, CONFIG, tmp_path / "run", resume=True)
    wider = CONFIG.model_copy(update={"method_settings": {"dim": 6}})
    file.write_bytes((pretrain(small_graph, wider, tmp_path / "wider").path / file.name).read_bytes())
    with pytest.raises(RunError, match=r"checkpoint\.safetensors does not fit the run's settings"):
        pretrain(small_graph, CONFIG, tmp_path / "run", resume=True)


def test_files_that_are_not_of_a_run_are_not_written_over(small_graph, tmp_path):
    np.save(tmp_path / "labels.npy", np.arange(3))
    with pytest.raises(RunError, match=r"is not a run directory but has a file labels\.npy: use another directory"):
        pretrain(small_graph, CONFIG, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.npy"]


def test_only_one_process_trains_and_leftovers_are_removed(small_graph, tmp_path):
    run = Run.start(tmp_path / "run", CONFIG, small_graph, source="x")
    (run.path / ".history.host.1.tmp.json").write_text("half")
    with run.in_use():
        assert not list(run.path.glob(".*.tmp*"))
        with pytest.raises(RunError, match=f"is in use by process {os.getpid()} on "):
            pretrain(small_graph, CONFIG, run.path, resume=True)
    assert pretrain(small_graph, CONFIG, run.path, resume=True).whole
    assert not (run.path / LOCK).exists()


def test_nothing_is_left_of_a_run_that_never_began(small_graph, tmp_path):
    given = CONFIG.model_copy(update={"balance": BalanceSettings(clusters="given")})
    with pytest.raises(InputError, match="clusters=given"):
        pretrain(small_graph.with_labels(None), given, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_interruption_finishes_the_epoch_and_writes_a_checkpoint(small_graph, tmp_path):
    whole = pretrain(small_graph, CONFIG, tmp_path / "whole")
    said = []

    def press(report):
        if report.epoch == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(StoppedError, match="stopped after epoch 3 of 6") as stopped:
        pretrain(small_graph, CONFIG, tmp_path / "cut", on_epoch=press, on_interrupt=lambda: said.append("stopping"))
    assert stopped.value.exit_code == 130
    assert said == ["stopping"]
    assert Run(tmp_path / "cut").checkpoint().values["epoch"] == 3
    resumed = pretrain(small_graph, CONFIG, tmp_path / "cut", resume=True)
    assert np.array_equal(resumed.embedding, whole.embedding)


def test_without_a_listener_an_interruption_is_one_at_once(small_graph, tmp_path):
    def press(report):
        os.kill(os.getpid(), signal.SIGINT)

    # A process that was started in the background ignores the signal from its start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            pretrain(small_graph, CONFIG, tmp_path / "run", on_epoch=press)
    finally:
        signal.signal(signal.SIGINT, before)


def test_weights_that_are_not_finite_stay_out_of_the_checkpoint(small_graph, tmp_path):
    run = Run.start(tmp_path / "run", CONFIG, small_graph, source="x")
    trainer = Trainer(CONFIG, small_graph)

    def spoil(report):
        if report.epoch == 4:
            next(trainer.method.parameters()).data.fill_(float("nan"))

    message = "is no longer finite: .*learning rate.*in epoch 5 of 6, the last good checkpoint is that after epoch 2: "
    with pytest.raises(TrainingError, match=message):
        train_into(run, trainer, spoil)
    assert run.checkpoint().values["epoch"] == 2
    assert run.checkpoint().not_finite() is None


def test_a_graph_without_labels_cannot_be_evaluated(small_graph, tmp_path):
    run = pretrain(small_graph.with_labels(None), CONFIG.model_copy(update={"balance": None}), tmp_path / "run")
    with pytest.raises(RunError, match="has no labels"):
        _ = run.labels


@pytest.mark.parametrize("scope", ["graph", "inductive"])
def test_a_scope_ties_the_run_to_its_split(small_graph, tmp_path, scope):
    config = CONFIG.model_copy(update={"scope": ScopeSettings(scope=scope, imbalance="exp:10", split=1)})
    run = pretrain(small_graph, config, tmp_path / "run")
    split = make_splits(small_graph.y, "exp:10", splits=2, random_state=CONFIG.seed)[1]
    assert len(run.embedding) == len(run.labels)
    if scope == "inductive":
        assert len(run.embedding) == small_graph.n_nodes
        assert run.split.test.tolist() == split.test.tolist()
    else:
        assert len(run.embedding) < small_graph.n_nodes
    assert np.array_equal(run.labels[run.split.test], small_graph.y[split.test])
    assert np.array_equal(run.labels[run.split.train], small_graph.y[split.train])


DAMAGED = {
    "no graph": ("config.json", {"graph": {"name": "a"}}, "graph.source"),
    "versions of something": ("config.json", {"versions": ["1"]}, "versions"),
    "a negative epoch": ("history.json", {"labellings": [{"epoch": -1}]}, "labellings.0.epoch"),
    "a labelling of nothing": ("history.json", {"labellings": [3]}, "labellings.0"),
    "text for a loss": ("history.json", {"loss": ["low"]}, "loss.0"),
    "a number for a name": ("names.json", {"classes": [7]}, "classes.0"),
}


@pytest.mark.parametrize(("name", "changes", "place"), DAMAGED.values(), ids=DAMAGED.keys())
def test_json_of_something_else_is_named(small_graph, tmp_path, name, changes, place):
    run = pretrain(small_graph, CONFIG, tmp_path / "run")
    content = json.loads((run.path / name).read_text())
    plain = {key: content[key] for key in content if key not in ("format", "checksum")}  # as before checksums
    (run.path / name).write_text(json.dumps(plain | changes))
    read = {
        "config.json": lambda: run.facts,
        "history.json": lambda: run.history,
        "names.json": lambda: run.class_names,
    }
    with pytest.raises(RunError, match=rf"{name} is damaged \({place}: "):
        read[name]()


@pytest.mark.parametrize(
    ("name", "array", "problem"),
    [
        ("embedding", np.zeros(3), r"shape \(3,\) of float64"),
        ("embedding", np.array([["a"]]), r"shape \(1, 1\) of <U1"),
        ("embedding", np.full((3, 2), np.nan), "not finite"),
        ("labels", np.zeros(3), "of float64"),
        ("labels", np.array([0, 2**60]), "too large"),
        ("labels", np.array([0, -5]), "too large"),
    ],
)
def test_arrays_of_something_else_are_named(small_graph, tmp_path, name, array, problem):
    run = pretrain(small_graph, CONFIG, tmp_path / "run")
    np.save(run.path / f"{name}.npy", array)
    with pytest.raises(RunError, match=rf"{name}\.npy is damaged \(.*{problem}"):
        getattr(run, name)


def test_half_a_character_is_damage(small_graph, tmp_path):
    run = pretrain(small_graph, CONFIG, tmp_path / "run")
    content = json.loads((run.path / "config.json").read_text())
    (run.path / "config.json").write_text(json.dumps({**content, "extra": "\ud800"}))
    with pytest.raises(RunError, match="its checksum does not fit"):
        _ = run.facts


COLUMN = CONFIG.model_copy(update={"training": CONFIG.training.model_copy(update={"normalise": "column"})})


def test_names_and_statistics_of_the_features_are_kept(small_graph, tmp_path):
    names = [f"f{i}" for i in range(small_graph.n_features)]
    run = pretrain(replace(small_graph, feature_names=names), COLUMN, tmp_path / "run")
    assert run.feature_names == names
    tensors = run.checkpoint().tensors
    np.testing.assert_allclose(tensors["features/mean"], small_graph.x.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(tensors["features/deviation"], small_graph.x.std(axis=0, ddof=1), rtol=1e-5)
    assert pretrain(small_graph, CONFIG, tmp_path / "plain").feature_names is None


def test_resume_reads_the_features_with_the_statistics_of_the_run(small_graph, tmp_path):
    run = pretrain(small_graph, COLUMN, tmp_path / "run")
    kept = run.checkpoint()
    moved = {**kept.tensors, "features/mean": kept.tensors["features/mean"] + 0.5}
    Checkpoint(moved, kept.values).save(run.path / "checkpoint.safetensors")
    trainer = Trainer(COLUMN, small_graph)
    restore(trainer, run)
    assert torch.equal(trainer.encoder.statistics.mean, moved["features/mean"])
    assert not np.allclose(trainer.embed(), run.embedding, atol=1e-3)
    assert np.array_equal(trainer.embed(), trainer.embed(small_graph))


def test_a_checkpoint_from_before_statistics_were_kept_takes_those_of_its_graph(small_graph, tmp_path):
    run = pretrain(small_graph, COLUMN, tmp_path / "run")
    kept, embedding = run.checkpoint(), run.embedding
    older = {name: tensor for name, tensor in kept.tensors.items() if not name.startswith("features/")}
    Checkpoint(older, {k: v for k, v in kept.values.items() if k != "features"}).save(
        run.path / "checkpoint.safetensors"
    )
    write_checked_json(run.path / "names.json", {"nodes": None, "classes": None}, FORMAT)
    assert run.feature_names is None
    (run.path / "embedding.npy").unlink()
    assert np.array_equal(pretrain(small_graph, COLUMN, tmp_path / "run", resume=True).embedding, embedding)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("mean", lambda values: values[1:]),
        ("mean", lambda values: values.double()),
        ("mean", lambda values: values * torch.nan),
        ("deviation", lambda values: values * 0),
        ("other", lambda values: values),
    ],
)
def test_statistics_of_something_else_are_refused(small_graph, tmp_path, name, change):
    run = pretrain(small_graph, COLUMN, tmp_path / "run")
    kept = run.checkpoint()
    changed = {**kept.tensors, f"features/{name}": change(kept.tensors.get(f"features/{name}", torch.ones(3)))}
    Checkpoint(changed, kept.values).save(run.path / "checkpoint.safetensors")
    (run.path / "embedding.npy").unlink()
    with pytest.raises(RunError, match=f"does not fit the run's settings .features/{name} does not fit"):
        pretrain(small_graph, COLUMN, run.path, resume=True)


def test_the_inductive_scope_standardises_by_what_was_trained_on(small_graph, tmp_path):
    scope = ScopeSettings(scope="inductive", imbalance="exp:10")
    run = pretrain(small_graph, COLUMN.model_copy(update={"scope": scope}), tmp_path / "run")
    seen = scoped_graph(small_graph, run.config).pretrain
    np.testing.assert_allclose(run.checkpoint().tensors["features/mean"], seen.x.mean(axis=0), rtol=1e-4, atol=1e-6)
    trainer = Trainer(run.config, seen)
    restore(trainer, run)
    assert np.array_equal(run.embedding, trainer.embed(small_graph))
    far = replace(small_graph, x=np.concatenate([small_graph.x[:-1], small_graph.x[-1:] + 100]))
    neighbours = small_graph.adjacency + small_graph.adjacency @ small_graph.adjacency
    unreached = np.setdiff1d(np.arange(small_graph.n_nodes - 1), neighbours[[small_graph.n_nodes - 1]].indices)
    assert len(unreached)
    np.testing.assert_allclose(trainer.embed(far)[unreached], run.embedding[unreached], rtol=1e-3, atol=1e-4)
