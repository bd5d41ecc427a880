"""DGI with plain torch_geometric; the balanced selection is three lines of it.

python examples/dgi_torch_geometric.py
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch_geometric.nn import DeepGraphInfomax, GCNConv

import imgcl
from imgcl.balance import BalancedSelector


class Encoder(torch.nn.Module):
    """One graph convolution, as in DGI."""

    def __init__(self, features: int, dim: int = 64) -> None:
        super().__init__()
        self.convolution, self.activation = GCNConv(features, dim), torch.nn.PReLU()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.activation(self.convolution(x, edge_index))


def corruption(x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
    return x[torch.randperm(len(x))], edge_index


def main(epochs: int = 40) -> BalancedSelector:
    torch.manual_seed(0)
    graph = imgcl.load_graph("digits")
    # a long-tailed version of the digits: 170 zeros, 128 ones, ... 13 nines
    keep = np.concatenate([np.flatnonzero(graph.y == digit)[: round(170 * 0.75**digit)] for digit in range(10)])
    data = graph.subgraph(keep).to_pyg()
    model = DeepGraphInfomax(
        64, Encoder(data.num_features), summary=lambda z, *_, **__: torch.sigmoid(z.mean(dim=0)), corruption=corruption
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)

    def embed() -> Tensor:
        with torch.no_grad():
            return model.encoder(data.x, data.edge_index)

    selector = BalancedSelector(data, n_clusters=10, epochs=epochs, diagnose=data.y)  # line 1
    for epoch in range(epochs):
        real, fake, _ = model(data.x, data.edge_index)
        rows = selector(epoch, embed=embed)  # line 2
        real, fake = real[rows], fake[rows]  # line 3
        loss = model.loss(real, fake, torch.sigmoid(real.mean(dim=0)))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    for entry in (selector.history[0], selector.history[-1]):
        shares = " ".join(f"{share:.2f}" for share in entry["drawn"])
        print(f"epoch {entry['epoch']:3d}  alpha {entry['alpha']:.2f}  share of each pseudo-class drawn: {shares}")
    print(f"loss {float(loss.detach()):.3f}")
    return selector


if __name__ == "__main__":
    main()
