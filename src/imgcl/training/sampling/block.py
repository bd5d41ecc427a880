"""A sampled neighbourhood as a block: the same methods, views and encoders train on it as on a whole graph.

A node whose list holds k of its d neighbours stands for all of them, so each entry weighs d / k, and normalisation uses
the degrees of the graph. Where edges have weights, an entry weighs d / k times its own. A view that drops edges thins
the lists: a node's own degree is then estimated by the share of its list that stayed, that of its neighbours, whose
lists may not be known, by the share that was to stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.compiled import njit
from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR, SparseFeatures
from imgcl._core.sparse.kernels import edge_uniform
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.training.sampling.features import FeatureSource
from imgcl.training.sampling.neighbours import Neighbourhood
from imgcl.training.sampling.piece import Piece
from imgcl.views.diffusion import Edges, Rows

NOT_SAMPLED = (
    "in mini-batches views may drop edges, and mask, drop or shuffle features (edge-drop, feature-mask, …): "
    "for other views use batch_size=0"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledCSR(CSR):
    """Sampled neighbour lists.

    Attributes:
        nodes: the numbers of its rows in the graph.
        kept: the share of edges that views were to keep.
    """

    nodes: NDArray[np.int64]
    kept: float = 1.0

    def drop_edges(self, probability: float | Tensor, seed: int) -> SampledCSR:
        """As of a whole graph: an edge's random number depends on its two nodes, not on where they lie here."""
        given = torch.as_tensor(probability, dtype=torch.float32).reshape(-1).cpu().numpy()
        values = np.empty(0, np.float32) if self.weights is None else self.weights.cpu().numpy()
        lists = (self.indptr.cpu().numpy(), self.indices.cpu().numpy(), values)
        arrays = _keep(*lists, self.nodes, given, np.uint64(seed))
        indptr, indices, weights = (torch.from_numpy(array).to(self.device) for array in arrays)
        kept = self.kept * (1 - float(given.mean()))
        left = None if self.weights is None else weights
        return SampledCSR(indptr, indices, left, self.n_columns, nodes=self.nodes, kept=kept)


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledBlock(Block):
    """A neighbourhood whose first rows are the anchors.

    Attributes:
        nodes: node numbers in the graph.
        reach: how many nodes are within 0, 1, 2, … steps of an anchor.
        degree: (weighted) degrees in the graph.
        listed: length of every node's list before any view, or the sum of its weights.
        stands_for: how many neighbours an entry of every node's list stands for.
        layers: of the encoders that will read the block.
        source: the features of the whole graph, which shuffling draws from.
        diffusion: the anchors' rows of a diffusion of the whole graph.
    """

    nodes: NDArray[np.int64]
    reach: tuple[int, ...]
    degree: Tensor
    listed: Tensor
    stands_for: Tensor
    layers: int
    source: FeatureSource
    diffusion: CSR | None = None

    @property
    def project_first(self) -> bool:
        """Ten times as many rows are read as computed: dense features are propagated first, then multiplied."""
        return isinstance(self.features, SparseFeatures)

    def steps(self, layers: int, rows: Tensor | None) -> list[tuple[Block, Tensor | None]]:
        """Every layer computes only the rows that the layers above it read; the last one the anchors."""
        assert layers == self.layers, "the neighbourhood was sampled for another number of layers"
        return [(piece, piece.rows) for piece in self._pieces]

    def shuffled(self, generator: torch.Generator) -> Block:
        """Features of nodes from all over the graph, as when the whole graph is shuffled."""
        seed = int(torch.randint(0, 2**63 - 1, (1,), generator=generator, dtype=torch.int64))
        return replace(self, features=self.source.shuffled(self.nodes, seed))

    @property
    def node_numbers(self) -> Tensor:
        return torch.from_numpy(self.nodes).to(self.device)

    def diffused_by(self, matrix: Callable[[CSR], CSR]) -> Block:
        """The anchors' rows of the whole graph's diffusion, which were computed when the block was made."""
        if self.diffusion is None:
            raise InputError(NOT_SAMPLED)
        return replace(self, adjacency=self.diffusion, diffused=True)

    @cached_property
    def _pieces(self) -> list[Piece]:
        """What each layer passes messages over, first layer first."""
        adjacency, degree, own_degree = self.adjacency, self.degree, self.degree
        weighted = adjacency.weights is not None and not self.diffused
        if isinstance(adjacency, SampledCSR):
            left = adjacency.row_sums
            own_degree = self.stands_for * left
            weights = torch.repeat_interleave(self.stands_for, torch.diff(adjacency.indptr))
            if adjacency.weights is not None:
                weights = weights * adjacency.weights
                own_degree = degree * torch.where(self.listed > 0, left / self.listed, 0.0)
            degree = degree * adjacency.kept
            adjacency = CSR(adjacency.indptr, adjacency.indices, weights, adjacency.n_columns)
        elif not self.diffused:  # its degrees are no longer known
            raise InputError(NOT_SAMPLED)
        pieces = []
        sizes = [*self.reach[: self.layers], self.n_nodes]  # the first layer reads all rows there are
        for outputs, inputs in zip(sizes[-2::-1], sizes[:0:-1], strict=True):
            stop = int(adjacency.indptr[outputs])
            values = None if adjacency.weights is None else adjacency.weights[:stop]
            rows = CSR(adjacency.indptr[: outputs + 1], adjacency.indices[:stop], values, inputs)
            pieces.append(
                Piece(
                    rows,
                    self.features,
                    diffused=self.diffused,
                    rows=torch.arange(outputs, device=self.device),
                    degree=degree[:inputs],
                    own_degree=own_degree[:outputs],
                    weighted=weighted,
                )
            )
        return pieces


def sampled_block(
    graph: Graph,
    found: Neighbourhood,
    source: FeatureSource,
    layers: int,
    device: Any = "cpu",
    diffusion: Rows | None = None,
) -> SampledBlock:
    """The block of a neighbourhood, with the features of its nodes.

    Args:
        graph: where it was sampled.
        found: the neighbourhood.
        source: the graph's features.
        layers: of the encoders that will read the block.
        device: where to put it.
        diffusion: computes rows of a diffusion; the nodes that the anchors' rows reach join the block.
    """
    nodes, diffused = found.nodes, None
    if diffusion is not None:
        if layers != 1:
            raise InputError("a diffusion in mini-batches needs an encoder with one layer: use `layers=1`")
        nodes, diffused = _diffused_rows(graph, found, diffusion, device)
    indptr = np.concatenate([found.indptr, np.full(len(nodes) - len(found.nodes), found.indptr[-1])])
    pointer, columns = torch.from_numpy(indptr).to(device), torch.from_numpy(found.indices).to(device)
    weights = None if found.weights is None else torch.from_numpy(found.weights).to(device)
    neighbours = (graph.indptr[nodes + 1] - graph.indptr[nodes]).astype(np.float32)
    degree = neighbours if weights is None else graph.weighted_degree[nodes].astype(np.float32)
    listed = torch.diff(pointer).float()
    lists = SampledCSR(pointer, columns, weights, len(nodes), nodes=nodes)
    return SampledBlock(
        lists,
        source.take(nodes),
        nodes=nodes,
        reach=found.reach,
        degree=torch.from_numpy(degree).to(device),
        listed=lists.row_sums,
        stands_for=torch.where(listed > 0, torch.from_numpy(neighbours).to(device) / listed.clamp(min=1), 0.0),
        layers=layers,
        source=source,
        diffusion=diffused,
    )


def _diffused_rows(graph: Graph, found: Neighbourhood, diffusion: Rows, device: Any) -> tuple[NDArray[np.int64], CSR]:
    """The anchors' rows of the diffusion, and all nodes: those of the neighbourhood, then the others it reaches."""
    anchors = found.nodes[: found.reach[0]]
    lengths, columns, values = diffusion(Edges.of_graph(graph), anchors)
    nodes = np.concatenate([found.nodes, np.setdiff1d(columns, found.nodes)])
    order = np.argsort(nodes)
    local = order[np.searchsorted(nodes, columns, sorter=order)]
    ends = np.cumsum(lengths)
    pointer = np.concatenate([[0], ends, np.full(len(nodes) - len(anchors), ends[-1])])
    return nodes, CSR.from_numpy(pointer, local, values, len(nodes), device)


@njit(cache=True, nogil=True)
def _keep(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32],
    nodes: NDArray[np.int64],
    drop: NDArray[np.float32],
    seed: np.uint64,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    kept_indptr, kept, kept_weights = np.zeros_like(indptr), np.empty_like(indices), np.empty_like(weights)
    filled = 0
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            probability = drop[entry] if len(drop) > 1 else drop[0]
            if edge_uniform(nodes[row], nodes[indices[entry]], seed) >= probability:
                kept[filled] = indices[entry]
                if len(weights) > 0:
                    kept_weights[filled] = weights[entry]
                filled += 1
        kept_indptr[row + 1] = filled
    return kept_indptr, kept[:filled].copy(), kept_weights[:filled].copy()
