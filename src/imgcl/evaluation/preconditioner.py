"""An approximate inverse Hessian of softmax regressions: one matrix for all classes, and a factor for each class.

The Hessian's block of class k is x^T diag(w p_k (1 - p_k)) x + penalty. Blocks of their own would be costly to make and
to apply; one matrix G = x^T diag(mean over classes of w p_k (1 - p_k) / s_k) x + penalty serves all, and the factors
s_k, square roots of the blocks' relative sizes, bring rare and common classes to a common scale: the block of class k
is taken to be s_k G.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

WIDE = 512  # columns from which G is diagonal where there are fewer samples: the matrix would cost more than it saves
WIDEST = 2048  # columns from which it always is
SMALLEST = 1e-6  # relative size below which a class's block is not followed
FLOOR = 1e-6  # of G's diagonal, relative to its largest entry: keeps Cholesky in float32 definite


class Preconditioner:
    """The approximate inverse Hessians of the rows of a stack.

    Attributes:
        inverse: G's inverse, (rows, d + 1, d + 1), or (rows, d + 1) when it is diagonal.
        scale: s_k ** -0.5 (rows, K, 1).
    """

    def __init__(self, rows: int, classes: int, width: int, samples: int, like: Tensor) -> None:
        self.diagonal = width > WIDEST or width > max(WIDE, samples)
        self.loss = like.new_zeros(rows, *([width] if self.diagonal else [width, width]))
        self.factor = like.new_ones(rows, classes)
        self.inverse, self.scale = self.loss, self.factor[:, :, None]

    def measure(self, p: Tensor, weight: Tensor, samples: Sequence[Tensor]) -> None:
        """Take in the loss's part of the Hessian.

        Args:
            p: class probabilities of the samples (rows, K, n).
            weight: of the samples (rows, n).
            samples: x of each row (n, d).
        """
        spread = p * (1 - p) * weight[:, None]
        sizes = spread.sum(dim=2)
        self.factor = (sizes / sizes.mean(dim=1, keepdim=True)).clamp_min(SMALLEST).sqrt()
        mean = (spread / self.factor[:, :, None]).mean(dim=1)
        for row, x in enumerate(samples):
            scaled = x * mean[row, :, None]
            if self.diagonal:
                self.loss[row, :-1] = torch.linalg.vecdot(scaled, x, dim=0)
                self.loss[row, -1] = mean[row].sum()
            else:
                self.loss[row, :-1, :-1] = x.T @ scaled
                self.loss[row, -1, :-1] = self.loss[row, :-1, -1] = scaled.sum(0)
                self.loss[row, -1, -1] = mean[row].sum()

    def invert(self, penalty: Tensor) -> None:
        """Add the penalty (rows, d + 1) and invert."""
        diagonal = self.loss if self.diagonal else self.loss.diagonal(dim1=1, dim2=2)
        ridge = penalty + FLOOR * diagonal.amax(dim=1, keepdim=True) + torch.finfo(penalty.dtype).tiny
        if self.diagonal:
            self.inverse = 1 / (diagonal + ridge)
        else:
            self.inverse = torch.cholesky_inverse(torch.linalg.cholesky(self.loss + torch.diag_embed(ridge)))
        # the factors belong to the loss: where the penalty outweighs it, classes are alike
        typical, shrink = diagonal[:, :-1].mean(dim=1, keepdim=True), penalty[:, :1]
        self.scale = ((self.factor * typical + shrink) / (typical + shrink)).rsqrt()[:, :, None]


def apply(inverse: Tensor, scale: Tensor, vectors: Tensor) -> Tensor:
    """Inverse and scale of some rows times vectors (rows, K, d + 1)."""
    scaled = vectors * scale
    return (scaled * inverse[:, None] if inverse.ndim == 2 else torch.bmm(scaled, inverse)) * scale
