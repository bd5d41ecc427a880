"""Message passing as a linear operator with its own backward.

``Operator`` is ``diag(left) (A + loop I) diag(right)`` for a CSR matrix A. Its backward is the transposed operator,
which for a symmetric A is the same matrix with the scales exchanged: nothing is sorted, gathered or scattered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from imgcl._core.devices import has_kernels
from imgcl._core.quiet import without_warning
from imgcl._core.sparse import kernels
from imgcl._core.sparse.csr import CSR
from imgcl._core.sparse.threads import threads_for


@dataclass(frozen=True, eq=False)
class Operator:
    """A sparse linear map of node rows.

    Attributes:
        matrix: A, with one row per output row.
        transposed: A transposed (the same object when A is symmetric).
        left: scale of every output row, or ``None``.
        right: scale of every input row, or ``None``.
        loop: weight of a node's own row.
        rows: which nodes the output rows are; ``None``: all, in order.
    """

    matrix: CSR
    transposed: CSR
    left: Tensor | None = None
    right: Tensor | None = None
    loop: float = 0.0
    rows: Tensor | None = None

    @classmethod
    def normalised(cls, matrix: CSR, transposed: CSR) -> Operator:
        """``D^-1/2 (A + I) D^-1/2`` with D the row sums of A + I, as in a GCN."""
        scale = (matrix.row_sums + 1).rsqrt()
        return cls(matrix, transposed, scale, scale, 1.0)

    @property
    def transpose(self) -> Operator:
        """The transposed operator (only of an operator on all rows)."""
        return replace(self, matrix=self.transposed, transposed=self.matrix, left=self.right, right=self.left)

    def select(self, rows: Tensor) -> Operator:
        """The operator that computes only these (distinct) output rows."""
        position = torch.full((self.matrix.n_rows,), -1, dtype=torch.int32, device=self.matrix.device)
        position[rows] = torch.arange(len(rows), dtype=torch.int32, device=self.matrix.device)
        return Operator(
            self.matrix.take_rows(rows),
            self.transposed.take_columns(position, len(rows)),
            None if self.left is None else self.left[rows],
            self.right,
            self.loop,
            rows,
        )

    def __matmul__(self, source: Tensor) -> Tensor:
        return _Product.apply(source, self)  # type: ignore[no-any-return]

    def cost(self, width: int) -> float:
        """Multiplications for a source of this width, to choose the order of products."""
        return float(self.matrix.n_entries + self.matrix.n_rows) * width


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, source: Tensor, operator: Operator) -> Tensor:
        ctx.operator = operator
        return _product(
            operator.matrix,
            source,
            operator.left,
            operator.right,
            operator.loop,
            own_column(operator),
        )

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None]:
        if not ctx.needs_input_grad[0]:
            return None, None
        operator = ctx.operator
        return _product(
            operator.transposed,
            gradient,
            operator.right,
            operator.left,
            operator.loop,
            own_row(operator),
        ), None


def own_column(operator: Operator) -> Tensor:
    """The column of every output row that is its own node; empty without a loop."""
    if not operator.loop:
        return torch.empty(0, dtype=torch.int64, device=operator.matrix.device)
    return (
        torch.arange(operator.matrix.n_rows, device=operator.matrix.device) if operator.rows is None else operator.rows
    )


def own_row(operator: Operator) -> Tensor:
    """The output row of every column's own node, or -1; empty without a loop."""
    if operator.rows is None or not operator.loop:
        return own_column(operator)
    own = torch.full((operator.transposed.n_rows,), -1, dtype=torch.int64, device=operator.matrix.device)
    own[operator.rows] = torch.arange(len(operator.rows), device=own.device)
    return own


def _product(
    matrix: CSR, source: Tensor, left: Tensor | None, right: Tensor | None, loop: float, own: Tensor
) -> Tensor:
    if has_kernels(matrix.device):
        return _product_numba(matrix, source, left, right, loop, own)
    return _product_torch(matrix, source, left, right, loop, own)


def _product_numba(
    matrix: CSR, source: Tensor, left: Tensor | None, right: Tensor | None, loop: float, own: Tensor
) -> Tensor:
    dtype = source.dtype
    if source.stride(1) != 1 or source.stride(0) < source.shape[1]:
        source = source.contiguous()
    width, stride = source.shape[1], max(source.stride(0), 1)
    # The rows as one flat buffer: a column block of a wider matrix is read in place.
    length = (source.shape[0] - 1) * stride + width if source.shape[0] else 0
    flat = source.as_strided((length,), (1,))
    out = torch.empty((matrix.n_rows, width), dtype=dtype)
    kernels.product(
        matrix.indptr.numpy(),
        matrix.indices.numpy(),
        values_of(matrix.weights, dtype),
        values_of(left, dtype),
        values_of(right, dtype),
        out.numpy().dtype.type(loop),
        own.numpy(),
        flat.detach().numpy(),
        stride,
        out.view(-1).numpy(),
        width,
        width,
        threads_for((matrix.n_entries + matrix.n_rows) * width),
    )
    return out


def _product_torch(
    matrix: CSR, source: Tensor, left: Tensor | None, right: Tensor | None, loop: float, own: Tensor
) -> Tensor:
    """The same sum with torch's own sparse product, for devices the kernels do not know."""
    dtype = source.dtype
    scaled = source if right is None else source * right.to(dtype).unsqueeze(1)
    with without_warning("Sparse CSR tensor support is in beta"):  # announced once per process
        sparse = torch.sparse_csr_tensor(
            matrix.indptr,
            matrix.indices.long(),
            matrix.values.to(dtype),
            size=(matrix.n_rows, matrix.n_columns),
            check_invariants=False,
        )
    out = sparse @ scaled
    if loop:
        present = own >= 0
        out[present] += loop * scaled[own[present]]
    return out if left is None else out * left.to(dtype).unsqueeze(1)


def values_of(tensor: Tensor | None, dtype: torch.dtype) -> np.ndarray:
    """The numbers of a tensor for a kernel; ``None`` is an empty array."""
    if tensor is None:
        return np.empty(0, dtype=np.float64 if dtype == torch.float64 else np.float32)
    return tensor.detach().to(dtype).numpy()
