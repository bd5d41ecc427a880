"""How many clusters: the fewest whose labelling agrees with the edges almost as well as the best one does."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from imgcl import seeding
from imgcl.balance.clusters.kmeans import kmeans
from imgcl.balance.clusters.lloyd import centroid_costs, row_norms
from imgcl.balance.clusters.modularity import modularity
from imgcl.balance.clusters.points import Points
from imgcl.errors import InputError
from imgcl.graph import Graph

MOST = 30
ALMOST = 0.975  # of the best modularity; chosen once, on digits, Cora, Photo and Computers
PATIENCE = 10  # candidates without a better modularity after which larger ones are not tried
STARTS = 2
FIT_ROWS = 1 << 15  # rows the centroids are fitted on; all rows are labelled


def choose_n_clusters(points: Points, graph: Graph, *, min_fraction: float = 0.1, seed: int = 0) -> int:
    """Number of clusters for ``n_clusters="auto"`` (a choice of this project).

    For K = 2, 3, ... 30 the rows, scaled to length one, are clustered by constrained k-means, and each labelling is
    rated by its modularity: the share of edges inside clusters, less what that share would be if edges fell at
    random. Modularity rises steeply until the clusters are found and is flat after that, so the answer is the
    smallest K that reaches 97.5 % of the best.

    Args:
        points: embeddings or features, one row per node.
        graph: the graph whose edges judge.
        min_fraction: least cluster size, as a fraction of N/K.
        seed: seed of the clusterings.
    """
    if graph.n_edges == 0:
        raise InputError("n_clusters='auto' judges by edges, and this graph has none: give the number of clusters")
    rows = _unit_rows(points)
    n = rows.shape[0]
    sample = rows[np.sort(seeding.generator(seed, "auto").permutation(n)[:FIT_ROWS])]
    found: list[float] = []
    for k in range(2, min(MOST, n) + 1):
        least = max(1, int(min_fraction * sample.shape[0] / k))
        fits = (
            kmeans(sample, k, min_size=least, max_iterations=30, tolerance=1e-3, seed=seeding.derive(seed, k, start))
            for start in range(STARTS)
        )
        centroids = min(fits, key=lambda fit: fit.inertia).centroids
        found.append(modularity(graph, centroid_costs(rows, centroids).argmin(axis=1), k))
        if len(found) - int(np.argmax(found)) > PATIENCE:
            break
    good = np.array(found) >= ALMOST * max(found)
    return 2 + int(good.argmax()) if found else 1


def _unit_rows(points: Points) -> Points:
    lengths = np.sqrt(row_norms(points))
    scale = 1.0 / np.where(lengths > 0, lengths, 1.0)
    if isinstance(points, sp.csr_array):
        return sp.csr_array(sp.diags_array(scale) @ points)
    return (points * scale[:, None]).astype(np.float32)
