"""The optimiser of a run and its learning rate over training."""

from __future__ import annotations

import math

import torch
from torch import nn

from imgcl.training.settings import TrainingSettings


def make_optimiser(module: nn.Module, training: TrainingSettings) -> torch.optim.Optimizer:
    """Adam or AdamW over the parameters that are trained, each step as one pass over them (torch's fused form)."""
    kind = torch.optim.AdamW if training.optimiser == "adamw" else torch.optim.Adam
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    return kind(trained, lr=training.lr, weight_decay=training.weight_decay, fused=True)


def learning_rate_factor(epoch: int, training: TrainingSettings) -> float:
    """Factor of the peak learning rate at an epoch: linear warm-up, then constant or cosine to 0.

    Example:
        >>> settings = TrainingSettings(epochs=100, warm_up=10)
        >>> [round(learning_rate_factor(epoch, settings), 3) for epoch in (0, 9, 10, 55, 99)]
        [0.1, 1.0, 1.0, 0.5, 0.0]
    """
    warm_up = round(training.warm_up * training.epochs) if training.warm_up < 1 else round(training.warm_up)
    if epoch < warm_up:
        return (epoch + 1) / warm_up
    if training.schedule == "constant":
        return 1.0
    progress = (epoch - warm_up) / max(1, training.epochs - warm_up)
    return 0.5 * (1 + math.cos(math.pi * progress))
