"""Mini-batches: the balanced selection of an epoch is cut into batches, each with its own neighbourhood.

Message passing sees the two-hop neighbourhood of a batch only, and the draw is fresh in every epoch (resample_every=1)
while pseudo-labels are made eight times. python examples/mini_batches.py
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import dropout_edge, k_hop_subgraph

import imgcl
from imgcl.balance import BalancedSelector

BATCH = 32


class Encoder(nn.Module):
    """Two layers of GraphSAGE."""

    def __init__(self, features: int, dim: int = 32) -> None:
        super().__init__()
        self.first, self.second = SAGEConv(features, dim), SAGEConv(dim, dim)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


def barlow_twins(u: Tensor, v: Tensor) -> Tensor:
    u, v = (u - u.mean(0)) / (u.std(0) + 1e-6), (v - v.mean(0)) / (v.std(0) + 1e-6)
    correlation = u.T @ v / len(u)
    on_diagonal = (1 - correlation.diag()).square().sum()
    return on_diagonal + (correlation.square().sum() - correlation.diag().square().sum()) / u.shape[1]


def main(epochs: int = 16) -> BalancedSelector:
    torch.manual_seed(0)
    graph = imgcl.load_graph("digits")
    keep = np.concatenate([np.flatnonzero(graph.y == digit)[: round(170 * 0.75**digit)] for digit in range(10)])
    data = graph.subgraph(keep).to_pyg()
    encoder = Encoder(data.num_features)
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=2e-3)
    selector = BalancedSelector(data, n_clusters=10, epochs=epochs, fraction=0.2, resample_every=1, diagnose=data.y)

    def embed() -> Tensor:
        with torch.no_grad():
            return encoder(data.x, data.edge_index)

    for epoch in range(epochs):
        rows = selector(epoch, embed=embed)
        for batch in rows[torch.randperm(len(rows))].tensor_split(len(rows) // BATCH):
            nodes, edges, position, _ = k_hop_subgraph(
                batch, 2, data.edge_index, relabel_nodes=True, num_nodes=data.num_nodes
            )
            views = []
            for _ in range(2):
                kept, _ = dropout_edge(edges, p=0.3)
                views.append(encoder(data.x[nodes] * (torch.rand(data.num_features) > 0.2), kept)[position])
            loss = barlow_twins(*views)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        print(f"epoch {epoch:2d}  {len(rows)} rows in batches of about {BATCH}  loss {float(loss.detach()):.2f}")
    return selector


if __name__ == "__main__":
    main()
