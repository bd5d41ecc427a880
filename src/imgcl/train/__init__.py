"""Training: settings, loop, run directory."""

from imgcl.train.run import Run
from imgcl.train.settings import RunConfig, ScopeSettings, TrainingSettings, apply_overrides
from imgcl.train.trainer import EpochReport, Trainer

__all__ = ["EpochReport", "Run", "RunConfig", "ScopeSettings", "Trainer", "TrainingSettings", "apply_overrides"]
