"""Binary discrimination of true and corrupted pairs, from the discriminator's scores (logits)."""

from __future__ import annotations

import math

from torch import Tensor
from torch.nn import functional


def bce_discrimination(positive: Tensor, negative: Tensor) -> Tensor:
    """Binary cross-entropy with true pairs as class 1 and corrupted pairs as class 0, both weighing one half.

    Args:
        positive: scores of true pairs.
        negative: scores of corrupted pairs.

    Example:
        >>> import torch
        >>> round(float(bce_discrimination(torch.zeros(3), torch.zeros(2))), 4)  # log 2: it cannot tell
        0.6931
    """
    return (functional.softplus(-positive).mean() + functional.softplus(negative).mean()) / 2


def jsd_discrimination(positive: Tensor, negative: Tensor) -> Tensor:
    """Negative Jensen-Shannon estimate of the mutual information: 0 when it cannot tell, -2 log 2 when it is sure.

    ``E_neg[softplus(t)] - E_pos[-softplus(-t)]``, shifted by the ``log 2`` of each expectation as in InfoGraph.

    Args:
        positive: scores of true pairs.
        negative: scores of corrupted pairs.

    Example:
        >>> import torch
        >>> float(jsd_discrimination(torch.zeros(3), torch.zeros(2)))
        0.0
    """
    return functional.softplus(negative).mean() + functional.softplus(-positive).mean() - 2 * math.log(2)
