"""Embeddings of all nodes, layer by layer and over ranges of rows.

A layer reads the layer below from a scratch file and writes its own rows there; in memory there are one range of rows
and vectors of length N. Unlike with sampled neighbours nothing is approximate, and every row is computed once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.devices import has_kernels
from imgcl._core.errors import InputError
from imgcl._core.sparse import CSR, DenseFeatures
from imgcl._core.sparse.csr import wrap_array
from imgcl.encoders.layered import Convolution, LayeredEncoder
from imgcl.graph import Graph
from imgcl.graph.rows import ROWS_AT_ONCE, row_ranges, scratch_array
from imgcl.training.sampling.features import FeatureSource
from imgcl.training.sampling.piece import Piece
from imgcl.views.diffusion import Edges, Rows


def encode_by_rows(
    encoder: torch.nn.Module,
    graph: Graph,
    source: FeatureSource,
    *,
    diffusion: Rows | None = None,
    scratch: str | Path | None = None,
    device: Any = "cpu",
) -> NDArray[np.float32]:
    """What ``encoder([block of the whole graph])[0]`` gives in evaluation mode, without that block.

    Args:
        encoder: a layered encoder, in evaluation mode.
        graph: the graph; its arrays may be memory-mapped.
        source: its features.
        diffusion: computes rows of a diffusion matrix to propagate instead of the adjacency.
        scratch: directory of the scratch files; by default the system's. They vanish with the result.
        device: where to compute.

    Returns:
        A memory-mapped array, one row per node.
    """
    if not isinstance(encoder, LayeredEncoder):
        raise InputError(f"{type(encoder).__name__} cannot encode by rows: use gcn, sage, gin or gat")
    n, layers = graph.n_nodes, cast(list[Convolution], list(encoder.layers))
    degree = torch.from_numpy(graph.weighted_degree.astype(np.float32))
    out = scratch_array((n, encoder.out_features), scratch)
    with torch.no_grad():
        # Few features are read from the store itself, once for every neighbour; many are multiplied first.
        features = source.plain if layers[0].any_order else None
        raw = features is not None and features.shape[1] <= layers[0].input_weight.shape[1]
        projected = features if raw and features is not None else _first_products(source, layers[0], n, scratch)
        hidden: NDArray[np.float32] | None = None
        column = 0
        for index, (layer, finish) in enumerate(zip(layers, encoder.finishes, strict=True)):
            last = index == len(layers) - 1
            following = None if last else layers[index + 1].input_weight
            next_projected = None if following is None else scratch_array((n, following.shape[1]), scratch)
            width = layer.out_features
            kept = scratch_array((n, width), scratch) if encoder.residual and not last else None
            for rows in row_ranges(graph):
                piece, inputs = _piece(graph, degree, rows, layer, projected, diffusion, device)
                result = (layer if raw and index == 0 else layer.propagate)(piece, inputs, piece.rows)
                if hidden is not None:
                    result = result + encoder.shortcut(index, _tensor(hidden[rows], device))
                result = finish(result)
                if last or encoder.jumping == "cat":
                    out[rows, column : column + width] = result.cpu().numpy()
                if kept is not None:
                    kept[rows] = result.cpu().numpy()
                if next_projected is not None:
                    next_projected[rows] = (result @ following).cpu().numpy()
            column += width if encoder.jumping == "cat" else 0
            hidden = kept
            if next_projected is not None:
                projected = next_projected
    return out


def _first_products(
    source: FeatureSource, layer: Convolution, n: int, scratch: str | Path | None
) -> NDArray[np.float32]:
    """All features times the first layer's weight."""
    products = scratch_array((n, layer.input_weight.shape[1]), scratch)
    for begin in range(0, n, ROWS_AT_ONCE):
        end = min(n, begin + ROWS_AT_ONCE)
        products[begin:end] = source.rows(begin, end).products([None])(layer.input_weight)[0].cpu().numpy()
    return products


def _piece(
    graph: Graph,
    degree: Tensor,
    rows: slice,
    layer: Convolution,
    projected: NDArray[np.float32],
    diffusion: Rows | None,
    device: Any,
) -> tuple[Piece, Tensor]:
    """A range of rows as a piece, and the rows of ``projected`` that it reads."""
    begin, end = rows.start, rows.stop
    if diffusion is None:
        pointer = np.asarray(graph.indptr[begin : end + 1], dtype=np.int64)
        columns = graph.indices[pointer[0] : pointer[-1]]
        weights = None if graph.edge_weight is None else graph.edge_weight[pointer[0] : pointer[-1]]
        pointer = pointer - pointer[0]
    else:
        lengths, columns, weights = diffusion(Edges.of_graph(graph), np.arange(begin, end))
        pointer = np.concatenate([[0], np.cumsum(lengths)])
    own, width = np.arange(begin, end), graph.n_nodes
    inputs = projected
    if not layer.reads_neighbours_only or not has_kernels(torch.device(device)):
        # The layer computes something for every input row, or the rows must be moved: take those it needs.
        needed, place = np.unique(np.concatenate([own, columns]), return_inverse=True)
        own, columns, width = place[: len(own)], place[len(own) :], len(needed)
        inputs, degree = projected[needed], degree[torch.from_numpy(needed)]
    adjacency = CSR.from_numpy(pointer, columns, weights, width, device)
    piece = Piece(
        adjacency,
        DenseFeatures(torch.empty(0, 0, dtype=torch.float32, device=device)),
        diffused=diffusion is not None,
        rows=torch.from_numpy(own).to(device),
        degree=degree.to(device),
        own_degree=degree[torch.from_numpy(own)].to(device),
        weighted=graph.edge_weight is not None,
        differentiable=False,
    )
    return piece, _tensor(inputs, device)


def _tensor(array: NDArray[np.float32], device: Any) -> Tensor:
    return wrap_array(np.asarray(array), np.float32).to(device)  # a store's features cannot be written
