"""A trained encoder as a plain module on torch_geometric's layers, called as ``module(x, edge_index)``.

Weights are copied: the module shares nothing with the encoder, and may be trained further.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from imgcl._core.draws import lent_globally
from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl._core.sparse import ColumnStatistics
from imgcl.encoders.base import Encoder
from imgcl.encoders.finish import Finish
from imgcl.encoders.gat import GATLayer
from imgcl.encoders.gcn import GCNLayer
from imgcl.encoders.gin import GINLayer
from imgcl.encoders.layered import Convolution, LayeredEncoder
from imgcl.encoders.module import ModuleEncoder
from imgcl.encoders.sage import SAGELayer
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.views.diffusion import Diffusion

Branch = tuple[nn.Module, Diffusion | None]  # an encoder, and what it sees instead of the edges


class PyGEncoder(nn.Module):
    """What embeds nodes: features are scaled as in the training, then encoded.

    ``edge_index`` has every edge in both directions, once, and no self-loops, as ``Graph.to_pyg`` gives it. ``x`` is as
    in the graph, not normalised, with its columns in the order of the training graph.

    Args:
        branches: encoders whose outputs add up to the embedding.
        normalise: ``none``, ``row`` or ``column``, see :class:`imgcl.training.TrainingSettings`.
        statistics: what columns are standardised by.

    Example:
        >>> import numpy as np
        >>> from imgcl import Graph
        >>> from imgcl.encoders import GCN
        >>> graph, encoder = Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3)), GCN(3, [4])
        >>> data = graph.to_pyg()
        >>> z = PyGEncoder([(encoder, None)])(data.x, data.edge_index)
        >>> torch.allclose(z, encoder([Block.from_graph(graph)])[0], atol=1e-5)
        True
    """

    def __init__(
        self, branches: Sequence[Branch], normalise: str = "none", statistics: ColumnStatistics | None = None
    ) -> None:
        super().__init__()
        need("pyg", "to_pyg")
        self.scaling = FeatureScaling(normalise, statistics)
        self.diffusions = [diffusion for _, diffusion in branches]
        with lent_globally(torch.Generator()):  # torch_geometric draws weights, which are then replaced
            self.encoders = nn.ModuleList(_converted(encoder, seen is not None) for encoder, seen in branches)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Embeddings of all nodes."""
        scaled = self.scaling(x)
        parts: list[Tensor] = []
        for encoder, diffusion in zip(self.encoders, self.diffusions, strict=True):
            edges, weights = edge_index, edge_weight
            if diffusion is not None:
                edges, weights = diffused(diffusion, edge_index, edge_weight, len(x))
            parts.append(encoder(scaled, edges, weights))
        return parts[0] if len(parts) == 1 else torch.stack(parts).sum(dim=0)


class FeatureScaling(nn.Module):
    """Features as the training saw them: as they are, with rows that sum to one, or with standardised columns.

    Args:
        normalise: ``none``, ``row`` or ``column``.
        statistics: of the columns of the training graph.
    """

    mean: Tensor | None
    deviation: Tensor | None

    def __init__(self, normalise: str, statistics: ColumnStatistics | None) -> None:
        super().__init__()
        self.rows = normalise == "row"
        kept = statistics if normalise == "column" else None
        self.register_buffer("mean", None if kept is None else kept.mean.detach().clone())
        self.register_buffer("deviation", None if kept is None else kept.deviation.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        """Scale dense or sparse features."""
        dense = x if x.layout is torch.strided else x.to_dense()
        if self.rows:
            sums = dense.sum(dim=1, keepdim=True)
            return dense / torch.where(sums.abs() > 0, sums, torch.ones_like(sums))
        return dense if self.mean is None or self.deviation is None else (dense - self.mean) / self.deviation


class PyGLayers(nn.Module):
    """A :class:`~imgcl.encoders.LayeredEncoder` on torch_geometric's convolutions.

    Args:
        encoder: the encoder.
        diffused: its edges are a diffusion, which is used as it is.
    """

    def __init__(self, encoder: LayeredEncoder, diffused: bool) -> None:
        super().__init__()
        pairs = list(zip(encoder.layers, encoder.finishes, strict=True))
        self.convolutions = nn.ModuleList(_convolution(layer, finish, diffused) for layer, finish in pairs)  # type: ignore[arg-type]
        self.finishes = nn.ModuleList(_finish(finish) for finish in encoder.finishes)  # type: ignore[arg-type]
        self.shortcuts = nn.ParameterDict({key: each.detach().clone() for key, each in encoder.shortcuts.items()})
        self.dropout = nn.Dropout(encoder.dropout.p)
        self.residual, self.jumping = encoder.residual, encoder.jumping
        self.takes_weights = all(isinstance(layer, GCNLayer) for layer in encoder.layers)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """The rows of all nodes."""
        edges = (edge_index,) if edge_weight is None else (edge_index, self._checked(edge_weight))
        hidden, outputs = x, []
        for index, (convolution, finish) in enumerate(zip(self.convolutions, self.finishes, strict=True)):
            out = convolution(hidden, *edges)
            if index and self.residual:
                key = str(index)
                out = out + (hidden @ self.shortcuts[key] if key in self.shortcuts else hidden)
            outputs.append(finish(out))
            hidden = self.dropout(outputs[-1])
        return torch.cat(outputs, dim=1) if self.jumping == "cat" else outputs[-1]

    def _checked(self, edge_weight: Tensor) -> Tensor:
        if not self.takes_weights:
            raise InputError(
                "torch_geometric's layers of this encoder take no edge weights, and without them the rows are not "
                "those of transform: train with encoder='gcn', or on the graph without weights"
            )
        return edge_weight


def diffused(
    diffusion: Diffusion, edge_index: Tensor, edge_weight: Tensor | None, n_nodes: int
) -> tuple[Tensor, Tensor]:
    """The edges of a diffusion and their weights; computed on the CPU, by this package."""
    edges, weights = edge_index.cpu().numpy(), None if edge_weight is None else edge_weight.detach().cpu().numpy()
    block = Block.from_graph(Graph.from_edges(edges, edge_weight=weights, n_nodes=n_nodes))
    adjacency = diffusion(block, torch.Generator()).adjacency
    assert adjacency.weights is not None
    found = torch.stack([adjacency.indices.long(), adjacency.row_index])
    return found.to(edge_index.device), adjacency.weights.to(edge_index.device)


def _converted(encoder: nn.Module, is_diffused: bool) -> nn.Module:
    if isinstance(encoder, ModuleEncoder):
        return _OwnModule(encoder)
    if not isinstance(encoder, LayeredEncoder) or not isinstance(encoder, Encoder):
        raise InputError(f"{type(encoder).__name__} cannot be written with torch_geometric's layers (to_pyg)")
    return PyGLayers(encoder, is_diffused)


class _OwnModule(nn.Module):
    """A user's module, called as in the training.

    Args:
        encoder: that calls it.
    """

    def __init__(self, encoder: ModuleEncoder) -> None:
        super().__init__()
        self.module = copy.deepcopy(encoder.module)
        self.takes_edges, self.takes_weights = encoder.takes_edges, encoder.takes_weights

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        if not self.takes_edges:
            return self.module(x)  # type: ignore[no-any-return]
        if edge_weight is None or not self.takes_weights:
            return self.module(x, edge_index)  # type: ignore[no-any-return]
        return self.module(x, edge_index, edge_weight=edge_weight)  # type: ignore[no-any-return]


def _convolution(layer: Convolution, finish: Finish, is_diffused: bool) -> nn.Module:
    convert = _CONVERSIONS.get(type(layer))
    if convert is None:
        raise InputError(f"{type(layer).__name__} is not a layer that torch_geometric has (to_pyg)")
    if is_diffused and not isinstance(layer, GCNLayer):
        raise InputError(
            "torch_geometric's layers of this encoder take no edge weights, which a diffusion has: to_pyg needs "
            "encoder='gcn' here"
        )
    made, values = convert(layer, finish.bias)
    if is_diffused:
        made.normalize = made.add_self_loops = False
    made.load_state_dict({name: value.detach().clone() for name, value in values.items()}, strict=True)
    return made  # type: ignore[no-any-return]


Made = tuple[Any, Mapping[str, Tensor]]  # a convolution of torch_geometric, and its weights


def _gcn(layer: GCNLayer, bias: Tensor) -> Made:
    from torch_geometric.nn import GCNConv

    return GCNConv(*layer.weight.shape), {"lin.weight": layer.weight.T, "bias": bias}


def _sage(layer: SAGELayer, bias: Tensor) -> Made:
    from torch_geometric.nn import SAGEConv

    weights = {"lin_l.weight": layer.neighbour_weight.T, "lin_l.bias": bias, "lin_r.weight": layer.own_weight.T}
    return SAGEConv(*layer.neighbour_weight.shape, aggr="mean"), weights


def _gin(layer: GINLayer, bias: Tensor) -> Made:
    from torch_geometric.nn import GINConv

    wide, narrow = layer.weight.shape
    network = nn.Sequential(nn.Linear(wide, narrow), nn.ReLU(), nn.Linear(narrow, narrow))
    first, last = {"0.weight": layer.weight.T, "0.bias": layer.bias}, {"2.weight": layer.out_weight.T, "2.bias": bias}
    learnt = isinstance(layer.eps, Tensor)
    weights = {f"nn.{name}": value for name, value in {**first, **last}.items()}
    return GINConv(network, train_eps=learnt), {**weights, "eps": torch.as_tensor(layer.eps).reshape(1)}


def _gat(layer: GATLayer, bias: Tensor) -> Made:
    from torch_geometric.nn import GATConv

    wide, narrow = layer.weight.shape
    made = GATConv(wide, narrow // layer.heads, heads=layer.heads, negative_slope=layer.slope)
    scores = {"att_src": layer.source[None], "att_dst": layer.target[None]}
    return made, {"lin.weight": layer.weight.T, "bias": bias, **scores}


_CONVERSIONS: dict[type[nn.Module], Callable[[Any, Tensor], Made]] = {
    GCNLayer: _gcn,
    SAGELayer: _sage,
    GINLayer: _gin,
    GATLayer: _gat,
}


def _finish(finish: Finish) -> nn.Module:
    """Norm and activation; the bias is part of the convolution."""
    activation: nn.Module = copy.deepcopy(finish.activation)
    if isinstance(activation, nn.PReLU):
        plain = nn.PReLU(activation.num_parameters)
        plain.load_state_dict(activation.state_dict())
        activation = plain
    norm = copy.deepcopy(finish.norm)
    return nn.Sequential(norm, activation) if finish.norm_first else nn.Sequential(activation, norm)
