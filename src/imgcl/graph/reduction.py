"""Features of a graph in a few columns, own or propagated: fitted on one graph, applied to any with the same features.

Narrow features are standardised. Wide ones are projected to their leading right singular vectors, found by randomised
subspace iteration (Halko, Martinsson and Tropp 2011) with products alone: neither ``S^hops X`` nor a dense copy of
sparse features is ever made, and memory-mapped features are read by blocks of rows. Projecting comes first and
propagating second, ``(S^hops X) V = S^hops (X V)``, so that another graph costs little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.capacity import check_memory
from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl._core.sparse import CSR, Operator
from imgcl._core.sparse.csr import wrap_array
from imgcl._core.torch_settings import usual_torch
from imgcl.graph.checks import LARGEST
from imgcl.graph.graph import Graph
from imgcl.graph.rows import ROWS_AT_ONCE, column_moments, row_ranges, scratch_array, with_columns

WIDTH = 256
OVERSAMPLING = 16  # extra directions of the subspace
ITERATIONS = 4
NUMBERS_AT_ONCE = 1 << 24  # of dense features
ON_DISK_FROM = 1 << 28  # bytes: larger results lie in a scratch file
SMALLEST = 1e-30  # largest feature that is still scaled up: its inverse is a float32

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Reduction:
    """What makes a few columns of a graph's features.

    Attributes:
        n_features: of the graph that it was fitted on.
        hops: how often the features are propagated by S = D^-1/2 (A + I) D^-1/2, which a GCN propagates with.
        mean: of every column, for narrow features.
        deviation: of every column; 0: the column did not vary, and becomes 0 in every graph.
        components: (features, width) orthonormal columns, for wide features.

    Example:
        >>> graph = Graph.from_edges([[0, 1], [1, 2]], x=[[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
        >>> Reduction.fit(graph).apply(graph).tolist()
        [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
        >>> Reduction.fit(graph, width=1).apply(graph).shape
        (3, 1)
    """

    n_features: int
    hops: int
    mean: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    components: Floats | None = None

    @classmethod
    @usual_torch()
    def fit(
        cls,
        graph: Graph,
        *,
        width: int = WIDTH,
        hops: int = 0,
        random_state: RandomState = 0,
        scratch: str | Path | None = None,
    ) -> Reduction:
        """Fit to a graph: means and deviations, or with more than ``width`` features the singular vectors.

        Singular vectors are those of ``S^hops X``, not centred, their signs fixed. The iteration works on squares of
        singular values in single precision: directions below 1/3000 of the largest one are not reliable.

        Args:
            graph: the graph; its features may be sparse or memory-mapped.
            width: columns to keep at most.
            hops: how often to propagate; 0 for a node's own features.
            random_state: seed of the subspace; the same seed gives the same bits.
            scratch: directory for what does not fit into memory; by default the system's.

        Raises:
            InputError: when the width is not positive, the hops are negative, or the graph has no features.
        """
        if width < 1 or hops < 0:
            raise InputError(f"width is {width} and hops is {hops}: width must be 1 or more, hops 0 or more")
        if not graph.n_features:
            raise InputError(f"graph {graph.name!r} has no features: there is nothing to reduce")
        if graph.n_features <= width:
            return cls(graph.n_features, hops, *column_moments(graph.x))
        check_reduction(graph, width)
        components = _singular_vectors(graph, width, hops, as_seed(random_state), scratch)
        return cls(graph.n_features, hops, components=components)

    @property
    def width(self) -> int:
        """Number of columns of the result."""
        return self.n_features if self.components is None else int(self.components.shape[1])

    @usual_torch()
    def apply(
        self, graph: Graph, columns: NDArray[np.int64] | None = None, *, scratch: str | Path | None = None
    ) -> Floats:
        """The columns of a graph, (N, width); on disk, if they are large.

        Args:
            graph: with the features of the fitted graph.
            columns: where they stand in this graph; by default in the same places.
            scratch: directory of scratch files, which vanish with the result; by default the system's.

        Raises:
            InputError: when the graph has another number of features.
        """
        found = graph.n_features if columns is None else len(columns)
        if found != self.n_features:
            raise InputError(f"the graph has {found} features, the reduction was fitted on {self.n_features}")
        out = _new_rows(graph.n_nodes, self.width, scratch)
        for rows, x in _blocks_of_rows(graph, columns):
            out[rows] = self._reduced(x)
        return propagated(graph, out, self.hops, scratch)

    def _reduced(self, x: Any) -> Any:
        """Some rows, not propagated."""
        if self.mean is None or self.deviation is None:
            return x @ self.components
        dense = (x if isinstance(x, np.ndarray) else x.toarray()).astype(np.float64)
        varies = self.deviation != 0  # of a constant column nothing is kept, whatever it is in another graph
        standard = (dense - self.mean) * varies / np.where(varies, self.deviation, 1)
        return np.clip(standard, -LARGEST, LARGEST)


def check_reduction(graph: Graph, width: int = WIDTH) -> None:
    """Refuse features so wide that their singular vectors do not fit into memory.

    Raises:
        InputError: with what to do.
    """
    if graph.n_features > width:
        size = 4 * 3 * graph.n_features * _subspace(graph, width)
        check_memory(
            f"reducing {graph.n_features:,} features", size, "keep the learned block alone (`blocks='learned'`)"
        )


def _subspace(graph: Graph, width: int) -> int:
    """Dimension of the subspace that is iterated."""
    return min(width + OVERSAMPLING, graph.n_nodes, graph.n_features)


def _singular_vectors(graph: Graph, width: int, hops: int, seed: int, scratch: str | Path | None) -> Floats:
    """The leading right singular vectors of M = S^hops X, (features, width or the number of nodes)."""
    size = _subspace(graph, width)
    basis = generator(seed, "reduction", hops).standard_normal((graph.n_features, size), dtype=np.float32)
    scale = 1 / max(_largest(graph), SMALLEST)
    for _ in range(ITERATIONS):
        basis = np.linalg.qr(_gram_product(graph, basis, hops, scale, scratch))[0]
    # The singular vectors of M within the subspace are eigenvectors of B^T B, B = M basis: small and in double.
    gram = np.zeros((size, size))
    for rows in _smoothed(graph, basis, hops, scale, scratch):
        gram += rows.T.astype(np.float64) @ rows
    vectors = np.linalg.eigh(gram)[1][:, ::-1][:, : min(width, size)]
    return _with_fixed_signs(basis @ vectors.astype(np.float32))


def _gram_product(graph: Graph, basis: Floats, hops: int, scale: float, scratch: str | Path | None) -> Floats:
    """``M^T M basis`` with every feature times ``scale``, ``M^T M = X^T (S^T)^hops S^hops X``."""
    out = np.zeros_like(basis)
    sides = _smoothed(graph, basis, hops, scale, scratch, back=True)
    for (_, x), side in zip(_blocks_of_rows(graph), sides, strict=True):
        out += (x.T @ side) * np.float32(scale)
    return out


def _smoothed(
    graph: Graph, basis: Floats, hops: int, scale: float, scratch: str | Path | None, *, back: bool = False
) -> Iterator[Floats]:
    """``S^hops X basis`` (and back, times ``(S^T)^hops``) by blocks of rows; without hops one block is in memory."""
    if not hops:
        yield from ((x @ basis) * np.float32(scale) for _, x in _blocks_of_rows(graph))
        return
    products = _new_rows(graph.n_nodes, basis.shape[1], scratch)
    for rows, x in _blocks_of_rows(graph):
        products[rows] = (x @ basis) * np.float32(scale)
    smoothed = propagated(graph, products, hops, scratch)
    if back:
        smoothed = propagated(graph, smoothed, hops, scratch, transposed=True)
    yield from (smoothed[rows] for rows in _ranges(graph))


def propagated(
    graph: Graph, rows: Floats, hops: int, scratch: str | Path | None, *, transposed: bool = False
) -> Floats:
    """``S^hops rows``, or ``(S^T)^hops rows``, which is the same unless the graph is directed."""
    directed, graph = graph.received is not None, graph.messages
    scale = torch.from_numpy((1 / np.sqrt(graph.weighted_degree + 1)).astype(np.float32))
    if directed and transposed and hops:
        flipped = graph.adjacency.T.tocsr()
        graph = Graph(flipped.indptr, flipped.indices, graph.x, edge_weight=flipped.data)
    for _ in range(hops):
        source, out = wrap_array(rows, np.float32), _new_rows(len(rows), rows.shape[1], scratch)
        for part in row_ranges(graph):
            out[part] = (_rows_of_s(graph, part, scale) @ source).numpy()
        rows = out
    return rows


def _rows_of_s(graph: Graph, rows: slice, scale: torch.Tensor) -> Operator:
    """Some rows of S = D^-1/2 (A + I) D^-1/2."""
    pointer = np.asarray(graph.indptr[rows.start : rows.stop + 1], dtype=np.int64)
    entries = slice(pointer[0], pointer[-1])
    weights = None if graph.edge_weight is None else graph.edge_weight[entries]
    matrix = CSR.from_numpy(pointer - pointer[0], graph.indices[entries], weights, graph.n_nodes)
    own = torch.arange(rows.start, rows.stop)
    return Operator(matrix, matrix, scale[rows], scale, 1.0, own)


def _blocks_of_rows(graph: Graph, columns: NDArray[np.int64] | None = None) -> Iterator[tuple[slice, Any]]:
    """The features by ranges of rows, dense ones as float32."""
    for rows in _ranges(graph):
        x = graph.x[rows] if columns is None else with_columns(graph.x[rows], columns)
        yield rows, np.ascontiguousarray(x, dtype=np.float32) if isinstance(x, np.ndarray) else x


def _ranges(graph: Graph) -> Iterator[slice]:
    step = max(1, min(ROWS_AT_ONCE, NUMBERS_AT_ONCE // graph.n_features))
    return (slice(begin, min(begin + step, graph.n_nodes)) for begin in range(0, graph.n_nodes, step))


def _new_rows(n: int, width: int, scratch: str | Path | None) -> Floats:
    if 4 * n * width < ON_DISK_FROM:
        return np.empty((n, width), dtype=np.float32)
    return scratch_array((n, width), scratch)


def _largest(graph: Graph) -> float:
    """Largest absolute feature."""
    values = (x if isinstance(x, np.ndarray) else x.data for _, x in _blocks_of_rows(graph))
    return max((float(np.abs(part).max()) for part in values if part.size), default=0.0)


def _with_fixed_signs(vectors: Floats) -> Floats:
    """A vector's sign is arbitrary: its largest entry becomes positive."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, np.float32(-1), np.float32(1))
