"""torch_geometric's NeighborLoader over the balanced selection of every epoch.

The selector says which nodes an epoch contrasts, the loader cuts them into batches with sampled neighbours. The
loader's own sampler needs pyg-lib or torch-sparse, which are compiled; imgcl's sampler takes its place here, and
nothing needs to be compiled. With one of the two installed, leave ``neighbor_sampler=`` out.
python examples/neighbor_loader.py
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import SAGEConv
from torch_geometric.sampler import BaseSampler, NodeSamplerInput, SamplerOutput
from torch_geometric.utils import dropout_edge

import imgcl
from imgcl.balance import BalancedSelector
from imgcl.losses import barlow_twins
from imgcl.training.sampling import NeighbourSampler

FANOUT = [10, 10]


class Sampler(BaseSampler):
    """imgcl's neighbour sampler as torch_geometric calls one."""

    def __init__(self, graph: imgcl.Graph, fanout: list[int]) -> None:
        self.sampler, self.fanout, self.step = NeighbourSampler(graph), fanout, 0

    def sample_from_nodes(self, index: NodeSamplerInput) -> SamplerOutput:
        self.step += 1  # the seed: other neighbours in every batch
        found = self.sampler.sample(index.node.numpy(), self.fanout, seed=self.step)
        target = np.repeat(np.arange(len(found.nodes)), np.diff(found.indptr))
        node, row, col = (torch.from_numpy(each.astype(np.int64)) for each in (found.nodes, found.indices, target))
        return SamplerOutput(node, row, col, edge=None, metadata=(index.input_id, index.time))

    def sample_from_edges(self, index: object, neg_sampling: object = None) -> SamplerOutput:
        raise NotImplementedError("this loader begins at nodes")


class Encoder(nn.Module):
    """Two layers of GraphSAGE."""

    def __init__(self, features: int, dim: int = 32) -> None:
        super().__init__()
        self.first, self.second = SAGEConv(features, dim), SAGEConv(dim, dim)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


def main(epochs: int = 16) -> BalancedSelector:
    torch.manual_seed(0)
    graph = imgcl.load_graph("digits")
    keep = np.concatenate([np.flatnonzero(graph.y == digit)[: round(170 * 0.75**digit)] for digit in range(10)])
    graph = graph.subgraph(keep)
    data, sampler = graph.to_pyg(), Sampler(graph, FANOUT)
    encoder = Encoder(data.num_features)
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=2e-3)
    selector = BalancedSelector(graph, n_clusters=10, epochs=epochs, fraction=0.2, resample_every=1, diagnose=graph.y)

    for epoch in range(epochs):
        rows = selector(epoch, embed=lambda: encoder(data.x, data.edge_index).detach())
        loader = NeighborLoader(  # the last batch may be a single row, which cannot be contrasted
            data, FANOUT, rows, neighbor_sampler=sampler, batch_size=32, shuffle=True, drop_last=True
        )
        for batch in loader:  # its first batch_size rows are the anchors
            views = []
            for _ in range(2):
                edges, _ = dropout_edge(batch.edge_index, p=0.3)
                mask = torch.rand(data.num_features) > 0.2
                views.append(encoder(batch.x * mask, edges)[: batch.batch_size])
            loss = barlow_twins(*views)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        print(f"epoch {epoch:2d}  {len(rows)} rows in {len(loader)} batches  loss {float(loss.detach()):.2f}")
    return selector


if __name__ == "__main__":
    main()
