"""One product for several column-masked views of the same features.

A mask leaves most columns in place, so the views' products have most in common. What they share is multiplied once and
each view adds or subtracts its own few columns: all columns, less those that the view drops; or, of two views of
features whose columns are cheap to take, the columns that both keep, plus those that the view alone keeps, where no
column is multiplied twice. The backward does the same. Two views that drop 10 % of the columns cost one product,
not two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imgcl._core.sparse.columns import Columns


class MaskedProducts:
    """``x @ diag(mask) @ weight`` for every mask; ``x`` receives no gradient.

    What does not depend on the weight is prepared once: several networks may multiply the same views.

    Args:
        x: features, (N, F).
        masks: factor of every column, or ``None`` for ones.

    Example:
        >>> from imgcl._core.sparse.columns import DenseColumns
        >>> products = MaskedProducts(DenseColumns(torch.eye(2)), [None, torch.tensor([1.0, 0.0])])
        >>> [product.flatten().tolist() for product in products(torch.tensor([[1.0], [2.0]]))]
        [[1.0, 2.0], [1.0, 0.0]]
    """

    def __init__(self, x: Columns, masks: Sequence[Tensor | None]) -> None:
        plan = _plan(x, masks)
        self._x, self._masks = x, masks
        self._parts = None if plan is None else plan.parts(x)

    def __call__(self, weight: Tensor) -> list[Tensor]:
        """The product of every mask, for a weight of (F, h)."""
        if self._parts is None:
            return [_ColumnProduct.apply(masked_weight(weight, mask), self._x) for mask in self._masks]
        return list(_SharedProducts.apply(weight, self._parts))


def masked_weight(weight: Tensor, mask: Tensor | None) -> Tensor:
    """``diag(mask) @ weight``: masking the columns of the features is masking the rows of the weight."""
    return weight if mask is None else weight * mask.to(weight.dtype).unsqueeze(1)


@dataclass(frozen=True)
class _Plan:
    """Which columns are multiplied for all views together (``None``: all), and which for each view alone."""

    width: int  # number of all columns
    shared: Tensor | None
    own: list[Tensor]
    sign: float

    def parts(self, x: Columns) -> _Parts:
        return _Parts(self, x if self.shared is None else x.take(self.shared), [x.take(each) for each in self.own])


@dataclass(frozen=True)
class _Parts:
    """The columns of a plan."""

    plan: _Plan
    shared: Columns
    own: list[Columns]

    def products(self, weight: Tensor) -> list[Tensor]:
        """The product of every view."""
        plan = self.plan
        total = self.shared.product(weight if plan.shared is None else weight[plan.shared])
        *others, last = ((part, weight[columns]) for part, columns in zip(self.own, plan.own, strict=True))
        products = [part.product(rows, total, plan.sign) for part, rows in others]
        part, rows = last
        return [*products, part.product(rows, total, plan.sign, over=True)]

    def gradient(self, gradients: Sequence[Tensor]) -> Tensor:
        """That of the weight, from those of all products."""
        plan, (first, second, *more) = self.plan, gradients
        total = first + second
        for gradient in more:
            total = total + gradient
        result = together = self.shared.gradient(total)
        if plan.shared is not None:
            result = together.new_zeros(plan.width, together.shape[1])
            result[plan.shared] = together
        for part, gradient, columns in zip(self.own, gradients, plan.own, strict=True):
            result.index_add_(0, columns, part.gradient(gradient), alpha=plan.sign)
        return result


def _plan(x: Columns, masks: Sequence[Tensor | None]) -> _Plan | None:
    """How to share the product; ``None`` when that saves nothing or a mask is not of zeros and ones."""
    width = x.shape[1]
    kept = [torch.ones(width, dtype=torch.bool) if mask is None else (mask != 0).cpu() for mask in masks]
    binary = all(mask is None or bool((mask.cpu() == each).all()) for mask, each in zip(masks, kept, strict=True))
    if len(masks) < 2 or not binary:
        return None
    if len(masks) == 2 and x.cheap_to_take:
        first, second = kept
        chosen = [first & second, first & ~second, second & ~first]
        shared, *own = (each.nonzero().flatten().to(x.device) for each in chosen)
        return _Plan(width, shared, own, 1.0)
    dropped = [(~each).nonzero().flatten().to(x.device) for each in kept]
    return _Plan(width, None, dropped, -1.0) if sum(map(len, dropped)) < (len(masks) - 1) * width else None


class _ColumnProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Columns) -> Tensor:
        ctx.x = x
        return x.product(weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.x.gradient(gradient), None


class _SharedProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, parts: _Parts) -> tuple[Tensor, ...]:
        ctx.parts = parts
        return tuple(parts.products(weight))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return ctx.parts.gradient(gradients), None
