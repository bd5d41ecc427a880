"""The optimiser of a run."""

from __future__ import annotations

import torch
from torch import nn

from imgcl.training.settings import TrainingSettings


def make_optimiser(module: nn.Module, training: TrainingSettings) -> torch.optim.Optimizer:
    """Adam or AdamW over the parameters that are trained, each step as one pass over them (torch's fused form)."""
    kind = torch.optim.AdamW if training.optimiser == "adamw" else torch.optim.Adam
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    return kind(trained, lr=training.lr, weight_decay=training.weight_decay, fused=True)
