"""Feature dropout: single entries of the feature matrix are set to zero."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.devices import has_kernels
from imgcl._core.sparse import CSR, DenseFeatures, Features, Operator, SparseFeatures
from imgcl._core.sparse.csr import edge_uniform as edge_uniform_torch
from imgcl._core.sparse.kernels import edge_uniform
from imgcl._core.sparse.threads import threaded, threads_for
from imgcl.graph.block import Block
from imgcl.views.base import check_probability, draw_seed


class FeatureDropout:
    """Zero each entry of the features with probability p and scale the others by 1 / (1 - p), as dropout does.

    The random number of an entry is a hash of (row, column, seed): dense and sparse storage of the same features give
    the same view, and sparse features stay sparse.

    Args:
        p: probability that an entry is zeroed, below 1.

    Example:
        >>> import numpy as np, torch
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0], [1]], x=np.ones((2, 3))))
        >>> view = FeatureDropout(0.5)(block, torch.Generator().manual_seed(0))
        >>> sorted(set(view.dense_features().flatten().tolist()))
        [0.0, 2.0]
    """

    def __init__(self, p: float) -> None:
        self.p = check_probability(p)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        if self.p == 0:
            return block
        return replace(block, features=_dropped(block.features, self.p, draw_seed(generator)))


def _dropped(features: Features, p: float, seed: int) -> Features:
    scale = 1 / (1 - p) if p < 1 else 0.0
    n_rows = features.shape[0]
    if not isinstance(features, SparseFeatures):
        dense = features.to_dense()
        if not has_kernels(dense.device):
            return DenseFeatures(_dropped_torch(dense, p, scale, seed))
        out = torch.empty_like(dense, memory_format=torch.contiguous_format)
        kind = out.numpy().dtype.type
        _dropped_dense(dense.numpy(), p, kind(scale), np.uint64(seed), out.numpy(), threads_for(dense.numel()))
        return DenseFeatures(out)
    matrix, transposed = features.operator.matrix, features.operator.transposed
    kept = edge_uniform_torch(matrix.row_index, matrix.indices.long() + n_rows, seed) >= p
    kept_transposed = edge_uniform_torch(transposed.indices.long(), transposed.row_index + n_rows, seed) >= p
    return SparseFeatures(Operator(_weighted(matrix, kept, scale), _weighted(transposed, kept_transposed, scale)))


def _dropped_torch(dense: Tensor, p: float, scale: float, seed: int) -> Tensor:
    rows = torch.arange(dense.shape[0], device=dense.device).unsqueeze(1)
    columns = torch.arange(dense.shape[1], device=dense.device) + dense.shape[0]
    return dense * (edge_uniform_torch(rows, columns, seed) >= p) * scale


def _weighted(matrix: CSR, kept: Tensor, scale: float) -> CSR:
    smaller = matrix.keep_entries(kept)
    return replace(smaller, weights=smaller.values * scale)


@threaded()
def _dropped_dense(matrix: NDArray[Any], p: float, scale: Any, seed: Any, out: NDArray[Any], parts: int) -> None:
    """Rows and columns are the two sides of a bipartite graph, so an entry's number is that of its edge."""
    n_rows, n_columns = matrix.shape
    for part in prange(parts):
        for row in range(n_rows * part // parts, n_rows * (part + 1) // parts):
            for column in range(n_columns):
                kept = edge_uniform(row, n_rows + column, seed) >= p
                out[row, column] = matrix[row, column] * scale if kept else 0
