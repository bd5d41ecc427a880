"""TensorBoard: event files inside the run directory; look at them with ``tensorboard --logdir runs``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from imgcl._core.errors import InputError
from imgcl.training import EpochReport, RunConfig
from imgcl.training.tracking.values import epoch_values, settings_values

FOLDER = "tensorboard"


@contextmanager
def track_tensorboard(run: Path, config: RunConfig) -> Iterator[Callable[[EpochReport], None]]:
    """Write scalars of every epoch to ``RUN/tensorboard``; a resumed run goes on where it was.

    Args:
        run: the run directory.
        config: of the run; shown as text.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError:
        raise InputError(
            "--track tensorboard needs tensorboard, which is not installed: pip install 'imgcl[tensorboard]'"
        ) from None
    first = True
    # The writer makes its folder at once; the run directory must be the run's own to make, so it waits for an epoch.
    writer: SummaryWriter | None = None

    def log(report: EpochReport) -> None:
        nonlocal first, writer
        if writer is None:
            # What an interrupted run logged after its last checkpoint is trained, and logged, again: forget it.
            writer = SummaryWriter(str(run / FOLDER), purge_step=report.epoch)
        if first:
            table = "\n".join(f"| {key} | {value} |" for key, value in settings_values(config).items())
            writer.add_text("settings", f"| setting | value |\n|---|---|\n{table}", report.epoch)
            first = False
        for name, value in epoch_values(report).items():
            writer.add_scalar(name, value, report.epoch)

    try:
        yield log
    finally:
        if writer is not None:
            writer.close()
