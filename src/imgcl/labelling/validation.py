"""How well a classifier does on labelled nodes that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imgcl._core import seeding
from imgcl._core.progress import tracked
from imgcl.evaluation.intervals import Estimate
from imgcl.labelling.clusters import nearest
from imgcl.labelling.expected import fit

REPEATS = 4
MOST = 2_000  # labels that are cross-validated; more make it slow, and hardly more exact
SAMPLE = 1 << 16  # nodes that tell how many each label stands for
NORMAL = 1.96


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Recall on labelled nodes that the classifier did not see.

    Attributes:
        recall: of each class; NaN for a class with a single label, which is always trained on.
        labels: of each class, less where a few of them stand for most nodes (``(sum w)^2 / sum w^2`` of their weights).
    """

    recall: NDArray[np.float64]
    labels: NDArray[np.float64]

    @property
    def macro(self) -> float:
        """Mean over classes."""
        return float(np.nanmean(self.recall))

    def estimate(self) -> Estimate:
        """Macro recall with a 95 % interval that follows from the number of labels of each class.

        Each class is a proportion of its labels (Agresti and Coull: two successes and two failures are added).

        Example:
            >>> found = CrossValidated(np.array([0.75, 0.5]), np.array([16.0, 16.0])).estimate()
            >>> [round(value, 3) for value in (found.mean, *found.ci95)]
            [0.625, 0.476, 0.774]
        """
        seen = ~np.isnan(self.recall)
        share = (self.recall[seen] * self.labels[seen] + 2) / (self.labels[seen] + 4)
        deviation = float(np.sqrt((share * (1 - share) / (self.labels[seen] + 4)).sum())) / int(seen.sum())
        low, high = self.macro - NORMAL * deviation, self.macro + NORMAL * deviation
        return Estimate(self.macro, deviation, (max(0.0, low), min(1.0, high)))


def cross_validate(
    rows: NDArray[np.float32],
    codes: NDArray[np.int64],
    folds: int = 5,
    *,
    weights: NDArray[np.float64] | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> CrossValidated | None:
    """Recall of each class by repeated cross-validation over labelled rows; ``None`` where nothing can be left out.

    Args:
        rows: of the labelled nodes.
        codes: their classes, 0..K-1.
        folds: number of folds, every class spread evenly.
        weights: how many nodes each row stands for; by default all alike.
        repeats: how many times folds are drawn.
        seed: of the folds.

    Example:
        >>> rows = np.array([[0.0], [0.1], [1.0], [0.9]], dtype=np.float32)
        >>> cross_validate(rows, np.array([0, 0, 1, 1])).recall.tolist()
        [1.0, 1.0]
    """
    sizes = np.bincount(codes)
    if (sizes > 0).sum() < 2 or sizes.max() < 2:
        return None
    right = np.zeros(len(codes))
    for repeat in tracked(range(repeats), f"cross-validation, {folds} folds", "repeat", weight=folds):
        fold = _folds(codes, folds, seeding.generator(seed, "folds", folds, repeat))
        for i in np.unique(fold[fold >= 0]):
            held = fold == i
            right[held] += fit(rows[~held], codes[~held]).predict(rows[held]) == codes[held]
    share = np.ones(len(codes)) if weights is None else np.maximum(weights, 1.0)
    total = np.maximum(np.bincount(codes, share), 1.0)  # a class may be missing from a sample of the labels
    recall = np.where(sizes > 1, np.bincount(codes, right * share) / (repeats * total), np.nan)
    return CrossValidated(recall, total**2 / np.maximum(np.bincount(codes, share**2), 1.0))


def labelled_nodes(codes: NDArray[np.int64], seed: int = 0) -> NDArray[np.int64]:
    """The nodes to cross-validate on: all that have a label, or a random two thousand of them.

    Example:
        >>> labelled_nodes(np.array([0, -1, 1])).tolist()
        [0, 2]
    """
    nodes = np.flatnonzero(codes >= 0)
    if len(nodes) <= MOST:
        return nodes
    return np.sort(seeding.generator(seed, "labelled").choice(nodes, MOST, replace=False))


def stands_for(rows: NDArray[np.float32], labelled: NDArray[np.int64], seed: int = 0) -> NDArray[np.float64]:
    """How many nodes each labelled node stands for: those that have no nearer labelled one, estimated on a sample.

    Labels are not spent evenly: where the classifier hesitates there are many, and each stands for few nodes.

    Example:
        >>> stands_for(np.array([[0.0], [0.1], [0.2], [1.0]], dtype=np.float32), np.array([0, 3])).tolist()
        [3.0, 1.0]
    """
    sample = np.arange(len(rows))
    if len(rows) > SAMPLE:
        sample = np.sort(seeding.generator(seed, "stands for").choice(len(rows), SAMPLE, replace=False))
    found, _ = nearest(rows[sample], rows[labelled])
    return np.asarray(np.bincount(found, minlength=len(labelled)) * (len(rows) / len(sample)))


def _folds(codes: NDArray[np.int64], folds: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """The fold that leaves each row out; -1 for the only row of its class."""
    fold = np.full(len(codes), -1, dtype=np.int64)
    for k in np.unique(codes):
        members = generator.permutation(np.flatnonzero(codes == k))
        if len(members) > 1:
            fold[members] = (np.arange(len(members)) + generator.integers(folds)) % folds
    return fold
