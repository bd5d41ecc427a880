"""How somebody else would multiply by the graph: three ways, from the usual to the careful.

- ``stock``: torch_geometric's layers on ``edge_index``, gather and scatter.
- ``csr``: the same layers on a CSR adjacency (``to_torch_csr_tensor``), normalised once per view; needs no extras.
- ``symmetric``: that adjacency with a backward of one's own: S is symmetric, so the gradient is another product by S.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GINConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_edge_index, to_torch_csr_tensor

Given = tuple[Any, ...]
"""What a layer takes behind ``x``."""


class SymmetricProduct(torch.autograd.Function):
    """``S x`` for a symmetric sparse S: the backward is another such product, without a transpose."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, x: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix @ gradient


class SymmetricGCN(nn.Module):
    """A GCN layer on a normalised CSR adjacency."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.linear = nn.Linear(a, b, bias=False)
        self.bias = nn.Parameter(torch.zeros(b))

    def forward(self, x: Tensor, matrix: Tensor) -> Tensor:
        return SymmetricProduct.apply(matrix, self.linear(x)) + self.bias


class SymmetricGIN(nn.Module):
    """A GIN layer on a CSR adjacency."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, matrix: Tensor) -> Tensor:
        return self.network(x + SymmetricProduct.apply(matrix, x))


@dataclass(frozen=True)
class Way:
    """A way to multiply by the graph.

    Attributes:
        gcn: a GCN layer by its widths, for a matrix that is normalised already where ``normalised`` makes one.
        gin: a GIN layer around a network.
        normalised: what a GCN layer takes, from edges and the number of nodes.
        adjacency: what a GIN layer takes.
        weighted: what a GCN layer takes for a CSR matrix that is propagated as it is.
    """

    gcn: Callable[[int, int], nn.Module]
    gin: Callable[[nn.Module], nn.Module]
    normalised: Callable[[Tensor, int], Given]
    adjacency: Callable[[Tensor, int], Given]
    weighted: Callable[[Tensor], Given]


def _edges(edge_index: Tensor, n_nodes: int) -> Given:
    return gcn_norm(edge_index, num_nodes=n_nodes)


def _normalised(edge_index: Tensor, n_nodes: int) -> Given:
    """S = D^-1/2 (A + I) D^-1/2 as torch's CSR."""
    edges, weight = gcn_norm(edge_index, num_nodes=n_nodes)
    return (to_torch_csr_tensor(edges, weight, (n_nodes, n_nodes)),)


def _adjacency(edge_index: Tensor, n_nodes: int) -> Given:
    return (to_torch_csr_tensor(edge_index, size=(n_nodes, n_nodes)),)


def _gcn(a: int, b: int) -> nn.Module:
    return GCNConv(a, b, normalize=False)


WAYS: dict[str, Way] = {
    "stock": Way(_gcn, GINConv, _edges, lambda edges, _: (edges,), to_edge_index),
    "csr": Way(_gcn, GINConv, _normalised, _adjacency, lambda matrix: (matrix,)),
    "symmetric": Way(SymmetricGCN, SymmetricGIN, _normalised, _adjacency, lambda matrix: (matrix,)),
}
