"""PageRank on 2.3 million undirected edges: ours against the same power iteration written with scipy.

python benchmarks/pagerank.py [--json]
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from common import arguments, interleaved, peak_mb, show
from imgcl.balance.centrality import pagerank
from imgcl.graph import Graph

NODES, EDGES = 170_000, 2_300_000


def make_graph() -> Graph:
    """A random graph whose degrees have a heavy tail, as web and co-purchase graphs do."""
    generator = np.random.default_rng(0)
    reach = np.cumsum(generator.pareto(2.0, NODES) + 1)
    edges = np.searchsorted(reach, generator.random((2, round(1.03 * EDGES))) * reach[-1])
    edges = np.unique(np.sort(edges[:, edges[0] != edges[1]], axis=0), axis=1)
    edges = edges[:, generator.permutation(edges.shape[1])[:EDGES]]
    return Graph.from_edges(edges, x=np.zeros((NODES, 1), dtype=np.float32))


def scipy_pagerank(adjacency: sp.csr_array, damping: float = 0.85, tolerance: float = 1e-10) -> np.ndarray:
    degree = np.maximum(np.diff(adjacency.indptr), 1)
    sigma = np.ones(adjacency.shape[0])
    while True:
        before, sigma = sigma, damping * (adjacency @ (sigma / degree)) + 1.0
        if np.abs(sigma - before).sum() <= tolerance * sigma.sum():
            return sigma


def run_ours() -> None:
    pagerank(make_graph())


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    graph = make_graph()
    adjacency = graph.adjacency.astype(np.float64)
    difference = np.abs(pagerank(graph) / scipy_pagerank(adjacency) - 1).max()
    seconds = interleaved(
        {"ours": lambda: pagerank(graph), "reference": lambda: scipy_pagerank(adjacency)}, options.repeats, warm_up=1
    )
    show(
        "pagerank",
        {
            "ours_s": seconds["ours"],
            "reference_s": seconds["reference"],
            "ratio": seconds["reference"] / seconds["ours"],
            "peak_mb": peak_mb(run_ours),
            "edges": graph.n_edges,
            "largest_relative_difference": float(difference),
        },
        options.json,
    )


if __name__ == "__main__":
    main()
