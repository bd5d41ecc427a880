"""Training: settings, loop, run directory."""

from imgcl.train.run import Run
from imgcl.train.settings import RunConfig, TrainingSettings, apply_overrides
from imgcl.train.trainer import EpochReport, Trainer

__all__ = ["EpochReport", "Run", "RunConfig", "Trainer", "TrainingSettings", "apply_overrides"]
