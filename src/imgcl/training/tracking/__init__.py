"""Training as it happens, for people who watch it in TensorBoard or MLflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from imgcl._core.errors import InputError
from imgcl.training import EpochReport, RunConfig
from imgcl.training.tracking.mlflow import track_mlflow
from imgcl.training.tracking.tensorboard import track_tensorboard

__all__ = ["TRACKERS", "Tracker", "resolve_tracker", "track_mlflow", "track_tensorboard", "tracking"]

Listener = Callable[[EpochReport], None]
Tracker = Callable[[Path, RunConfig], AbstractContextManager[Listener]]
"""From a run directory and its settings to what is called after every epoch, while the block lasts."""

TRACKERS: dict[str, Tracker] = {"tensorboard": track_tensorboard, "mlflow": track_mlflow}


def resolve_tracker(name: str) -> Tracker:
    """The tracker of that name.

    Example:
        >>> resolve_tracker("tensorboard").__name__
        'track_tensorboard'
    """
    if name not in TRACKERS:
        raise InputError(f"unknown tracker {name!r}: choose one of {', '.join(TRACKERS)}")
    return TRACKERS[name]


@contextmanager
def tracking(name: str | None, run: Path, config: RunConfig, show: Listener | None = None) -> Iterator[Listener | None]:
    """What to call after every epoch: the tracker of that name, if any, and ``show``, if any.

    Args:
        name: a name of :data:`TRACKERS`, or ``None``.
        run: the run directory.
        config: of the run.
        show: another listener, for example a progress bar.
    """
    if name is None:
        yield show
        return
    with resolve_tracker(name)(run, config) as log:

        def both(report: EpochReport) -> None:
            log(report)
            if show is not None:
                show(report)

        yield both
