"""ImGCL itself: pseudo-labels, centrality and balanced selection, usable in any training loop."""

from imgcl.balance.centrality import CENTRALITIES, centrality
from imgcl.balance.clusters import CLUSTERERS, choose_n_clusters, kmeans
from imgcl.balance.history import Labelling
from imgcl.balance.probabilities import node_probabilities, power, progressively_balanced
from imgcl.balance.schedules import SCHEDULES
from imgcl.balance.selection import SELECTIONS, draw, inclusion_probabilities
from imgcl.balance.selector import BalancedSelector
from imgcl.balance.settings import BalanceSettings
from imgcl.balance.trace import trace_figure, trace_rows

__all__ = [
    "CENTRALITIES",
    "CLUSTERERS",
    "SCHEDULES",
    "SELECTIONS",
    "BalanceSettings",
    "BalancedSelector",
    "Labelling",
    "centrality",
    "choose_n_clusters",
    "draw",
    "inclusion_probabilities",
    "kmeans",
    "node_probabilities",
    "power",
    "progressively_balanced",
    "trace_figure",
    "trace_rows",
]
