"""Pseudo-labels: which nodes belong together.

A clusterer is one function ``(task) -> labels`` and its name in :data:`CLUSTERERS`. Those that look at nothing that
training changes are in :data:`ONE_STAGE` too: they are asked once.
"""

from imgcl.balance.clusters.assignment import assign
from imgcl.balance.clusters.choose import choose_n_clusters
from imgcl.balance.clusters.communities import communities
from imgcl.balance.clusters.kmeans import KMeans, constrained, kmeans, plain
from imgcl.balance.clusters.mixture import gmm
from imgcl.balance.clusters.points import as_points
from imgcl.balance.clusters.task import Clusterer, ClusterTask, given, match

__all__ = [
    "CLUSTERERS",
    "ONE_STAGE",
    "ClusterTask",
    "Clusterer",
    "KMeans",
    "as_points",
    "assign",
    "choose_n_clusters",
    "kmeans",
    "match",
]

CLUSTERERS: dict[str, Clusterer] = {
    "constrained": constrained,
    "kmeans": plain,
    "communities": communities,
    "gmm": gmm,
    "given": given,
}
ONE_STAGE = {"communities", "given"}
