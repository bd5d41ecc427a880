"""MLflow: runs of the experiment ``imgcl`` in a local folder, or wherever ``MLFLOW_TRACKING_URI`` points."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from imgcl._core.errors import InputError
from imgcl.training import EpochReport, RunConfig
from imgcl.training.tracking.values import epoch_values, settings_values

EXPERIMENT = "imgcl"
FOLDER = "mlruns"
DIRECTORY_TAG = "imgcl.directory"  # how a resumed run finds itself again


@contextmanager
def track_mlflow(run: Path, config: RunConfig) -> Iterator[Callable[[EpochReport], None]]:
    """Log metrics of every epoch; ``mlflow ui --backend-store-uri runs/mlruns`` shows the runs of ``runs/``.

    Args:
        run: the run directory; the store is the folder ``mlruns`` beside it.
        config: of the run; its settings become parameters.
    """
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # a folder is what is asked for here
    try:
        from mlflow.tracking import MlflowClient
    except ModuleNotFoundError:
        raise InputError("--track mlflow needs mlflow, which is not installed: pip install 'imgcl[mlflow]'") from None
    place = os.environ.get("MLFLOW_TRACKING_URI") or (run.resolve().parent / FOLDER).as_uri()
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
