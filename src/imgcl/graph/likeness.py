"""How alike linked nodes are: in features against random pairs, in labels against chance.

A graph neural network averages neighbours. That helps where linked nodes are alike, and hides what a node itself is
where they are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl.graph.checks import is_structural
from imgcl.graph.graph import Graph

Ints = NDArray[np.int64]
FEATURE_PAIRS = 20_000  # linked pairs, and as many random ones, whose features are compared
LABEL_PAIRS = 1_000_000
ROWS_AT_ONCE = 1 << 11
ALIKE = 0.5  # of 1: on the development graphs averaging helps above .69 and hurts, or hardly helps, below .33
NEAR_CHANCE, HARDLY = 0.1, 0.02
FEW_EDGES = 20  # with a label at both ends: fewer say nothing about all
OWN = "averaging neighbours may hide what a node itself is, so keep its own features beside the embedding"


@dataclass(frozen=True)
class Likeness:
    """How alike linked nodes are; ``None`` where there is nothing to compare.

    Attributes:
        linked_cosine: mean cosine of the features of linked nodes.
        random_cosine: the same of random pairs.
        same_label: share of edges whose ends have the same label (edge homophily), of those with two labelled ends.
        chance: the same for edges that join ends at random.
        label_edges: how many edges that was; of few, no conclusion is drawn.

    Example:
        >>> Likeness(same_label=0.81, chance=0.17).meaning
        'linked nodes are much alike: averaging neighbours helps'
    """

    linked_cosine: float | None = None
    random_cosine: float | None = None
    same_label: float | None = None
    chance: float | None = None
    label_edges: int | None = None

    @property
    def label_excess(self) -> float | None:
        """Homophily beyond chance: 1 where all linked nodes have the same label, 0 as by chance, below 0 less."""
        return _beyond(self.same_label, self.chance)

    @property
    def feature_excess(self) -> float | None:
        """The same of features."""
        return _beyond(self.linked_cosine, self.random_cosine)

    @property
    def meaning(self) -> str:
        """What it means, in a sentence; labels decide where there are some, since alike features need not mean much."""
        if self.label_edges is not None and self.label_edges < FEW_EDGES:
            return (
                f"edges with a label at both ends: {self.label_edges}, too few to tell whether averaging neighbours "
                "helps; keep own features beside the embedding"
            )
        if self.label_excess is not None:
            return self._meaning_of_labels(self.label_excess)
        if self.feature_excess is None:
            return "there are no features and no labels to compare linked nodes by"
        if self.feature_excess < HARDLY:
            return f"linked nodes are as different as random ones: {OWN}"
        return (
            "linked nodes have features more alike than random ones; whether averaging neighbours helps, labels would "
            "tell, so keep own features beside the embedding"
        )

    def _meaning_of_labels(self, excess: float) -> str:
        if excess >= ALIKE:
            return "linked nodes are much alike: averaging neighbours helps"
        often = (
            "hardly more often than by chance" if excess < NEAR_CHANCE else "only somewhat more often than by chance"
        )
        if self.feature_excess is None:
            return f"linked nodes share their label {often}: neighbours say little, features of the nodes would help"
        return f"linked nodes share their label {often}: {OWN}"

    def facts(self) -> dict[str, Any]:
        """What is known, as plain values."""
        names = ("linked_cosine", "random_cosine", "same_label", "chance")
        values = {name: getattr(self, name) for name in names}
        return {name: round(value, 4) for name, value in values.items() if value is not None} | {
            "meaning": self.meaning
        }


def linked_likeness(graph: Graph, random_state: RandomState = 0) -> Likeness:
    """Compare linked nodes with random pairs, and their labels with chance.

    Features of up to 20,000 pairs and labels of up to a million edges are read, drawn by the seed; a memory-mapped
    graph is not loaded. Dense features are standardised, so that a cosine of random pairs is about 0; sparse ones are
    taken as they are.

    Args:
        graph: features and labels are both optional.
        random_state: seed of the sample.

    Example:
        >>> square = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], y=[0, 0, 1, 1])
        >>> found = linked_likeness(square)
        >>> found.same_label, found.chance, found.label_excess
        (0.5, 0.5, 0.0)
    """
    seed = as_seed(random_state)
    comparable = graph.n_features and not is_structural(graph.feature_names)  # made from edges, they would be alike
    linked, random = _compare_features(graph, seed) if comparable else (None, None)
    labels = (None, None, None) if graph.y is None else _compare_labels(graph, graph.y, seed)
    return Likeness(linked, random, *labels)


def _compare_features(graph: Graph, seed: int) -> tuple[float | None, float | None]:
    draw = generator(seed, "likeness of features")
    linked, random = _edges(graph, FEATURE_PAIRS, draw), draw.integers(0, graph.n_nodes, (2, FEATURE_PAIRS))
    random = random[:, random[0] != random[1]]
    if not linked.size or not random.size:
        return None, None
    mean, spread = _scale(graph, np.unique(random[0])[:ROWS_AT_ONCE])
    return _mean_cosine(graph, linked, mean, spread), _mean_cosine(graph, random, mean, spread)


def _compare_labels(graph: Graph, y: NDArray[np.int64], seed: int) -> tuple[float | None, float | None, int | None]:
    ends = y[_edges(graph, LABEL_PAIRS, generator(seed, "likeness of labels"))]
    ends = ends[:, (ends >= 0).all(axis=0)]
    if not ends.size:
        return None, None, None
    shares = np.bincount(ends.ravel()) / ends.size  # of edge ends, so that a class with many edges counts as much
    return float(np.mean(ends[0] == ends[1])), float(np.sum(shares**2)), ends.shape[1] // 2


def _edges(graph: Graph, most: int, draw: np.random.Generator) -> Ints:
    """Ends (2, n) of all edges, each in both directions; of more than ``most``, of a random sample."""
    entries = len(graph.indices)
    places = np.arange(entries) if entries <= most else np.sort(draw.integers(0, entries, most))
    sources = np.searchsorted(graph.indptr, places, side="right") - 1
    return np.stack([sources, graph.indices[places]]).astype(np.int64)


def _scale(graph: Graph, rows: Ints) -> tuple[Any, Any]:
    """Mean and deviation of dense columns, from some rows; sparse features stay as they are."""
    if not isinstance(graph.x, np.ndarray):
        return 0.0, 1.0
    values = np.asarray(graph.x[rows], dtype=np.float64)
    spread = values.std(axis=0)
    return values.mean(axis=0), np.where(spread > 0, spread, 1.0)


def _mean_cosine(graph: Graph, pairs: Ints, mean: Any, spread: Any) -> float:
    """Mean cosine of the features of pairs; a row of zeros is like none."""
    total = 0.0
    for start in range(0, pairs.shape[1], ROWS_AT_ONCE):
        first, second = (graph.x[ends] for ends in pairs[:, start : start + ROWS_AT_ONCE])
        if isinstance(first, np.ndarray):
            first, second = (first - mean) / spread, (second - mean) / spread
        lengths = np.sqrt(_products(first, first) * _products(second, second))
        total += float(np.sum(_products(first, second)[lengths > 0] / lengths[lengths > 0]))
    return total / len(pairs[0])


def _products(first: Any, second: Any) -> NDArray[np.float64]:
    """Inner products, row by row."""
    if not isinstance(first, np.ndarray):
        return np.asarray(first.multiply(second).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", first, second, dtype=np.float64))


def _beyond(value: float | None, chance: float | None) -> float | None:
    if value is None or chance is None:
        return None
    return 0.0 if chance >= 1 else (value - chance) / (1 - chance)
