"""Networks trained on imbalanced labels with nothing but a loss against imbalance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from imgcl._core.errors import InputError
from imgcl.baselines.prediction import Prediction
from imgcl.baselines.supervised.recipe import Recipe
from imgcl.baselines.supervised.tam import TopologyMargin
from imgcl.baselines.supervised.trainer import train
from imgcl.evaluation.labels import Labels
from imgcl.graph import Graph
from imgcl.imbalance import Split


def gcn(
    graph: Graph, labels: Labels, splits: Sequence[Split], classifier: str, seed: int = 0, tam: int = 0
) -> list[Prediction]:
    """Train a GCN on every split.

    Args:
        graph: structure and features.
        labels: of its nodes.
        splits: train, validation and test nodes.
        classifier: a name of :data:`imgcl.baselines.supervised.LOSSES`.
        seed: of weights and dropout.
        tam: 1 to add the margins of :class:`~imgcl.baselines.supervised.tam.TopologyMargin`.
    """
    return supervised(Recipe)(graph, labels, splits, classifier, seed, "gcn", tam)


def sage(
    graph: Graph, labels: Labels, splits: Sequence[Split], classifier: str, seed: int = 0, tam: int = 0
) -> list[Prediction]:
    """As :func:`gcn`, a GraphSAGE network with the mean over neighbours (Hamilton et al. 2017)."""
    return supervised(Recipe)(graph, labels, splits, classifier, seed, "sage", tam)


def supervised(recipe: Callable[..., Recipe]) -> Callable[..., list[Prediction]]:
    """The baseline that trains by a recipe: a function of graph, labels, splits, classifier, seed and options."""

    def make(
        graph: Graph,
        labels: Labels,
        splits: Sequence[Split],
        classifier: str,
        seed: int = 0,
        network: str = "gcn",
        tam: int = 0,
        **options: float,
    ) -> list[Prediction]:
        made = recipe(**options)
        if tam and not made.takes_margin:
            raise InputError("tam is 1, but this baseline has no logits that a margin could be added to: use tam=0")
        made.margin = TopologyMargin() if tam else None
        return train(graph, labels, splits, classifier, seed, made, network)

    return make
