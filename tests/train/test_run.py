import json

import numpy as np
import pytest

from imgcl.balance import BalanceSettings
from imgcl.errors import RunError
from imgcl.imbalance import make_splits
from imgcl.pretrain import pretrain
from imgcl.train import Run, RunConfig, ScopeSettings, Trainer, TrainingSettings

CONFIG = RunConfig(
    method_settings={"dim": 4},
    training=TrainingSettings(epochs=6, checkpoint_every=2),
    balance=BalanceSettings(),
    seed=3,
)


def test_a_run_directory_says_everything_about_its_run(small_graph, tmp_path):
    run = pretrain(small_graph, CONFIG, tmp_path / "run", source="here")
    facts = json.loads((tmp_path / "run" / "config.json").read_text())
    assert facts["graph"] == {"name": "synthetic", "source": "here", "fingerprint": small_graph.fingerprint}
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
        run.train(trainer, cut)
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
    with pytest.raises(RunError, match="already holds a run: use --resume"):
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
    with pytest.raises(RunError, match=r"config\.json is damaged"):
        _ = run.config


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
