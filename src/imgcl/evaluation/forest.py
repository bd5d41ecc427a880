"""Fitted trees as plain arrays: scores, what each column adds to them, and files without pickle.

scikit-learn grows the trees. Its fitted estimators can only be pickled, and a pickle runs code when it is read; as
arrays they can be stored, checked and followed by a few lines of our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.compiled import njit
from imgcl.evaluation.softmax import ABSENT
from imgcl.evaluation.tasks import Classified, classified

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAF = -1  # as the column of a node
SMALLEST = 1e-6  # probability of a forest whose logarithm is taken
TINY = 1e-12  # of a probability: where a path changes it by less, its logarithm is a line


class Trees(NamedTuple):
    """Binary trees, one after the other: a row with ``x[column] <= threshold`` goes left.

    Attributes:
        root: first node of each tree.
        output: the column of the sums at which each tree's values begin.
        column: that a node looks at; :data:`LEAF` for a leaf.
        threshold: of a node.
        left: the node for rows up to the threshold; always behind its parent.
        right: the node for the others.
        value: (nodes, width) what a leaf adds; of an inner node, the mean over the training rows that came by.
    """

    root: Ints
    output: Ints
    column: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats

    def sums(self, x: Floats, outputs: int) -> Floats:
        """Sums over the trees of the leaves that each row ends in, (rows, outputs)."""
        out = np.zeros((len(x), outputs))
        _add_leaves(self, x, out)
        return out

    def changes(self, x: Floats, outputs: int) -> Floats:
        """How much each column changes the sums on the way from root to leaf, (rows, columns, outputs).

        The mean of the roots and these changes add up to :meth:`sums`.
        """
        out = np.zeros((len(x), x.shape[1], outputs))
        _add_changes(self, x, out)
        return out

    def check(self, columns: int, outputs: int) -> None:
        """Refuse trees that could be followed outside their arrays, or for ever.

        Raises:
            ValueError: with what is wrong.
        """
        nodes = np.arange(len(self.column))
        inner = self.column != LEAF
        sizes = {len(each) for each in (self.threshold, self.left, self.right, self.value)}
        children = np.stack([self.left, self.right])[:, inner]
        if sizes != {len(nodes)} or self.value.ndim != 2 or len(self.root) != len(self.output):
            raise ValueError("arrays of trees have different lengths")
        if (self.column < LEAF).any() or (self.column >= columns).any():
            raise ValueError("a tree looks at a column that is not there")
        if (children <= nodes[inner]).any() or (children >= len(nodes)).any():
            raise ValueError("a tree does not lead from its root to leaves")
        if ((self.root < 0) | (self.root >= len(nodes))).any():
            raise ValueError("a tree has no root")
        if ((self.output < 0) | (self.output + self.value.shape[1] > outputs)).any():
            raise ValueError("a tree adds to a class that is not there")
        if not (np.isfinite(self.value).all() and np.isfinite(self.threshold).all()):
            raise ValueError("values of trees are not finite")


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Boosted trees or a forest as a classifier of rows.

    Attributes:
        trees: the trees.
        kind: ``boosting``: the sums are logits; ``forest``: they are probabilities, times the number of trees.
        base: where the sums begin; one entry for each class that was seen, or a single one for two classes.
        classes: the classes that were seen.
        n_classes: K.
        columns: those of the rows that the trees look at.
        shift: subtracted from the logits, one entry per class.
        setting: what validation chose.
        smallest: probability of a forest whose logarithm is taken: its trees agree on 0 far too often.
    """

    trees: Trees
    kind: str
    base: Floats
    classes: Ints
    n_classes: int
    columns: Ints
    shift: Floats
    setting: dict[str, float] = field(default_factory=dict)
    smallest: float = SMALLEST

    def logits(self, x: Tensor) -> Tensor:
        """Scores (n, K); their softmax is the class probability."""
        rows = x.numpy()[:, self.columns].astype(np.float64)
        sums = self.base + self.trees.sums(rows, len(self.base))
        if self.kind == "forest":
            sums = self._log(sums / len(self.trees.root))
        out = np.full((len(rows), self.n_classes), ABSENT)
        out[:, self.classes] = _of_each_class(sums) - self.shift[self.classes]
        return torch.from_numpy(out.astype(np.float32))

    def classify(self, x: Tensor) -> Classified:
        """The most probable class of every row, and the probabilities of all."""
        return classified(self.logits(x))

    def changes(self, x: Tensor) -> Floats:
        """How much each column of the rows changes the logits, (n, columns of x, K).

        On the way from the roots to the leaves columns change the sums. A forest's sums are probabilities: their
        changes are stretched so that they add up to the change of the logarithm.
        """
        rows = x.numpy()[:, self.columns].astype(np.float64)
        out = np.zeros((*x.shape, self.n_classes))
        changes = self.trees.changes(rows, len(self.base))
        if self.kind == "forest":
            changes = self._stretched(changes / len(self.trees.root))
        out[:, self.columns[:, None], self.classes] = _of_each_class(changes)
        return out

    def _stretched(self, changes: Floats) -> Floats:
        """Changes of probabilities as changes of their logarithms."""
        start = self.trees.value[self.trees.root].mean(axis=0)
        total = changes.sum(axis=1, keepdims=True)
        gained = self._log(start + total) - self._log(start)
        moved = np.abs(total) > TINY
        slope = np.where(moved, gained / np.where(moved, total, 1.0), 1 / np.maximum(start, self.smallest))
        return np.asarray(changes * slope)

    def _log(self, probabilities: Floats) -> Floats:
        return np.log(np.maximum(probabilities, self.smallest))


def _of_each_class(sums: Floats) -> Floats:
    """Two classes have a single output, the log odds of the second."""
    return sums if sums.shape[-1] > 1 else np.concatenate([np.zeros_like(sums), sums], axis=-1)


def boosted_trees(fitted: Any) -> tuple[Trees, Floats]:
    """Trees and base of a fitted ``HistGradientBoostingClassifier``."""
    rounds = fitted._predictors
    nodes = [each.nodes for trees in rounds for each in trees]
    output = [k for trees in rounds for k in range(len(trees))]
    values = [_with_means(part) for part in nodes]
    columns = [np.where(part["is_leaf"], LEAF, part["feature_idx"]) for part in nodes]
    parts = [
        (column, part["num_threshold"], part["left"], part["right"], value[:, None])
        for column, part, value in zip(columns, nodes, values, strict=True)
    ]
    return _joined(parts, output), np.asarray(fitted._baseline_prediction, dtype=np.float64).ravel()


def forest_trees(fitted: Any) -> Trees:
    """Trees of a fitted ``RandomForestClassifier``; their sums are probabilities, times their number."""
    grown = [each.tree_ for each in fitted.estimators_]
    parts = []
    for tree in grown:
        share = tree.value[:, 0] / tree.value[:, 0].sum(axis=1, keepdims=True)  # counts before scikit-learn 1.3
        column = np.where(tree.children_left < 0, LEAF, tree.feature)
        parts.append((column, tree.threshold, tree.children_left, tree.children_right, share))
    return _joined(parts, [0] * len(grown))


def _with_means(nodes: np.ndarray) -> Floats:
    """Values of leaves; of inner nodes the mean of their leaves, weighted by training rows. Children come later."""
    value, count = nodes["value"].astype(np.float64), nodes["count"].astype(np.float64)
    for i in reversed(range(len(nodes))):
        if not nodes["is_leaf"][i]:
            pair = [nodes["left"][i], nodes["right"][i]]
            value[i] = (value[pair] * count[pair]).sum() / count[pair].sum()
    return value


def _joined(parts: Sequence[tuple[np.ndarray, ...]], output: Sequence[int]) -> Trees:
    """Trees one after the other; the threshold of a leaf is not read."""
    root = np.cumsum([0, *(len(part[0]) for part in parts)])[:-1].astype(np.int64)
    column, threshold, left, right, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    shift = np.repeat(root, [len(part[0]) for part in parts])
    leaf = column == LEAF
    return Trees(
        root,
        np.asarray(output, dtype=np.int64),
        column.astype(np.int64),
        np.where(leaf, 0.0, threshold),
        np.where(leaf, 0, left + shift).astype(np.int64),
        np.where(leaf, 0, right + shift).astype(np.int64),
        np.ascontiguousarray(value, dtype=np.float64),
    )


@njit(nogil=True)
def _add_leaves(trees: Trees, x: Floats, out: Floats) -> None:
    for i in range(len(x)):
        for t in range(len(trees.root)):
            node = trees.root[t]
            while trees.column[node] >= 0:
                below = x[i, trees.column[node]] <= trees.threshold[node]
                node = trees.left[node] if below else trees.right[node]
            for j in range(trees.value.shape[1]):
                out[i, trees.output[t] + j] += trees.value[node, j]


@njit(nogil=True)
def _add_changes(trees: Trees, x: Floats, out: Floats) -> None:
    for i in range(len(x)):
        for t in range(len(trees.root)):
            node = trees.root[t]
            while trees.column[node] >= 0:
                below = x[i, trees.column[node]] <= trees.threshold[node]
                child = trees.left[node] if below else trees.right[node]
                for j in range(trees.value.shape[1]):
                    out[i, trees.column[node], trees.output[t] + j] += trees.value[child, j] - trees.value[node, j]
                node = child
