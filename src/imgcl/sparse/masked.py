"""One product for several column-masked views of the same features.

A mask leaves most columns in place, so the views' products have most in common. What they share is multiplied once and
each view adds or subtracts its own few columns: all columns, less those that the view drops; or, of two views of
features whose columns are cheap to take, the columns that both keep, plus those that the view alone keeps, where no
column is multiplied twice. The backward does the same. Two views that drop a tenth of the columns cost one product,
not two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imgcl.sparse.columns import Columns


def masked_products(
    x: Columns, weight: Tensor, masks: Sequence[Tensor | None], frozen: Tensor | None = None
) -> list[Tensor]:
    """``x @ diag(mask) @ weight`` for every mask; ``x`` receives no gradient.

    Args:
        x: features, (N, F).
        weight: (F, h).
        masks: factor of every column, or ``None`` for ones.
        frozen: another weight, (F, k), without gradient: its products for every mask follow.

    Example:
        >>> from imgcl.sparse.columns import DenseColumns
        >>> x, weight = DenseColumns(torch.eye(2)), torch.tensor([[1.0], [2.0]])
        >>> [product.flatten().tolist() for product in masked_products(x, weight, [None, torch.tensor([1.0, 0.0])])]
        [[1.0, 2.0], [1.0, 0.0]]
    """
    plan = _plan(x, masks)
    if plan is not None:
        return list(_MaskedProducts.apply(weight, x, plan, None if frozen is None else frozen.detach()))
    weights = [weight] if frozen is None else [weight, frozen.detach()]
    return [_ColumnProduct.apply(masked_weight(each, mask), x) for each in weights for mask in masks]


def masked_weight(weight: Tensor, mask: Tensor | None) -> Tensor:
    """``diag(mask) @ weight``: masking the columns of the features is masking the rows of the weight."""
    return weight if mask is None else weight * mask.to(weight.dtype).unsqueeze(1)


@dataclass(frozen=True)
class _Plan:
    """Which columns are multiplied for all views together (``None``: all), and which for each view alone."""

    shared: Tensor | None
    own: list[Tensor]
    sign: float

    def parts(self, x: Columns) -> tuple[Columns, list[Columns]]:
        return x if self.shared is None else x.take(self.shared), [x.take(columns) for columns in self.own]


def _plan(x: Columns, masks: Sequence[Tensor | None]) -> _Plan | None:
    """How to share the product; ``None`` when that saves nothing or a mask is not of zeros and ones."""
    width = x.shape[1]
    kept = [torch.ones(width, dtype=torch.bool) if mask is None else (mask != 0).cpu() for mask in masks]
    binary = all(mask is None or bool((mask.cpu() == each).all()) for mask, each in zip(masks, kept, strict=True))
    if len(masks) < 2 or not binary:
        return None
    device = next((mask.device for mask in masks if mask is not None), torch.device("cpu"))
    if len(masks) == 2 and x.cheap_to_take:
        first, second = kept
        chosen = [first & second, first & ~second, second & ~first]
        shared, *own = (each.nonzero().flatten().to(device) for each in chosen)
        return _Plan(shared, own, 1.0)
    dropped = [(~each).nonzero().flatten().to(device) for each in kept]
    return _Plan(None, dropped, -1.0) if sum(map(len, dropped)) < (len(masks) - 1) * width else None


class _ColumnProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Columns) -> Tensor:
        ctx.x = x
        return x.product(weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.x.gradient(gradient), None


class _MaskedProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Columns, plan: _Plan, frozen: Tensor | None) -> tuple[Tensor, ...]:
        parts = plan.parts(x)
        ctx.parts, ctx.plan, ctx.shape = parts, plan, weight.shape
        products = _multiply(*parts, weight, plan)
        if frozen is None:
            return tuple(products)
        ctx.set_materialize_grads(False)  # no zeros for products that have no gradient
        # Not as one wider product: the sparse products that follow read rows without a gap faster.
        without_gradient = _multiply(*parts, frozen, plan)
        ctx.mark_non_differentiable(*without_gradient)
        return *products, *without_gradient

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        (shared, own), plan = ctx.parts, ctx.plan
        present = _present(gradients[: len(own)], shared.shape[0], ctx.shape[1])
        total = present[0] + present[1]
        for gradient in present[2:]:
            total = total + gradient
        together = shared.gradient(total)
        result = together if plan.shared is None else together.new_zeros(ctx.shape)
        if plan.shared is not None:
            result[plan.shared] = together
        for part, gradient, columns in zip(own, present, plan.own, strict=True):
            result.index_add_(0, columns, part.gradient(gradient), alpha=plan.sign)
        return result, None, None, None


def _present(gradients: Sequence[Tensor | None], n: int, width: int) -> list[Tensor]:
    """Zeros where a product was not used."""
    some = next(each for each in gradients if each is not None)
    return [some.new_zeros(n, width) if each is None else each for each in gradients]


def _multiply(shared: Columns, own: Sequence[Columns], weight: Tensor, plan: _Plan) -> list[Tensor]:
    """The product of every view."""
    total = shared.product(weight if plan.shared is None else weight[plan.shared])
    *others, last = ((part, weight[columns]) for part, columns in zip(own, plan.own, strict=True))
    products = [part.product(rows, total, plan.sign) for part, rows in others]
    part, rows = last
    return [*products, part.product(rows, total, plan.sign, over=True)]
