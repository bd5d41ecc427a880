"""Loss, gradient, curvature and preconditioner of a stack of penalised softmax regressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from imgcl.evaluation.preconditioner import Preconditioner, apply

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


@dataclass(frozen=True)
class _Rows:
    """What some rows of a stack are computed from."""

    y: Tensor
    weight: Tensor
    offset: Tensor
    label_share: Tensor
    penalty: Tensor
    inverse: Tensor
    scale: Tensor
    runs: list[tuple[Tensor, slice]]


class SoftmaxStack:
    """Rows of a stack: row i is problem ``owner[i]`` under penalty ``1 / (C_i * n)``, at one stage of the weights.

    The loss is the weighted mean cross-entropy plus half the penalty times the squared coefficients, intercept
    excepted. Points are flattened coefficients, (K * (d + 1)) with the intercept last in each class.

    Args:
        problems: the training sets; shorter ones are padded with samples of weight 0. Neighbours that have the same
            samples (the same tensor ``x``) share their products, which makes those cheaper.
        owner: the problem of each row, in ascending order.
    """

    def __init__(self, problems: Sequence[Problem], owner: Sequence[int]) -> None:
        self.problems, self.owner = list(problems), list(owner)
        self.classes, self.width = problems[0].n_classes, problems[0].x.shape[1] + 1
        self.n = max(len(p.y) for p in problems)
        self.x = {id(p.x): _padded(p.x, self.n) for p in problems}
        self.samples_of = [id(problems[i].x) for i in self.owner]
        self.y = torch.stack([_padded(p.y, self.n) for p in problems])[self.owner]
        offset = torch.stack([torch.where(p.present, p.offset.to(p.x), ABSENT) for p in problems])
        self.offset = offset[self.owner]
        self.penalised = offset.new_ones(self.width)
        self.penalised[-1] = 0
        # of two classes scikit-learn fits one row, the log odds: half the squared log odds is twice our penalty
        once = [len(p.y) / (2 if int(p.present.sum()) == 2 else 1) for p in problems]
        self.size = offset.new_tensor([once[i] for i in self.owner])
        self.penalty = torch.zeros_like(self.size)
        self.preconditioner = Preconditioner(len(self.owner), self.classes, self.width, self.n, offset)
        self._selected: dict[tuple[int, ...], _Rows] = {}
        self._latest: tuple[Tensor, _Rows] | None = None
        self.set_stage(0)

    def set_penalties(self, penalties: Sequence[float]) -> None:
        """Set C of each row."""
        self._forget()
        self.penalty = 1 / (self.size.new_tensor(list(penalties)) * self.size)

    def set_stage(self, stage: int) -> None:
        """Use this row of the problems' weights."""
        self._forget()
        weights = [_padded((p.weight[stage] / p.weight[stage].sum()).to(p.x), self.n) for p in self.problems]
        self.weight = torch.stack(weights)[self.owner]
        # what the labels contribute to the gradient does not depend on the point
        share = self.weight.new_zeros(len(weights), self.classes, self.width)
        for i, (problem, weight) in enumerate(zip(self.problems, weights, strict=True)):
            own = weight[: len(problem.y)]
            share[i, :, :-1].index_add_(0, problem.y, problem.x * own[:, None])
            share[i, :, -1].index_add_(0, problem.y, own)
        self.label_share = share[self.owner]

    def evaluate(self, points: Tensor, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Losses and gradients of some rows, and the class probabilities (rows, K, n) that :meth:`curvature` needs."""
        some = self._select(rows)
        points = points.view(-1, self.classes, self.width)
        p = self._probabilities(points, some)
        own = p.gather(1, some.y)[:, 0]
        losses = -torch.linalg.vecdot(own.clamp_min_(torch.finfo(p.dtype).tiny).log_(), some.weight)
        shrink = some.penalty * points
        losses += 0.5 * torch.linalg.vecdot(shrink.flatten(1), points.flatten(1))
        return losses, self._backward(p * some.weight[:, None], shrink - some.label_share, some), p

    def curvature(self, vectors: Tensor, at: Tensor, rows: Tensor) -> Tensor:
        """The Hessian of some rows, x^T diag(w) (diag(p) - p p^T) x + penalty, times vectors."""
        some = self._select(rows)
        vectors = vectors.view(-1, self.classes, self.width)
        weighted = self._forward(vectors, vectors[:, :, -1], some).mul_(at)
        weighted.addcmul_(at, weighted.sum(dim=1, keepdim=True), value=-1).mul_(some.weight[:, None])
        return self._backward(weighted, some.penalty * vectors, some)

    def _probabilities(self, points: Tensor, some: _Rows) -> Tensor:
        """Class probabilities of the training samples, (rows, K, n): classes first keeps the softmax vectorised."""
        return torch.softmax(self._forward(points, points[:, :, -1] + some.offset, some), dim=1)

    def _forward(self, points: Tensor, bias: Tensor, some: _Rows) -> Tensor:
        """Coefficients times samples plus bias, (rows, K, n)."""
        flat, column = points.view(-1, self.width)[:, :-1], bias.reshape(-1, 1)
        out = points.new_empty(len(points), self.classes, self.n)
        for x, part in some.runs:
            torch.addmm(column[part], flat[part], x.T, out=out.view(-1, self.n)[part])
        return out

    def _backward(self, per_sample: Tensor, out: Tensor, some: _Rows) -> Tensor:
        """Add (rows, K, n) times samples to ``out`` (rows, K, d + 1), and flatten it."""
        out[:, :, -1].add_(per_sample.sum(dim=2))
        flat = out.view(-1, self.width)[:, :-1]
        for x, part in some.runs:
            flat[part].addmm_(per_sample.view(-1, self.n)[part], x)
        return out.flatten(1)

    def _select(self, rows: Tensor) -> _Rows:
        """What belongs to some rows, gathered once: the same rows come again and again."""
        if self._latest is not None and self._latest[0] is rows:
            return self._latest[1]
        key = tuple(rows.tolist())
        if key not in self._selected:
            self._selected[key] = _Rows(
                y=self.y[rows, None],
                weight=self.weight[rows],
                offset=self.offset[rows],
                label_share=self.label_share[rows],
                penalty=self.penalty[rows, None, None] * self.penalised,
                inverse=self.preconditioner.inverse[rows],
                scale=self.preconditioner.scale[rows],
                runs=list(self._runs(key)),
            )
        self._latest = rows, self._selected[key]
        return self._selected[key]

    def _forget(self) -> None:
        """Drop what was gathered: penalties, weights or preconditioner have changed."""
        self._selected.clear()
        self._latest = None

    def _runs(self, rows: Sequence[int]) -> Iterator[tuple[Tensor, slice]]:
        """The samples of the rows, and the part of the flattened (row, class) axis that they belong to."""
        stop = 0
        for key, run in groupby(self.samples_of[row] for row in rows):
            start, stop = stop, stop + self.classes * len(list(run))
            yield self.x[key], slice(start, stop)

    def update_preconditioner(self, points: Tensor | None = None) -> None:
        """Adapt the preconditioner to the penalties, and to the curvature of the loss at ``points`` if given."""
        if points is not None:
            everything = self._select(torch.arange(len(self.owner)))
            p = self._probabilities(points.view(-1, self.classes, self.width), everything)
            self.preconditioner.measure(p, self.weight, [self.x[key] for key in self.samples_of])
        self.preconditioner.invert(self.penalty[:, None] * self.penalised)
        self._forget()

    def precondition(self, vectors: Tensor, rows: Tensor) -> Tensor:
        """The preconditioner of some rows times vectors.

        The same number added to all intercepts changes nothing, so what points there is rounding and is left out.
        """
        some = self._select(rows)
        smoothed = apply(some.inverse, some.scale, vectors.view(-1, self.classes, self.width))
        smoothed[:, :, -1] -= smoothed[:, :, -1].mean(dim=1, keepdim=True)
        return smoothed.flatten(1)


def _padded(tensor: Tensor, n: int) -> Tensor:
    if len(tensor) == n:
        return tensor.contiguous()
    return torch.cat([tensor, tensor.new_zeros(n - len(tensor), *tensor.shape[1:])])
