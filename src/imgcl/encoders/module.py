"""Any module of torch or torch_geometric as an encoder."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from imgcl._core.errors import InputError
from imgcl.encoders.base import Encoder
from imgcl.encoders.layered import at_rows
from imgcl.graph.block import Block


class ModuleEncoder(Encoder):
    """Calls ``module(x, edge_index)`` on every block, with the features of its view as a dense matrix.

    On a weighted block ``edge_weight`` is passed as well if the module takes it. The module normalises edges itself, so
    a GCN of torch_geometric normalises a diffusion matrix once more. A module with one argument (``nn.Linear``,
    ``nn.Sequential``) is called as ``module(x)``.

    Args:
        module: a convolution, a model or a ``Sequential`` of ``torch_geometric.nn``, or a module of your own.
        out_features: width of its output; by default what the module says (``out_channels``, times concatenated heads,
            or ``out_features``).

    Example:
        >>> import numpy as np
        >>> from torch_geometric.nn import SAGEConv
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)))
        >>> encoder = ModuleEncoder(SAGEConv(3, 4))
        >>> encoder.out_features, tuple(encoder([block])[0].shape)
        (4, (3, 4))
    """

    def __init__(self, module: nn.Module, out_features: int | None = None) -> None:
        super().__init__()
        self.module = module
        self.out_features = _declared_width(module) if out_features is None else out_features
        arguments = inspect.signature(module.forward).parameters
        self.takes_weights = "edge_weight" in arguments
        self.takes_edges = len(arguments) > 1 or any(each.kind is each.VAR_POSITIONAL for each in arguments.values())

    def forward(self, blocks: Sequence[Block], rows: Tensor | None = None) -> list[Tensor]:
        return [at_rows(self._encode(block), rows) for block in blocks]

    def _encode(self, block: Block) -> Tensor:
        x, adjacency = block.dense_features(), block.adjacency
        if not self.takes_edges:
            return self.module(x)  # type: ignore[no-any-return]
        edge_index = torch.stack([adjacency.indices.long(), adjacency.row_index])
        if adjacency.weights is not None and self.takes_weights:
            return self.module(x, edge_index, edge_weight=adjacency.weights)  # type: ignore[no-any-return]
        return self.module(x, edge_index)  # type: ignore[no-any-return]


def _declared_width(module: nn.Module) -> int:
    width = getattr(module, "out_channels", getattr(module, "out_features", None))
    if not isinstance(width, int):
        raise InputError(f"{type(module).__name__} does not say how wide its output is: pass out_features")
    heads = getattr(module, "heads", 1)
    return width * heads if getattr(module, "concat", False) and isinstance(heads, int) else width
