"""What was logged can be read back with the tracker's own reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from imgcl._core.errors import InputError
from imgcl.balance import BalanceSettings
from imgcl.cli import app
from imgcl.graph import Graph
from imgcl.training import EpochReport, Run, RunConfig, TrainingSettings
from imgcl.training.pretrain import pretrain
from imgcl.training.tracking import resolve_tracker, tracking

EPOCHS = 6
CONFIG = RunConfig(
    method_settings={"dim": 4},
    training=TrainingSettings(epochs=EPOCHS, checkpoint_every=2),
    balance=BalanceSettings(n_clusters=3),
    seed=3,
)

# The trackers' own libraries announce future changes of theirs.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def train(name: str, graph: Graph, path: Path, *, stop_after: int | None = None, resume: bool = False) -> Run:
    def stop(report: EpochReport) -> None:
        if report.epoch == stop_after:
            raise KeyboardInterrupt

    with tracking(name, path, CONFIG) as log:
        assert log is not None

        def on_epoch(report: EpochReport) -> None:
            log(report)
            stop(report)

        return pretrain(graph, CONFIG, path, resume=resume, on_epoch=on_epoch)


def tensorboard_series(path: Path, tag: str) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(path / "tensorboard"))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


def mlflow_series(path: Path, key: str) -> list[tuple[int, float]]:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=(path.parent / "mlruns").as_uri())
    experiment = client.get_experiment_by_name("imgcl")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.run_name == path.name
    assert run.data.params["training.epochs"] == str(EPOCHS)
    assert run.data.params["method"] == "gbt"
    # a resumed epoch is logged again: the last value of a step counts
    return sorted({metric.step: metric.value for metric in client.get_metric_history(run.info.run_id, key)}.items())


SERIES = {"tensorboard": tensorboard_series, "mlflow": mlflow_series}


@pytest.mark.parametrize("name", SERIES)
def test_losses_and_shares_are_read_back(name: str, small_graph: Graph, tmp_path: Path) -> None:
    run = train(name, small_graph, tmp_path / "run")
    steps = list(range(1, EPOCHS + 1))
    losses = SERIES[name](run.path, "loss")
    assert [step for step, _ in losses] == steps
    assert [value for _, value in losses] == pytest.approx(run.history["loss"], rel=1e-6)
    shares = [[value for _, value in SERIES[name](run.path, f"drawn/{k}")] for k in range(3)]
    assert [sum(column) for column in zip(*shares, strict=True)] == pytest.approx([1] * EPOCHS)
    assert [column[-1] for column in shares] == pytest.approx(run.history["labellings"][-1]["drawn"])


@pytest.mark.parametrize("name", SERIES)
def test_a_resumed_run_goes_on_in_the_same_log(name: str, small_graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(name, small_graph, tmp_path / "run", stop_after=3)
    run = train(name, small_graph, tmp_path / "run", resume=True)
    losses = SERIES[name](run.path, "loss")
    assert [step for step, _ in losses] == list(range(1, EPOCHS + 1))
    assert [value for _, value in losses] == pytest.approx(run.history["loss"], rel=1e-6)


def test_an_unknown_tracker_is_named() -> None:
    with pytest.raises(InputError, match="unknown tracker 'notebook': choose from tensorboard, mlflow"):
        resolve_tracker("notebook")


def test_without_a_tracker_nothing_is_called(tmp_path: Path) -> None:
    with tracking(None, tmp_path / "run", CONFIG) as on_epoch:
        assert on_epoch is None
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_tracks_and_refuses_an_unknown_tracker_before_any_work(tmp_path: Path) -> None:
    options = ["pretrain", "digits", "--epochs", "2", "--set", "dim=4", "--quiet", "--out", str(tmp_path / "run")]
    refused = CliRunner().invoke(app, [*options, "--track", "notebook"])
    assert isinstance(refused.exception, InputError)
    assert not (tmp_path / "run").exists()
    done = CliRunner().invoke(app, [*options, "--track", "tensorboard"])
    assert done.exit_code == 0, done.output
    assert len(tensorboard_series(tmp_path / "run", "loss")) == 2
