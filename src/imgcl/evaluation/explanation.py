"""Reasons for a score: which blocks and features moved it, and the labelled nodes that are nearest.

A score is the mean over all nodes and what each column of this node adds to it. A linear classifier's score is a sum
over columns, so these parts are exact. Of boosted trees a column adds the changes of the expected score at the
branches that look at it, on the node's way from the roots to the leaves; these add up to the score as well. So do
those of a forest, whose changes of probabilities are stretched to the change of their logarithm. Columns that are
projections of many features are traced back to them for the linear part; what trees add there is counted with the
block alone.

The score is the logit of one class minus the mean logit of the others; with two classes that is what nodes are ranked
by. It is the score of the final model, also at nodes whose label was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl.evaluation.alignment import ordered_labels
from imgcl.evaluation.blocks import WEIGHT, Blocks
from imgcl.evaluation.ensemble import EnsembleModel
from imgcl.evaluation.labels import Labels, number_classes
from imgcl.evaluation.names import CLASSIFIERS
from imgcl.evaluation.parts import linear_part, tree_part
from imgcl.evaluation.scorer import FittedScorer
from imgcl.evaluation.tasks import LinearModel
from imgcl.evaluation.tracing import FeatureSource

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]
Sources = Mapping[str, FeatureSource]
COLUMNS = ("node", "kind", "what", "block", "class", "amount")
NUMBERS_AT_ONCE = 1 << 24  # amounts of features that are held


class Feature(NamedTuple):
    """What a feature of a block adds to a score."""

    block: str
    name: str
    amount: float


class Neighbour(NamedTuple):
    """A labelled node, its class, and its cosine similarity in the blocks as the classifier weighs them."""

    node: int
    class_name: str
    similarity: float


@dataclass(frozen=True)
class Reasons:
    """Why a node has its score for a class.

    Attributes:
        node: its number.
        class_name: the class.
        score: logit of the class minus the mean logit of the others.
        mean: the mean score of all nodes.
        blocks: what every block adds to that mean; ``mean`` and these add up to ``score``.
        features: those that add or take away the most, of the blocks that are made of features.
        labelled: the nearest labelled nodes, the nearest first.
    """

    node: int
    class_name: str
    score: float
    mean: float
    blocks: Mapping[str, float]
    features: tuple[Feature, ...]
    labelled: tuple[Neighbour, ...]

    def text(self, node_names: Sequence[str] | None = None) -> str:
        """Three lines to read."""
        blocks = [f"{name or 'embedding'} {amount:+.2f}" for name, amount in self.blocks.items()]
        features = [f"{block} {name} {amount:+.2f}" for block, name, amount in self.features]
        near = [f"{_name(node, node_names)} ({called}) {value:.2f}" for node, called, value in self.labelled]
        score = f"score for {self.class_name} {self.score:+.2f}"
        lines = [f"{_name(self.node, node_names)}: {score} = mean {self.mean:+.2f}, {', '.join(blocks)}"]
        lines += [f"  features: {', '.join(features)}"] if features else []
        return "\n".join([*lines, *([f"  nearest labelled: {', '.join(near)}"] if near else [])])

    def rows(self, node_names: Sequence[str] | None = None) -> Iterator[tuple[Any, ...]]:
        """Rows of :func:`reasons_frame`."""
        node = self.node if node_names is None else node_names[self.node]
        yield node, "score", self.class_name, "", self.class_name, self.score
        yield node, "mean", "all nodes", "", "", self.mean
        for block, amount in self.blocks.items():
            yield node, "block", block, block, "", amount
        for block, name, amount in self.features:
            yield node, "feature", name, block, "", amount
        for block, amount in self._others().items():
            yield node, "other features", "", block, "", amount
        for near in self.labelled:
            yield node, "labelled node", _name(near.node, node_names), "", near.class_name, near.similarity

    def _others(self) -> dict[str, float]:
        """What the features that are not listed add, by block."""
        listed: dict[str, float] = {}
        for block, _, amount in self.features:
            listed[block] = listed.get(block, 0.0) + amount
        return {block: self.blocks[block] - amount for block, amount in listed.items()}


def explain(
    scorer: FittedScorer,
    Z: ArrayLike | Mapping[str, ArrayLike],
    labels: ArrayLike | Mapping[Any, Any],
    nodes: ArrayLike,
    *,
    target: str | None = None,
    sources: Sources | None = None,
    n_features: int = 5,
    n_labelled: int = 5,
) -> list[Reasons]:
    """Why nodes have their scores: parts that add up to the score, and the nearest labelled nodes.

    Args:
        scorer: with a linear classifier, or ``ensemble``.
        Z: the embedding of all nodes, or its blocks.
        labels: those the scorer was fitted to, as :func:`imgcl.evaluation.predict` takes them.
        nodes: numbers of the nodes to explain.
        target: the class; by default the one that ranks are about.
        sources: the features that blocks are made of, by the block's name; see
            :func:`imgcl.training.source.feature_sources` for those of a run.
        n_features: how many features to name.
        n_labelled: how many labelled nodes to name.

    Raises:
        InputError: when the classifier is another one, or nodes, classes or blocks are not the scorer's.

    Example:
        >>> from imgcl.evaluation import fit_scorer
        >>> Z = {"own": np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8], [0.28, 0.96]])}
        >>> y = ["tea", "tea", "salt", "salt", None]
        >>> found = explain(fit_scorer(Z, y), Z, y, [4], target="salt", n_labelled=2)[0]
        >>> abs(found.mean + sum(found.blocks.values()) - found.score) < 1e-9
        True
        >>> [(near.node, near.class_name, round(near.similarity, 3)) for near in found.labelled]
        [(2, 'salt', 0.96), (3, 'salt', 0.936)]
    """
    if min(n_features, n_labelled) < 0:
        raise InputError(f"n_features is {n_features} and n_labelled {n_labelled}: give 0 or more of each")
    k = _checked_target(scorer, target)
    blocks, known = scorer.ordered(Z), _checked_labels(scorer, ordered_labels(labels, Z))
    found = Blocks.of(blocks, scales=scorer.scales)
    chosen = _checked_nodes(nodes, len(found.rows), len(known.codes))
    linear = linear_part(scorer.model, found.rows, chosen, k)
    trees = tree_part(scorer.model, found.rows, chosen, k)
    amounts, base = linear.amounts + trees.amounts, linear.mean + trees.mean
    parts = {name: amounts[:, columns].sum(axis=1) for name, columns in _places(found).items()}
    features = _features(blocks, found, linear.weights, trees.amounts, chosen, sources or {}, n_features)
    near = _nearest(found.rows * _block_weights(scorer), known, chosen, n_labelled)
    name = scorer.class_names[k]
    return [
        Reasons(int(node), name, base + float(amounts[i].sum()), base, _at(parts, i), features[i], near[i])
        for i, node in enumerate(chosen)
    ]


def reasons_frame(reasons: Sequence[Reasons], node_names: Sequence[str] | None = None) -> pd.DataFrame:
    """Reasons as a long table: ``node``, ``kind``, ``what``, ``block``, ``class``, ``amount``.

    The amounts of kinds ``mean`` and ``block`` add up to that of ``score``; those of ``feature`` and ``other features``
    to that of their block. The amount of a ``labelled node`` is its cosine similarity.

    Args:
        reasons: of :func:`explain`.
        node_names: names of all nodes.

    Example:
        >>> reasons = Reasons(7, "tea", 1.5, 0.5, {"own": 1.0}, (Feature("own", "leaf", 0.75),), ())
        >>> frame = reasons_frame([reasons])
        >>> dict(zip(frame["kind"], frame["amount"], strict=True))
        {'score': 1.5, 'mean': 0.5, 'block': 1.0, 'feature': 0.75, 'other features': 0.25}
    """
    import pandas as pd

    rows = chain.from_iterable(each.rows(node_names) for each in reasons)
    return pd.DataFrame(list(rows), columns=list(COLUMNS))


# ------------------------------------------------------------------ what is asked


def check_explained(name: str) -> None:
    """Refuse reasons of a classifier whose scores are not sums over columns."""
    if name not in (*CLASSIFIERS, "ensemble"):
        raise InputError(f"scores of classifier {name!r} have no reasons: use ensemble, {', '.join(CLASSIFIERS)}")


def _checked_target(scorer: FittedScorer, target: str | None) -> int:
    """Number of the class that is explained."""
    if not isinstance(scorer.model, LinearModel | EnsembleModel):
        check_explained(scorer.classifier)
    if target is not None and str(target) not in scorer.class_names:
        raise InputError(f"`target` is {target!r}: the classes are {', '.join(scorer.class_names)}")
    return scorer.target if target is None else scorer.class_names.index(str(target))


def _checked_labels(scorer: FittedScorer, labels: ArrayLike) -> Labels:
    """The labels with the scorer's names of classes: both number the classes in sorted order."""
    known = number_classes(labels)
    if tuple(known.sizes.tolist()) != scorer.labels:
        raise InputError(
            f"`labels` have {known.sizes.tolist()} nodes per class, the scorer was fitted to {list(scorer.labels)}: "
            "give the labels that it was fitted to"
        )
    return Labels(known.codes, scorer.class_names)


def _checked_nodes(nodes: ArrayLike, n_rows: int, n_labels: int) -> Nodes:
    if n_rows != n_labels:
        raise InputError(f"the embedding has {n_rows} rows but there are {n_labels} labels: give one label per row")
    chosen = np.asarray(nodes)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise InputError(f"`nodes` have shape {chosen.shape} and dtype {chosen.dtype}: give a list of node numbers")
    wrong = chosen[(chosen < 0) | (chosen >= n_rows)]
    if wrong.size:
        raise InputError(f"`nodes` has {wrong[0]}: nodes are 0..{n_rows - 1}")
    return chosen.astype(np.int64)


# ------------------------------------------------------------------ parts


def _places(blocks: Blocks) -> dict[str, slice]:
    """The columns of every block."""
    ends = np.cumsum([*blocks.widths.values()]).tolist()
    return {name: slice(end - width, end) for (name, width), end in zip(blocks.widths.items(), ends, strict=True)}


def _at(parts: Mapping[str, Floats], i: int) -> dict[str, float]:
    return {name: float(amounts[i]) for name, amounts in parts.items()}


def _features(
    arrays: Mapping[str, Any],
    blocks: Blocks,
    weights: Floats,
    of_trees: Floats,
    nodes: Nodes,
    sources: Sources,
    count: int,
) -> list[tuple[Feature, ...]]:
    """The features of every node with the largest amounts, from all blocks with a source."""
    used = {name: (columns, sources[name]) for name, columns in _places(blocks).items() if name in sources}
    found: list[tuple[Feature, ...]] = []
    step = max(1, NUMBERS_AT_ONCE // max([source.reduction.n_features for _, source in used.values()], default=1))
    for start in range(0, len(nodes), step):
        some = nodes[start : start + step]
        parts = {
            name: source.contributions(np.asarray(arrays[name]), some, weights[columns], blocks.scales.get(name))
            + (of_trees[start : start + step, columns] if source.reduction.components is None else 0)
            for name, (columns, source) in used.items()
        }
        found += [_largest({name: part[i] for name, part in parts.items()}, sources, count) for i in range(len(some))]
    return found


def _largest(parts: Mapping[str, Floats], sources: Sources, count: int) -> tuple[Feature, ...]:
    """The features with the largest amounts, positive or negative; none that adds nothing."""
    features = [
        Feature(block, sources[block].name(int(j)), float(amounts[j]))
        for block, amounts in parts.items()
        for j in np.argsort(-np.abs(amounts), kind="stable")[:count]
        if amounts[j] != 0
    ]
    return tuple(sorted(features, key=lambda feature: -abs(feature.amount))[:count])


def _block_weights(scorer: FittedScorer) -> NDArray[np.float32]:
    """The factor of every column, as validation chose it for the column's block."""
    setting = scorer.model.setting
    parts = [np.full(width, setting.get(f"{WEIGHT}{name}", 1.0)) for name, width in scorer.widths.items()]
    return np.concatenate(parts).astype(np.float32)


def _nearest(rows: NDArray[np.float32], labels: Labels, nodes: Nodes, count: int) -> list[tuple[Neighbour, ...]]:
    """The labelled nodes with the largest cosine similarity to each node, itself left out."""
    known = np.flatnonzero(labels.codes >= 0)
    others = _unit(rows[known])
    found = []
    for node in nodes:
        similarity = np.where(known == node, -np.inf, others @ _unit(rows[[node]])[0])
        best = np.argsort(-similarity, kind="stable")[: min(count, int((known != node).sum()))]
        found.append(tuple(_neighbour(labels, int(known[i]), float(similarity[i])) for i in best))
    return found


def _neighbour(labels: Labels, node: int, similarity: float) -> Neighbour:
    return Neighbour(node, labels.names[labels.codes[node]], similarity)


def _unit(rows: NDArray[np.float32]) -> Floats:
    """Rows of length 1, in double; rows of zeros stay as they are."""
    length = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1))


def _name(node: int, names: Sequence[str] | None) -> str:
    return str(node) if names is None else str(names[node])
