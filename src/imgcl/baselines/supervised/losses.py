"""Losses for imbalanced labels: what supervised baselines can be trained with, by the names of classifiers.

N_k is the number of training labels of class k. A loss is a function of logits, classes, N_k, training's progress from
0 to 1 and a factor per node; what it does to logits when it predicts, if anything, stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from imgcl.balance.probabilities import progressively_balanced
from imgcl.evaluation.classifiers import TAUS

FOCUS = 2.0  # gamma of the focal loss
EFFECTIVE = 0.9999  # beta of class-balanced weights

Loss = Callable[[Tensor, Tensor, Tensor, float, "Tensor | None"], Tensor]


@dataclass(frozen=True)
class Criterion:
    """How a supervised baseline is trained, and how its logits are corrected afterwards.

    Attributes:
        loss: of logits (n, K), classes (n), N_k, progress and factors (n) or ``None``.
        taus: multiples of log N_k to subtract from logits; validation chooses.
    """

    loss: Loss
    taus: Sequence[float] = (0.0,)


def plain(logits: Tensor, truth: Tensor, sizes: Tensor, progress: float, factors: Tensor | None = None) -> Tensor:
    """Cross entropy."""
    return weighted_mean(cross_entropy(logits, truth), factors)


def reweight(logits: Tensor, truth: Tensor, sizes: Tensor, progress: float, factors: Tensor | None = None) -> Tensor:
    """Every class has the same total weight."""
    return _drawn(logits, truth, sizes, 0.0, factors)


def pbs(logits: Tensor, truth: Tensor, sizes: Tensor, progress: float, factors: Tensor | None = None) -> Tensor:
    """From nodes that count alike to classes that count alike (Eq. 3)."""
    return _drawn(logits, truth, sizes, 1.0 - progress, factors)


def balanced_softmax(
    logits: Tensor, truth: Tensor, sizes: Tensor, progress: float, factors: Tensor | None = None
) -> Tensor:
    """Cross entropy of logits + log N_k (Ren et al. 2020)."""
    return weighted_mean(cross_entropy(logits + log_sizes(sizes), truth), factors)


def focal(logits: Tensor, truth: Tensor, sizes: Tensor, progress: float, factors: Tensor | None = None) -> Tensor:
    """Nodes that are right already count less: (1 - p)^2 (Lin et al. 2017)."""
    losses = cross_entropy(logits, truth)
    return weighted_mean(losses * (1 - torch.exp(-losses)) ** FOCUS, factors)


def class_balanced(
    logits: Tensor, truth: Tensor, sizes: Tensor, progress: float, factors: Tensor | None = None
) -> Tensor:
    """Focal loss, a class weighing 1 over its effective number of nodes (1 - b^N_k) / (1 - b) (Cui et al. 2019)."""
    weight = ((1 - EFFECTIVE) / (1 - EFFECTIVE ** sizes.double().clamp_min(1))).float()[truth]
    return focal(logits, truth, sizes, progress, weight if factors is None else weight * factors)


LOSSES: dict[str, Criterion] = {
    "plain": Criterion(plain),
    "reweight": Criterion(reweight),
    "pbs": Criterion(pbs),
    "balanced-softmax": Criterion(balanced_softmax),
    "logit-adjust": Criterion(plain, TAUS),  # Menon et al. 2021
    "pc-softmax": Criterion(plain, (1.0,)),  # Hong et al. 2021, for classes that are equally common
    "focal": Criterion(focal),
    "class-balanced": Criterion(class_balanced),
}
"""The losses by name."""


def cross_entropy(logits: Tensor, truth: Tensor) -> Tensor:
    """Of every node."""
    return functional.cross_entropy(logits, truth, reduction="none")


def weighted_mean(losses: Tensor, weight: Tensor | None) -> Tensor:
    """Sum of weighted losses over the sum of weights."""
    return losses.mean() if weight is None else (losses * weight).sum() / weight.sum()


def log_sizes(sizes: Tensor) -> Tensor:
    """Log N_k; of a class without labels that of a hundredth of a label, which is next to nothing, yet finite."""
    return sizes.float().clamp_min(0.01).log()


def _drawn(logits: Tensor, truth: Tensor, sizes: Tensor, alpha: float, factors: Tensor | None) -> Tensor:
    """The expected loss when class k is drawn with p_k = alpha N_k / N + (1 - alpha) / K (Eq. 3)."""
    present, counts = sizes > 0, sizes.double()
    share = torch.zeros_like(counts)
    share[present] = torch.from_numpy(progressively_balanced(counts[present].numpy(), alpha)) / counts[present]
    weight = (share * counts.sum()).float()[truth]
    return weighted_mean(cross_entropy(logits, truth), weight if factors is None else weight * factors)
