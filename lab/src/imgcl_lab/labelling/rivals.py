"""Strategies of the literature, as functions ``(task) -> nodes`` like those of ``imgcl.labelling``."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imgcl._core.seeding import derive, generator
from imgcl.balance import centrality
from imgcl.baselines import propagated_features
from imgcl.evaluation.labels import normalise_rows
from imgcl.graph import Graph
from imgcl.labelling import LabellingTask
from imgcl.labelling.clusters import cluster
from imgcl.labelling.expected import fit

Nodes = NDArray[np.int64]
DIM = 128  # principal components of the propagated features


def _largest(scores: NDArray[np.floating], task: LabellingTask) -> Nodes:
    """The open nodes with the largest scores, the largest first."""
    return task.open[np.argsort(-scores[task.open], kind="stable")[: task.budget]]


def degree(task: LabellingTask) -> Nodes:
    """Nodes with the most neighbours."""
    return _largest(task.graph.degree.astype(np.float64), task)


def pagerank(task: LabellingTask) -> Nodes:
    """The most central nodes."""
    return _largest(centrality(task.graph, "pagerank"), task)


def core_set(task: LabellingTask) -> Nodes:
    """Greedy k-centre (Sener and Savarese 2018): always the node farthest from those so far; the first is random."""
    chosen = [int(generator(task.seed, "core-set").choice(task.open))]
    distance = _distances(task.rows, chosen[0])
    while len(chosen) < task.budget:
        chosen.append(int(np.where(task.asked, -1.0, distance).argmax()))
        distance = np.minimum(distance, _distances(task.rows, chosen[-1]))
    return np.array(chosen)


def plus_plus(task: LabellingTask) -> Nodes:
    """k-means++ (Arthur and Vassilvitskii 2007): the next node is drawn by its squared distance from those so far."""
    rng = generator(task.seed, "k-means++")
    chosen = [int(rng.choice(task.open))]
    distance = _distances(task.rows, chosen[0])
    while len(chosen) < task.budget:
        weights = np.where(task.asked, 0.0, distance)
        weights[chosen] = 0.0
        chosen.append(int(rng.choice(len(weights), p=weights / weights.sum())))
        distance = np.minimum(distance, _distances(task.rows, chosen[-1]))
    return np.array(chosen)


def _distances(rows: NDArray[np.float32], node: int) -> NDArray[np.float64]:
    return np.asarray(((rows - rows[node]) ** 2).sum(axis=1, dtype=np.float64))


def featprop(task: LabellingTask) -> Nodes:
    """FeatProp (Wu et al. 2019): one node in the middle of every cluster of the features, propagated twice."""
    return cluster(_propagated(task.graph), task.budget, derive(task.seed, "featprop")).typical


@lru_cache(maxsize=1)  # every budget and every selection of a cell has the same graph
def _propagated(graph: Graph) -> NDArray[np.float32]:
    return normalise_rows(propagated_features(graph, DIM, seed=0))


def margin(task: LabellingTask) -> Nodes:
    """The smallest difference between the two most probable classes."""
    return _largest(-task.expected.margin, task)


def age(task: LabellingTask) -> Nodes:
    """AGE (Cai, Zheng and Chang 2017): percentiles of entropy, density and PageRank, weighed by the number of labels.

    The weight of PageRank is drawn from Beta(1, 1.005 - 0.995^t), t the number of labels; the other two share the rest.
    """
    known = task.labels.codes >= 0
    probabilities = fit(task.rows[known], task.labels.codes[known]).predict_proba(task.rows)
    entropy = -(probabilities * np.log(np.maximum(probabilities, 1e-12))).sum(axis=1)
    density = -cluster(task.rows, task.labels.n_classes, derive(task.seed, "age")).distance
    central = centrality(task.graph, "pagerank")
    gamma = generator(task.seed, "age", int(known.sum())).beta(1, 1.005 - 0.995 ** int(known.sum()))
    rest = (1 - gamma) / 2
    return _largest(rest * _percentile(entropy) + rest * _percentile(density) + gamma * _percentile(central), task)


def _percentile(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Share of the nodes with a smaller score."""
    return np.asarray(np.searchsorted(np.sort(scores), scores) / len(scores))
