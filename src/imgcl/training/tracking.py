"""Training as it happens, for TensorBoard or MLflow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl._core.words import did_you_mean
from imgcl.training import EpochReport, RunConfig

TENSORBOARD_FOLDER = "tensorboard"
EXPERIMENT = "imgcl"
MLFLOW_FOLDER = "mlruns"
DIRECTORY_TAG = "imgcl.directory"  # how a resumed run finds itself again

Listener = Callable[[EpochReport], None]
Tracker = Callable[[Path, RunConfig], AbstractContextManager[Listener]]
"""From a run directory and its settings to what is called after every epoch, while the block lasts."""


def epoch_values(report: EpochReport) -> dict[str, float]:
    """The loss, and the share of each pseudo-class among the selected rows.

    Example:
        >>> epoch_values(EpochReport(epoch=1, epochs=9, loss=0.5, drawn=[0.75, 0.25]))
        {'loss': 0.5, 'drawn/0': 0.75, 'drawn/1': 0.25}
    """
    return {"loss": report.loss} | {f"drawn/{k}": share for k, share in enumerate(report.drawn or ())}


def settings_values(config: RunConfig) -> dict[str, Any]:
    """All settings under one flat name each.

    Example:
        >>> settings_values(RunConfig())["training.epochs"]
        500
    """
    flat: dict[str, Any] = {}
    for key, value in config.model_dump(mode="json").items():
        if isinstance(value, dict):
            flat |= {f"{key}.{name}": entry for name, entry in value.items()}
        else:
            flat[key] = value
    return flat


@contextmanager
def track_tensorboard(run: Path, config: RunConfig) -> Iterator[Listener]:
    """Write scalars of every epoch to ``RUN/tensorboard``; a resumed run goes on where it was.

    Args:
        run: the run directory.
        config: of the run; shown as text.
    """
    need("tensorboard", "tracker 'tensorboard'")
    from torch.utils.tensorboard import SummaryWriter

    # The writer makes its folder at once; the run directory must be the run's own to make, so it waits for an epoch.
    writer: SummaryWriter | None = None

    def log(report: EpochReport) -> None:
        nonlocal writer
        if writer is None:
            # What an interrupted run logged after its last checkpoint is trained, and logged, again: forget it.
            writer = SummaryWriter(str(run / TENSORBOARD_FOLDER), purge_step=report.epoch)
            table = "\n".join(f"| {key} | {value} |" for key, value in settings_values(config).items())
            writer.add_text("settings", f"| setting | value |\n|---|---|\n{table}", report.epoch)
        for name, value in epoch_values(report).items():
            writer.add_scalar(name, value, report.epoch)

    try:
        yield log
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def track_mlflow(run: Path, config: RunConfig) -> Iterator[Listener]:
    """Log metrics of every epoch; ``mlflow ui --backend-store-uri runs/mlruns`` shows the runs of ``runs/``.

    Args:
        run: the run directory; the store is the folder ``mlruns`` beside it.
        config: of the run; its settings become parameters.
    """
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # a folder is what is asked for here
    need("mlflow", "tracker 'mlflow'")
    from mlflow.tracking import MlflowClient

    place = os.environ.get("MLFLOW_TRACKING_URI") or (run.resolve().parent / MLFLOW_FOLDER).as_uri()
    client = MlflowClient(tracking_uri=place)
    found = client.get_experiment_by_name(EXPERIMENT)
    experiment = client.create_experiment(EXPERIMENT) if found is None else found.experiment_id
    here = str(run.resolve())
    started = [
        entry
        for entry in client.search_runs([experiment], filter_string=f"run_name = '{run.name}'")
        if entry.data.tags.get(DIRECTORY_TAG) == here
    ]
    if started:
        key = started[0].info.run_id
        client.update_run(key, status="RUNNING")
    else:
        key = client.create_run(experiment, tags={DIRECTORY_TAG: here}, run_name=run.name).info.run_id
        for name, value in settings_values(config).items():
            client.log_param(key, name, value)

    def log(report: EpochReport) -> None:
        for name, value in epoch_values(report).items():
            client.log_metric(key, name, value, step=report.epoch)

    try:
        yield log
    except BaseException:
        client.set_terminated(key, status="FAILED")
        raise
    client.set_terminated(key)


TRACKERS: dict[str, Tracker] = {"tensorboard": track_tensorboard, "mlflow": track_mlflow}


def resolve_tracker(name: str) -> Tracker:
    """The tracker of that name, whose package is installed.

    Example:
        >>> resolve_tracker("tensorboard").__name__
        'track_tensorboard'
    """
    if name not in TRACKERS:
        raise InputError(f"unknown tracker {name!r}{did_you_mean(name, TRACKERS)}")
    need(name, f"tracker {name!r}")  # a tracker's name is its extra's
    return TRACKERS[name]


@contextmanager
def tracking(name: str | None, run: Path, config: RunConfig) -> Iterator[Listener | None]:
    """What to call after every epoch.

    Args:
        name: a name of :data:`TRACKERS`, or ``None`` for nothing.
        run: the run directory.
        config: of the run.
    """
    if name is None:
        yield None
        return
    with resolve_tracker(name)(run, config) as log:
        yield log
