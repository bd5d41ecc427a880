"""The reference side of methods.py: the methods as their formulas are written, on one of the ways of references.py.

Each function returns one epoch (views, losses, backward, optimiser step) of the same networks and settings as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import dropout_edge

from imgcl.data import load_graph
from imgcl.graph import Graph
from imgcl.graph.block import Block
from imgcl.views import PPRDiffusion
from references import Given, Way

Epoch = Callable[[], None]


class Layers(nn.Module):
    """GCN layers, each followed by a norm and an activation; after the last one there may be none."""

    def __init__(
        self, way: Way, widths: Sequence[int], norm: bool, activation: Callable[[], nn.Module], bare: bool = False
    ) -> None:
        super().__init__()
        pairs = list(pairwise(widths))
        self.convolutions = nn.ModuleList(way.gcn(a, b) for a, b in pairs)
        finish = [nn.Sequential(*([nn.BatchNorm1d(b)] if norm else []), activation()) for _, b in pairs]
        self.finish = nn.ModuleList([*finish[:-1], nn.Identity() if bare else finish[-1]])

    def forward(self, x: Tensor, graph: Given) -> Tensor:
        for convolution, finish in zip(self.convolutions, self.finish, strict=True):
            x = finish(convolution(x, *graph))
        return x


def pyg_data(graph: Graph) -> Any:
    """The graph as torch_geometric's loaders give it: with dense features."""
    data = graph.to_pyg()
    data.x = data.x.to_dense() if data.x.layout != torch.strided else data.x
    return data


def mask_columns(x: Tensor, p: float) -> Tensor:
    return x * (torch.rand(x.shape[1]) >= p).to(x.dtype)


def view(way: Way, data: Any, edge_drop: float, feature_mask: float) -> tuple[Tensor, Given]:
    edges = dropout_edge(data.edge_index, edge_drop, force_undirected=True)[0]
    return mask_columns(data.x, feature_mask), way.normalised(edges, data.num_nodes)


def epoch_of(parameters: list[nn.Parameter], loss: Callable[[], Tensor], after: Epoch | None = None) -> Epoch:
    optimiser = torch.optim.AdamW(parameters, lr=5e-4, weight_decay=1e-5)

    def epoch() -> None:
        optimiser.zero_grad(set_to_none=True)
        loss().backward()
        optimiser.step()
        if after is not None:
            after()

    return epoch


def gbt(way: Way, graph: str) -> Epoch:
    encoder, loss = gbt_network(way, pyg_data(load_graph(graph)))
    return epoch_of(list(encoder.parameters()), loss)


def gbt_network(way: Way, data: Any) -> tuple[Layers, Callable[[], Tensor]]:
    """The encoder, and the loss of two new views."""
    encoder = Layers(way, [data.num_features, 256, 128], True, nn.PReLU, bare=True)

    def loss() -> Tensor:
        u, v = (encoder(*view(way, data, 0.4, 0.1)) for _ in range(2))
        return _barlow_twins(u, v)

    return encoder, loss


def _barlow_twins(u: Tensor, v: Tensor, eps: float = 1e-15) -> Tensor:
    """The formula as GBT's repository writes it."""
    a, b = ((z - z.mean(dim=0)) / (z.std(dim=0) + eps) for z in (u, v))
    correlation = a.T @ b / len(u)
    off_diagonal = ~torch.eye(u.shape[1], dtype=torch.bool)
    return (1 - correlation.diagonal()).square().sum() + correlation[off_diagonal].square().sum() / u.shape[1]


def bgrl(way: Way, graph: str) -> Epoch:
    data = pyg_data(load_graph(graph))
    widths = [data.num_features, 256, 128]
    online, target = (Layers(way, widths, True, nn.PReLU) for _ in range(2))
    predictor = nn.Sequential(nn.Linear(128, 512), nn.PReLU(), nn.Linear(512, 128))

    def loss() -> Tensor:
        first, second = view(way, data, 0.5, 0.2), view(way, data, 0.4, 0.1)
        q1, q2 = predictor(online(*first)), predictor(online(*second))
        with torch.no_grad():
            z1, z2 = target(*first), target(*second)
        pairs = ((q1, z2), (q2, z1))
        return 2 - sum(functional.cosine_similarity(q, z, dim=-1).mean() for q, z in pairs)

    def move_target() -> None:
        for mine, other in zip(target.parameters(), online.parameters(), strict=True):
            mine.data.mul_(0.99).add_(other.data, alpha=0.01)

    return epoch_of([*online.parameters(), *predictor.parameters()], loss, move_target)


def dgi(way: Way, graph: str) -> Epoch:
    data = pyg_data(load_graph(graph))
    encoder = Layers(way, [data.num_features, 512], False, nn.PReLU)
    matrix = way.normalised(data.edge_index, data.num_nodes)  # once: the edges never change
    weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(512, 512)))

    def loss() -> Tensor:
        positive, negative = encoder(data.x, matrix), encoder(_shuffled(data.x), matrix)
        score = weight @ torch.sigmoid(positive.mean(dim=0))
        return _bce(positive @ score, negative @ score)

    return epoch_of([*encoder.parameters(), weight], loss)


def mvgrl(way: Way, graph: str) -> Epoch:
    loaded = load_graph(graph)
    data, widths = pyg_data(loaded), [loaded.n_features, 512]
    near, far = (Layers(way, widths, False, nn.PReLU) for _ in range(2))
    weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(512, 512)))
    graphs = way.normalised(data.edge_index, data.num_nodes), way.weighted(_diffusion(loaded))

    def loss() -> Tensor:
        shuffled = _shuffled(data.x)
        positive = [encoder(data.x, each) for encoder, each in zip((near, far), graphs, strict=True)]
        negative = [encoder(shuffled, each) for encoder, each in zip((near, far), graphs, strict=True)]
        scores = [weight @ torch.sigmoid(rows.mean(dim=0)) for rows in reversed(positive)]
        rows = [torch.cat([a @ s for a, s in zip(each, scores, strict=True)]) for each in (positive, negative)]
        return _bce(*rows)

    return epoch_of([*near.parameters(), *far.parameters(), weight], loss)


def infograph(way: Way, graph: str) -> Epoch:
    data = pyg_data(load_graph(graph))
    widths = [data.num_features, *[32] * 5]
    layers = nn.ModuleList(
        way.gin(nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, b))) for a, b in pairwise(widths)
    )
    norms = nn.ModuleList(nn.BatchNorm1d(32) for _ in layers)
    nets = nn.ModuleList(_feed_forward(160) for _ in range(2))
    matrix = way.adjacency(data.edge_index, data.num_nodes)

    def encode(x: Tensor) -> Tensor:
        parts = []
        for layer, norm in zip(layers, norms, strict=True):
            x = norm(torch.relu(layer(x, *matrix)))
            parts.append(x)
        return torch.cat(parts, dim=1)

    def loss() -> Tensor:
        positive, negative = encode(data.x), encode(_shuffled(data.x))
        whole = nets[1](positive.mean(dim=0))
        good, bad = nets[0](positive) @ whole, nets[0](negative) @ whole
        return functional.softplus(-good).mean() + functional.softplus(bad).mean()

    return epoch_of([*layers.parameters(), *norms.parameters(), *nets.parameters()], loss)


def grace(way: Way, graph: str) -> Epoch:
    data = pyg_data(load_graph(graph))
    encoder = Layers(way, [data.num_features, 256, 128], False, lambda: nn.LeakyReLU(0.23))
    projector = nn.Sequential(nn.Linear(128, 128), nn.ELU(), nn.Linear(128, 128))

    def loss() -> Tensor:
        u, v = (projector(encoder(*view(way, data, *rates))) for rates in ((0.6, 0.2), (0.3, 0.3)))
        return ((_semi_loss(u, v, 0.2) + _semi_loss(v, u, 0.2)) / 2).mean()

    return epoch_of([*encoder.parameters(), *projector.parameters()], loss)


def _semi_loss(u: Tensor, v: Tensor, tau: float) -> Tensor:
    """One direction of GRACE's loss with the two N x N matrices of its formula."""
    u, v = functional.normalize(u), functional.normalize(v)
    intra, inter = torch.exp(u @ u.T / tau), torch.exp(u @ v.T / tau)
    return -torch.log(inter.diag() / (intra.sum(dim=1) + inter.sum(dim=1) - intra.diag()))


def _shuffled(x: Tensor) -> Tensor:
    return x[torch.randperm(len(x))]


def _bce(positive: Tensor, negative: Tensor) -> Tensor:
    scores, target = torch.cat([positive, negative]), torch.cat([torch.ones_like(positive), torch.zeros_like(negative)])
    return functional.binary_cross_entropy_with_logits(scores, target)


def _feed_forward(width: int) -> nn.Module:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(*(m for _ in range(3) for m in (nn.Linear(width, width), nn.ReLU())))
            self.shortcut = nn.Linear(width, width)

        def forward(self, rows: Tensor) -> Tensor:
            return self.layers(rows) + self.shortcut(rows)

    return Net()


def _diffusion(graph: Graph) -> Tensor:
    """The sparse PPR diffusion that our MVGRL propagates with, as torch's CSR.

    With the k largest entries of each row it is not quite symmetric; ``symmetric`` is measured on it all the same.
    """
    found = PPRDiffusion(0.2, 1e-4, 64)(Block.from_graph(graph), torch.Generator()).adjacency
    size = (graph.n_nodes, graph.n_nodes)
    return torch.sparse_csr_tensor(found.indptr, found.indices.long(), found.weights, size)


REFERENCES: dict[str, Callable[[Way, str], Epoch]] = {
    "gbt": gbt,
    "bgrl": bgrl,
    "dgi": dgi,
    "grace": grace,
    "mvgrl": mvgrl,
    "infograph": infograph,
}
