"""Loss, gradient and preconditioner of a stack of penalised softmax regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

ABSENT = -1e30  # logit of a class without training labels: its probability is exactly 0


@dataclass(frozen=True)
class Problem:
    """One weighted training set.

    Attributes:
        x: rows (n, d), floating.
        y: classes (n,), int64.
        weight: sample weights (stages, n), one row for each stage of training; within a row only ratios matter.
        offset: added to the logits of every sample while training (K,): zero, or the log prior of a balanced softmax.
    """

    x: Tensor
    y: Tensor
    weight: Tensor
    offset: Tensor

    @property
    def n_classes(self) -> int:
        return len(self.offset)

    @property
    def present(self) -> Tensor:
        """Which classes have training samples (K,)."""
        return torch.bincount(self.y, minlength=self.n_classes) > 0


class SoftmaxStack:
    """Rows of a stack: row i is problem ``owner[i]`` under penalty ``1 / (C_i * n)``, at one stage of the weights.

    The loss is the weighted mean cross-entropy plus half the penalty times the squared coefficients, intercept
    excepted. Points are flattened coefficients, (K * (d + 1)) with the intercept last in each class.
    """

    def __init__(self, problems: Sequence[Problem], owner: Sequence[int], penalties: Sequence[float], stage: int = 0):
        self.owner = list(owner)
        self.classes, self.width = problems[0].n_classes, problems[0].x.shape[1] + 1
        self.x, self.y = [p.x for p in problems], [p.y for p in problems]
        self.weight = [(p.weight[stage] / p.weight[stage].sum()).to(p.x) for p in problems]
        # p @ (w * x) spares a pass over the probabilities, and what the labels contribute to the gradient is constant
        self.weighted = [x * w[:, None] for x, w in zip(self.x, self.weight, strict=True)]
        share = torch.stack([self._label_share(i) for i in range(len(problems))])
        offset = torch.stack([torch.where(p.present, p.offset.to(p.x), ABSENT) for p in problems])
        self.label_share, self.offset = share[self.owner], offset[self.owner]
        self.penalised = share.new_ones(self.width)
        self.penalised[-1] = 0
        # of two classes scikit-learn fits one row, the log odds: half the squared log odds is twice our penalty
        once = [len(p.y) / (2 if int(p.present.sum()) == 2 else 1) for p in problems]
        self.penalty = 1 / (share.new_tensor(list(penalties)) * share.new_tensor([once[i] for i in self.owner]))
        self.inverse = share.new_zeros(len(self.owner), self.width, self.width)

    def _label_share(self, i: int) -> Tensor:
        share = self.x[i].new_zeros(self.classes, self.width)
        share[:, :-1].index_add_(0, self.y[i], self.weighted[i])
        share[:, -1].index_add_(0, self.y[i], self.weight[i])
        return share

    def _probabilities(self, point: Tensor, row: int) -> Tensor:
        """Class probabilities of the training samples, (K, n): classes first keeps the softmax vectorised."""
        bias = point[:, -1:] + self.offset[row, :, None]
        return torch.softmax(torch.addmm(bias, point[:, :-1], self.x[self.owner[row]].T), dim=0)

    def objective(self, points: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Losses and gradients of some rows."""
        points = points.view(-1, self.classes, self.width)
        tiny = torch.finfo(points.dtype).tiny
        losses, gradients = points.new_empty(len(points)), torch.empty_like(points)
        for at, row in enumerate(rows.tolist()):
            i = self.owner[row]
            p = self._probabilities(points[at], row)
            own = p.gather(0, self.y[i][None])[0]
            losses[at] = -torch.dot(own.clamp_min_(tiny).log_(), self.weight[i])
            gradients[at, :, :-1] = p @ self.weighted[i]
            gradients[at, :, -1] = p @ self.weight[i]
        shrink = self.penalty[rows, None, None] * self.penalised * points
        losses += 0.5 * (shrink * points).sum(dim=(1, 2))
        gradients += shrink - self.label_share[rows]
        return losses, gradients.flatten(1)

    def set_preconditioner(self, points: Tensor) -> None:
        """The Hessian averaged over classes, x^T diag(w * sum_k p_k (1 - p_k) / K) x + penalty, inverted."""
        points = points.view(-1, self.classes, self.width)
        hessian = torch.empty_like(self.inverse)
        for row, i in enumerate(self.owner):
            p = self._probabilities(points[row], row)
            spread = self.weight[i] * (1 - torch.linalg.vecdot(p, p, dim=0)) / self.classes
            scaled = self.x[i] * spread[:, None]
            hessian[row, :-1, :-1] = self.x[i].T @ scaled
            hessian[row, -1, :-1] = hessian[row, :-1, -1] = scaled.sum(0)
            hessian[row, -1, -1] = spread.sum()
        floor = 1e-6 * hessian.diagonal(dim1=1, dim2=2).amax(dim=1)  # keeps float32's Cholesky positive definite
        ridge = self.penalty[:, None] * self.penalised + floor[:, None] + torch.finfo(hessian.dtype).tiny
        self.inverse = torch.cholesky_inverse(torch.linalg.cholesky(hessian + torch.diag_embed(ridge)))

    def precondition(self, gradients: Tensor, rows: Tensor) -> Tensor:
        """The preconditioner of some rows times their gradients."""
        stacked = gradients.view(-1, self.classes, self.width)
        return torch.bmm(stacked, self.inverse[rows]).flatten(1)
