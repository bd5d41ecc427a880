"""Training: settings, loop, run directory."""

from imgcl.training.run import Run
from imgcl.training.settings import RunConfig, ScopeSettings, TrainingSettings, apply_overrides
from imgcl.training.trainer import EpochReport, Trainer

__all__ = ["EpochReport", "Run", "RunConfig", "ScopeSettings", "Trainer", "TrainingSettings", "apply_overrides"]
