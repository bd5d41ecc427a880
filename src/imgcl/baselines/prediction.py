"""What a baseline predicts for a split, and how predictions are ranked on validation nodes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

Rank = tuple[float, float]


@dataclass(frozen=True)
class Prediction:
    """What is predicted for a split.

    Attributes:
        probabilities: class probabilities of the test nodes (n, K).
        setting: what validation chose.
        rank: how it did on validation, smaller is better: (minus balanced accuracy, log loss).
    """

    probabilities: Tensor
    setting: dict[str, float]
    rank: Rank = (0.0, 0.0)


def validation_rank(logits: Tensor, truth: Tensor) -> Rank:
    """Minus balanced accuracy, and the log loss with classes weighted alike, which decides between equals.

    Example:
        >>> validation_rank(torch.tensor([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]]), torch.tensor([0, 0, 1]))[0]
        -0.5
    """
    weight = 1 / torch.bincount(truth)[truth].float()
    right = (logits.argmax(dim=1) == truth).float()
    losses = functional.cross_entropy(logits, truth, reduction="none")
    return -round(float((right * weight).sum() / weight.sum()), 6), float((losses * weight).sum() / weight.sum())
