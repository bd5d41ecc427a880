"""One dense product for several column-masked views of the same features.

A mask leaves most columns in place, so the views' products have most in common. What they share is multiplied once and
each view adds or subtracts its own few columns: all columns, less those that the view drops; or, of two views of
features stored by columns, the columns that both keep, plus those that the view alone keeps, where no column is
multiplied twice. The backward does the same. Two views that drop a tenth of the columns cost one product, not two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


def masked_products(
    x: Tensor, weight: Tensor, masks: Sequence[Tensor | None], frozen: Tensor | None = None
) -> list[Tensor]:
    """``x @ diag(mask) @ weight`` for every mask; ``x`` receives no gradient.

    Args:
        x: features, (N, F).
        weight: (F, h).
        masks: factor of every column, or ``None`` for ones.
        frozen: another weight, (F, k), without gradient: its products for every mask follow.

    Example:
        >>> x, weight = torch.eye(2), torch.tensor([[1.0], [2.0]])
        >>> [product.flatten().tolist() for product in masked_products(x, weight, [None, torch.tensor([1.0, 0.0])])]
        [[1.0, 2.0], [1.0, 0.0]]
    """
    plan = _plan(x, masks)
    if plan is not None:
        return list(_MaskedProducts.apply(weight, x, plan, None if frozen is None else frozen.detach()))
    weights = [weight] if frozen is None else [weight, frozen.detach()]
    return [x @ masked_weight(each, mask) for each in weights for mask in masks]


def masked_weight(weight: Tensor, mask: Tensor | None) -> Tensor:
    """``diag(mask) @ weight``: masking the columns of the features is masking the rows of the weight."""
    return weight if mask is None else weight * mask.to(weight.dtype).unsqueeze(1)


@dataclass(frozen=True)
class _Plan:
    """Which columns are multiplied for all views together (``None``: all), and which for each view alone."""

    shared: Tensor | None
    own: list[Tensor]
    sign: float

    def parts(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        shared = x if self.shared is None else _columns(x, self.shared)
        return shared, [_columns(x, columns) for columns in self.own]


def _plan(x: Tensor, masks: Sequence[Tensor | None]) -> _Plan | None:
    """How to share the product; ``None`` when that saves nothing or a mask is not of zeros and ones."""
    width = x.shape[1]
    kept = [torch.ones(width, dtype=torch.bool) if mask is None else (mask != 0).cpu() for mask in masks]
    binary = all(mask is None or bool((mask.cpu() == each).all()) for mask, each in zip(masks, kept, strict=True))
    if len(masks) < 2 or not binary:
        return None
    if len(masks) == 2 and x.T.is_contiguous():
        first, second = kept
        chosen = [first & second, first & ~second, second & ~first]
        shared, *own = (each.nonzero().flatten().to(x.device) for each in chosen)
        return _Plan(shared, own, 1.0)
    dropped = [(~each).nonzero().flatten().to(x.device) for each in kept]
    return _Plan(None, dropped, -1.0) if sum(map(len, dropped)) < (len(masks) - 1) * width else None


def _columns(x: Tensor, columns: Tensor) -> Tensor:
    """These columns; of features stored by columns they are copied as whole pieces."""
    return x.T.index_select(0, columns).T if x.T.is_contiguous() else x.index_select(1, columns)


class _MaskedProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Tensor, plan: _Plan, frozen: Tensor | None) -> tuple[Tensor, ...]:
        shared, own = plan.parts(x)
        ctx.plan, ctx.shape = plan, weight.shape
        ctx.save_for_backward(shared, *own)
        products = _multiply(shared, own, weight, plan)
        if frozen is None:
            return tuple(products)
        ctx.set_materialize_grads(False)  # no zeros for products that have no gradient
        # Not as one wider product: the sparse products that follow read rows without a gap faster.
        without_gradient = _multiply(shared, own, frozen, plan)
        ctx.mark_non_differentiable(*without_gradient)
        return *products, *without_gradient

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        shared, *own = ctx.saved_tensors
        plan, present = ctx.plan, _present(gradients[: len(own)], shared, ctx.shape)
        total = present[0] + present[1]
        for gradient in present[2:]:
            total = total + gradient
        together = shared.T @ total
        result = together if plan.shared is None else together.new_zeros(ctx.shape)
        if plan.shared is not None:
            result[plan.shared] = together
        for part, gradient, columns in zip(own, present, plan.own, strict=True):
            result.index_add_(0, columns, part.T @ gradient, alpha=plan.sign)
        return result, None, None, None


def _present(gradients: Sequence[Tensor | None], x: Tensor, shape: torch.Size) -> list[Tensor]:
    """Zeros where a product was not used."""
    return [x.new_zeros(len(x), shape[1]) if each is None else each for each in gradients]


def _multiply(shared: Tensor, own: Sequence[Tensor], weight: Tensor, plan: _Plan) -> list[Tensor]:
    """The product of every view."""
    total = shared @ (weight if plan.shared is None else weight[plan.shared])
    *others, last = ((part, weight[columns]) for part, columns in zip(own, plan.own, strict=True))
    products = [torch.addmm(total, part, rows, alpha=plan.sign) for part, rows in others]
    return [*products, total.addmm_(*last, alpha=plan.sign)]
