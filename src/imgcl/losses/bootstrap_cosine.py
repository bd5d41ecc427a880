"""The bootstrap loss of BGRL: predict the target network's rows, without negatives."""

from __future__ import annotations

from torch import Tensor

from imgcl._core.fused import mean_cosine


def bootstrap_cosine(q: Tensor, z: Tensor) -> Tensor:
    """Mean of ``1 - cos(q_i, z_i)`` over the rows: 0 when every prediction points where its target does, 2 at worst.

    BGRL's loss is the sum over both directions, ``2 - cos(q1, z2') - cos(q2, z1')``.

    Args:
        q: predictions from the online network, (n, d).
        z: rows of the target network in the other view; they receive no gradient.

    Example:
        >>> import torch
        >>> float(bootstrap_cosine(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [3.0, 0.0]])))
        0.5
    """
    return 1 - mean_cosine(q, z)
