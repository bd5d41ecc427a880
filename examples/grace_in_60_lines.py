"""GRACE with balanced selection in 60 lines, on torch_geometric: python examples/grace_in_60_lines.py."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.nn import GCNConv
from torch_geometric.utils import dropout_edge

import imgcl
from imgcl.balance import BalancedSelector


class Encoder(nn.Module):
    """Two graph convolutions."""

    def __init__(self, features: int, dim: int = 64) -> None:
        super().__init__()
        self.first, self.second = GCNConv(features, 2 * dim), GCNConv(2 * dim, dim)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


def info_nce(u: Tensor, v: Tensor, tau: float = 0.5) -> Tensor:
    u, v = normalize(u), normalize(v)
    same, other = torch.exp(u @ u.T / tau), torch.exp(u @ v.T / tau)
    return -torch.log(other.diag() / (same.sum(1) + other.sum(1) - same.diag())).mean()


def main(epochs: int = 40) -> BalancedSelector:
    torch.manual_seed(0)
    graph = imgcl.load_graph("digits")
    keep = np.concatenate([np.flatnonzero(graph.y == digit)[: round(170 * 0.75**digit)] for digit in range(10)])
    data = graph.subgraph(keep).to_pyg()
    encoder, projector = Encoder(data.num_features), nn.Sequential(nn.Linear(64, 64), nn.ELU(), nn.Linear(64, 64))
    optimiser = torch.optim.Adam([*encoder.parameters(), *projector.parameters()], lr=1e-3)
    selector = BalancedSelector(data, n_clusters=10, epochs=epochs, diagnose=data.y)

    def view() -> Tensor:
        kept, _ = dropout_edge(data.edge_index, p=0.3)
        return projector(encoder(data.x * (torch.rand(data.num_features) > 0.2), kept))

    for epoch in range(epochs):
        rows = selector(epoch, embed=lambda: encoder(data.x, data.edge_index))
        u, v = view()[rows], view()[rows]
        loss = (info_nce(u, v) + info_nce(v, u)) / 2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    last = selector.history[-1]
    print(f"loss {float(loss.detach()):.3f}, agreement of pseudo-labels with the digits (ARI) {last['ari']:.2f}")
    print("share of each digit in the last selection:", [round(share, 2) for share in last["true_drawn"] or []])
    return selector


if __name__ == "__main__":
    main()
