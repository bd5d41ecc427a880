"""The reference side: GBT written with torch_geometric's own layers, doing the same work."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import dropout_edge


class StockGCN(nn.Module):
    """GCNConv - BatchNorm - PReLU - GCNConv, as in the method's own repository."""

    def __init__(self, n_features: int, dim: int) -> None:
        super().__init__()
        self.conv1 = GCNConv(n_features, 2 * dim)
        self.norm = nn.BatchNorm1d(2 * dim, momentum=0.01)
        self.activation = nn.PReLU()
        self.conv2 = GCNConv(2 * dim, dim)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv2(self.activation(self.norm(self.conv1(x, edge_index))), edge_index)


def mask_columns(x: Tensor, p: float) -> Tensor:
    return x * (torch.rand(x.shape[1]) >= p).to(x.dtype)


def gbt_loss(encoder: nn.Module, x: Tensor, edge_index: Tensor, edge_drop: float, feature_mask: float) -> Tensor:
    u, v = (
        encoder(mask_columns(x, feature_mask), dropout_edge(edge_index, edge_drop, force_undirected=True)[0])
        for _ in range(2)
    )
    return _barlow_twins(u, v)


def _barlow_twins(u: Tensor, v: Tensor, eps: float = 1e-15) -> Tensor:
    """The formula as GBT's repository writes it."""
    a, b = ((z - z.mean(dim=0)) / (z.std(dim=0) + eps) for z in (u, v))
    correlation = a.T @ b / len(u)
    off_diagonal = ~torch.eye(u.shape[1], dtype=torch.bool)
    return (1 - correlation.diagonal()).square().sum() + correlation[off_diagonal].square().sum() / u.shape[1]
