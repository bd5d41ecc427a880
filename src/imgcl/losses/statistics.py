"""Means and covariances in which rows do not all count alike (ours): what decorrelation losses whiten by."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LEAST_VARIANCE = 1e-5  # added to the variances of a group, which may be a handful of rows


@dataclass(frozen=True, eq=False)
class Statistics:
    """How rows count in the statistics of a loss.

    Attributes:
        weights: of every row, summing to one.
        groups: group of every row, 0, 1, …; rows are then centred and scaled by their own group. ``None``: by all.

    Example:
        >>> z = torch.tensor([[0.0], [0.0], [0.0], [4.0]])
        >>> Statistics(torch.tensor([0.125, 0.125, 0.25, 0.5])).centre(z).square().sum().item()  # of -2 and 2, evenly
        4.0
    """

    weights: Tensor
    groups: Tensor | None = None

    def centre(self, z: Tensor) -> Tensor:
        """Rows B without their mean, such that ``B^T B`` is the weighted covariance."""
        return (z - self._mean(z)) * self.weights.sqrt().unsqueeze(1)

    def standardise(self, z: Tensor, eps: float = 1e-15) -> Tensor:
        """Rows A without their mean and scale, such that ``A^T A`` is the weighted correlation."""
        centred = z - self._mean(z)
        floor = eps if self.groups is None else max(eps, LEAST_VARIANCE)
        scaled = centred * (self._mean(centred.square()) + floor).rsqrt()
        return scaled * self.weights.sqrt().unsqueeze(1)

    def _mean(self, z: Tensor) -> Tensor:
        """The weighted mean, or that of every row's group."""
        if self.groups is None:
            return self.weights @ z
        n_groups = int(self.groups.max()) + 1
        totals = self.weights.new_zeros(n_groups).index_add(0, self.groups, self.weights)
        shares = self.weights / totals[self.groups]
        means = z.new_zeros(n_groups, z.shape[1]).index_add(0, self.groups, shares.unsqueeze(1) * z)
        return means[self.groups]


def class_balanced(classes: Tensor, weights: Tensor | None = None) -> Tensor:
    """Weights of rows, summing to one, that give every class that has rows the same total.

    Args:
        classes: class of every row.
        weights: of the rows inside their class; ``None``: all alike.

    Example:
        >>> class_balanced(torch.tensor([0, 0, 0, 0, 2])).tolist()
        [0.125, 0.125, 0.125, 0.125, 0.5]
    """
    given = torch.ones(len(classes), dtype=torch.float32, device=classes.device) if weights is None else weights
    totals = given.new_zeros(int(classes.max()) + 1).index_add(0, classes, given)
    return given / totals[classes] / int((totals > 0).sum())
