"""The reference side of methods.py: the methods with torch_geometric's own layers and the formulas as they are written.

Each function returns one epoch (views, losses, backward, optimiser step) of the same networks and settings as ours.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GCNConv
from torch_geometric.utils import dropout_edge

from imgcl.data import load_graph
from stock import StockGCN, gbt_loss, mask_columns

Epoch = Callable[[], None]


class StockLayers(nn.Module):
    """GCNConv layers, each followed by the given norm and activation."""

    def __init__(
        self, widths: list[int], norm: bool, activation: Callable[[], nn.Module], cached: bool = False
    ) -> None:
        super().__init__()
        pairs = list(pairwise(widths))
        self.convolutions = nn.ModuleList(GCNConv(a, b, cached=cached) for a, b in pairs)
        self.norms = nn.ModuleList(nn.BatchNorm1d(b) if norm else nn.Identity() for _, b in pairs)
        self.activations = nn.ModuleList(activation() for _ in pairs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for convolution, norm, activation in zip(self.convolutions, self.norms, self.activations, strict=True):
            x = activation(norm(convolution(x, edge_index)))
        return x


def view(x: Tensor, edge_index: Tensor, edge_drop: float, feature_mask: float) -> tuple[Tensor, Tensor]:
    return mask_columns(x, feature_mask), dropout_edge(edge_index, edge_drop, force_undirected=True)[0]


def epoch_of(parameters: list[nn.Parameter], loss: Callable[[], Tensor], after: Epoch | None = None) -> Epoch:
    optimiser = torch.optim.AdamW(parameters, lr=5e-4, weight_decay=1e-5)

    def epoch() -> None:
        optimiser.zero_grad(set_to_none=True)
        loss().backward()
        optimiser.step()
        if after is not None:
            after()

    return epoch


def gbt(graph: str) -> Epoch:
    data = load_graph(graph).to_pyg()
    encoder = StockGCN(data.num_features, 128)
    return epoch_of(list(encoder.parameters()), lambda: gbt_loss(encoder, data.x, data.edge_index, 0.4, 0.1))


def bgrl(graph: str) -> Epoch:
    data = load_graph(graph).to_pyg()
    widths = [data.num_features, 256, 128]
    online, target = StockLayers(widths, True, nn.PReLU), StockLayers(widths, True, nn.PReLU)
    predictor = nn.Sequential(nn.Linear(128, 512), nn.PReLU(), nn.Linear(512, 128))

    def loss() -> Tensor:
        first, second = view(data.x, data.edge_index, 0.5, 0.2), view(data.x, data.edge_index, 0.4, 0.1)
        q1, q2 = predictor(online(*first)), predictor(online(*second))
        with torch.no_grad():
            z1, z2 = target(*first), target(*second)
        return (
            2
            - functional.cosine_similarity(q1, z2, dim=-1).mean()
            - functional.cosine_similarity(q2, z1, dim=-1).mean()
        )

    def move_target() -> None:
        for mine, other in zip(target.parameters(), online.parameters(), strict=True):
            mine.data.mul_(0.99).add_(other.data, alpha=0.01)

    return epoch_of([*online.parameters(), *predictor.parameters()], loss, move_target)


def dgi(graph: str) -> Epoch:
    data = load_graph(graph).to_pyg()
    # The edges never change, so the layer may keep its normalisation, as ours does.
    encoder = StockLayers([data.num_features, 512], False, nn.PReLU, cached=True)
    weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(512, 512)))

    def loss() -> Tensor:
        positive = encoder(data.x, data.edge_index)
        negative = encoder(data.x[torch.randperm(data.num_nodes)], data.edge_index)
        summary = torch.sigmoid(positive.mean(dim=0))
        scores = torch.cat([positive @ (weight @ summary), negative @ (weight @ summary)])
        target = torch.cat([torch.ones(data.num_nodes), torch.zeros(data.num_nodes)])
        return functional.binary_cross_entropy_with_logits(scores, target)

    return epoch_of([*encoder.parameters(), weight], loss)


def grace(graph: str) -> Epoch:
    data = load_graph(graph).to_pyg()
    encoder = StockLayers([data.num_features, 256, 128], False, lambda: nn.LeakyReLU(0.23))
    projector = nn.Sequential(nn.Linear(128, 128), nn.ELU(), nn.Linear(128, 128))

    def loss() -> Tensor:
        u = projector(encoder(*view(data.x, data.edge_index, 0.6, 0.2)))
        v = projector(encoder(*view(data.x, data.edge_index, 0.3, 0.3)))
        return ((_semi_loss(u, v, 0.2) + _semi_loss(v, u, 0.2)) / 2).mean()

    return epoch_of([*encoder.parameters(), *projector.parameters()], loss)


def _semi_loss(u: Tensor, v: Tensor, tau: float) -> Tensor:
    """One direction of GRACE's loss with the two N x N matrices of its formula."""
    u, v = functional.normalize(u), functional.normalize(v)
    intra, inter = torch.exp(u @ u.T / tau), torch.exp(u @ v.T / tau)
    return -torch.log(inter.diag() / (intra.sum(dim=1) + inter.sum(dim=1) - intra.diag()))


REFERENCES: dict[str, Callable[[str], Epoch]] = {"gbt": gbt, "bgrl": bgrl, "dgi": dgi, "grace": grace}
