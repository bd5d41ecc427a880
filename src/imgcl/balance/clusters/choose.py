"""How many clusters: the fewest whose labelling agrees with the edges almost as well as the best one does."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from imgcl._core import seeding
from imgcl._core.errors import InputError
from imgcl.balance.clusters.assignment import assign
from imgcl.balance.clusters.communities import modularity
from imgcl.balance.clusters.kmeans import kmeans
from imgcl.balance.clusters.lloyd import centroid_costs, row_norms
from imgcl.balance.clusters.points import Points
from imgcl.graph import Graph

MOST = 30
ALMOST = 0.965  # of the best; chosen once, on digits, Cora, Photo and Computers
PATIENCE = 10  # candidates without a better rating after which larger ones are not tried
STARTS = 4
FIT_ROWS = 1 << 15  # rows the centroids are fitted on; all rows are labelled
LARGE = 1 << 18  # nodes above which some edges judge for all
JUDGES = 1 << 17  # that many: a share of them is off by 0.001


def choose_n_clusters(points: Points, graph: Graph, *, min_fraction: float = 0.1, seed: int = 0) -> int:
    """Number of clusters for ``n_clusters="auto"`` (a choice of this project).

    For K = 2, 3, ... 30 the rows, scaled to length one, are clustered by constrained k-means, and the labelling is
    rated by its modularity: the share of edges inside clusters, less what that share would be if edges fell at
    random (mean of four starts, or the mean with the neighbouring K where that is lower). Modularity rises steeply
    until the clusters are found and is flat after that, so the answer is the smallest K that reaches 96.5 % of the
    best. Classes that edges do not separate are not found in this way, and a class of several communities counts as
    several. On a graph with more than 262,144 nodes 131,072 random edges and their ends stand for all.

    Over three embeddings and three seeds it gives 9 or 10 for the ten digits, 8 to 10 for Cora (7 classes), 7 to 10
    for Photo (8) and 7 or 8 for Computers (10), but 10 to 13 for CiteSeer (6) and 9 or 10 for DBLP (4).

    Args:
        points: embeddings or features, one row per node.
        graph: the graph whose edges judge.
        min_fraction: least cluster size, as a fraction of N/K.
        seed: seed of the clusterings.
    """
    if graph.n_edges == 0:
        raise InputError("n_clusters='auto' judges by edges, and this graph has none: give the number of clusters")
    if graph.n_nodes > LARGE:
        points, graph = _some_edges(points, graph, seeding.generator(seed, "judges"))
    rows = _unit_rows(points)
    n = rows.shape[0]
    if n < 3:
        return 1
    sample = rows[np.sort(seeding.generator(seed, "auto").permutation(n)[:FIT_ROWS])]
    found: list[float] = []
    for k in range(2, min(MOST, n - 1) + 1):
        ratings = []
        for start in range(STARTS):
            least = max(1, int(min_fraction * sample.shape[0] / k))
            stream = seeding.derive(seed, "auto", k, start)
            fit = kmeans(sample, k, min_size=least, max_iterations=20, tolerance=1e-3, seed=stream)
            least = max(1, int(min_fraction * n / k))
            labels = fit.labels if sample.shape[0] == n else assign(centroid_costs(rows, fit.centroids), least)
            ratings.append(modularity(graph, labels, k))
        found.append(float(np.mean(ratings)))
        if len(found) - int(np.argmax(found)) > PATIENCE:
            break
    rating = np.minimum(found, _smooth(np.array(found)))  # a K must be good itself and not by accident
    return 2 + int((rating >= ALMOST * rating.max()).argmax())


def _smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each value averaged with its neighbours, which count half."""
    weights = np.convolve(np.ones_like(values), [0.25, 0.5, 0.25])[1:-1]
    return np.asarray(np.convolve(values, [0.25, 0.5, 0.25])[1:-1] / weights)


def _some_edges(points: Points, graph: Graph, generator: np.random.Generator) -> tuple[Points, Graph]:
    """The graph of random edges, whose modularity estimates that of all, and the rows of their ends."""
    entries = generator.integers(len(graph.indices), size=JUDGES)
    pairs = np.stack([np.searchsorted(graph.indptr, entries, side="right") - 1, graph.indices[entries]])
    nodes, ends = np.unique(pairs, return_inverse=True)
    return points[nodes], Graph.from_edges(ends.reshape(2, -1), np.zeros((len(nodes), 1), np.float32))


def _unit_rows(points: Points) -> Points:
    lengths = np.sqrt(row_norms(points))
    scale = 1.0 / np.where(lengths > 0, lengths, 1.0)
    if isinstance(points, sp.csr_array):
        return sp.csr_array(sp.diags_array(scale) @ points)
    return (points * scale[:, None]).astype(np.float32)
