"""How far am I: classes found, what a classifier makes of the labels so far, and whether more labels pay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.progress import stage
from imgcl._core.seeding import RandomState, as_seed
from imgcl.evaluation.blocks import Blocks
from imgcl.evaluation.intervals import Estimate
from imgcl.evaluation.labels import Labels
from imgcl.labelling.inputs import check_count, read_source
from imgcl.labelling.validation import REPEATS, CrossValidated, cross_validate, labelled_nodes, stands_for

FOLDS = (2, 3, 5, 10)  # training on 1/2, 2/3, 4/5 and 9/10 of the labels: four points of the learning curve
ENOUGH = 1_000  # held-out answers that an estimate stands on: with many labels fewer repeats give them
WORTH = 0.01  # macro recall that a batch should bring
USUAL = 50  # labels that a smaller batch is judged by: ten labels seldom bring a point, five times ten may


@dataclass(frozen=True, eq=False)
class Progress:
    """Where a labelling stands.

    Attributes:
        counts: labels of each class found, the most frequent first.
        asked: nodes suggested so far, labelled or not.
        recall: cross-validated macro recall over the labelled nodes, without classes that have one label; its mean is
            ``None`` while all classes have one.
        curve: number of labels trained on, and macro recall with so many.
        batch: number of further labels that ``gain`` speaks of.
        gain: macro recall that a further batch should bring, from the learning curve; ``None``: cannot be told yet.
        unseen: chance that a further label is of a class not found yet (Good and Turing: single labels / labels).
    """

    counts: Mapping[str, int]
    asked: int
    recall: Estimate
    curve: tuple[tuple[float, float], ...]
    batch: int
    gain: float | None
    unseen: float | None

    @property
    def labels(self) -> int:
        """Number of labels."""
        return sum(self.counts.values())

    @property
    def worth_it(self) -> bool | None:
        """Whether labelling on pays: a gain of a point of macro recall, or a class that may be missing still.

        It is that of a further batch, or of fifty labels where the batch is smaller.
        """
        if self.gain is None or self.unseen is None:
            return None
        more = max(self.batch, USUAL)
        return gain(self.curve, self.labels, more) >= WORTH or self.unseen * more >= 1

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> list[str]:
        """What to tell the user, a sentence each."""
        classes = ", ".join(f"{name} {count}" for name, count in self.counts.items())
        left = f" ({self.asked - self.labels} left open)" if self.asked > self.labels else ""
        found = f"{self.labels} labels of {len(self.counts)} classes{left}"
        said = [f"{found}: {classes}" if classes else found]
        if self.recall.mean is None or self.recall.ci95 is None:
            return [
                *said,
                "macro recall cannot be estimated yet: it needs labels of two classes, and two of one of them",
            ]
        low, high = (100 * end for end in self.recall.ci95)
        judged = sum(count > 1 for count in self.counts.values())
        whole = judged == len(self.counts)
        without = "" if whole else f" ({judged} of {len(self.counts)} classes: the others have one label)"
        said.append(
            f"macro recall {100 * self.recall.mean:.1f} % [{low:.1f}, {high:.1f}], cross-validated over these labels"
            f"{without}"
        )
        return [*said, self._advice()] if self.gain is not None else said

    def _advice(self) -> str:
        gain, unseen = 100 * (self.gain or 0.0), 100 * (self.unseen or 0.0)
        verdict = "worth it" if self.worth_it else "hardly worth it"
        missing = f"; {unseen:.0f} % of further labels may be of a new class" if unseen >= 0.5 else ""
        return f"another {self.batch} labels: about {gain:+.1f} points{missing}: {verdict}"


def progress(
    embedding: Any,
    labels: Any,
    *,
    batch: int | None = None,
    node_names: Any = None,
    random_state: RandomState = 0,
) -> Progress:
    """How far a labelling is, and whether another batch pays.

    The recall is that of a class-weighted logistic regression on labelled nodes that it did not see, each counted as
    often as there are nodes that it is the nearest labelled one of. Even so it is on the low side: labels were spent
    where nodes differ or are hard.

    Args:
        embedding: as in :func:`imgcl.suggest`.
        labels: as in :func:`imgcl.suggest`.
        batch: size of the further batch; by default as many labels as there are.
        node_names: names of the nodes, where the embedding is not a run that knows them.
        random_state: seed of the folds.

    Example:
        >>> Z = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9], [0.2, 1.0]])
        >>> print(progress(Z, {0: "tea", 1: "tea", 2: "salt", 3: "salt"}))
        4 labels of 2 classes: salt 2, tea 2
        macro recall 100.0 % [73.0, 100.0], cross-validated over these labels
        another 4 labels: about +0.0 points: hardly worth it
    """
    if batch is not None:
        check_count(batch, "batch", "labels")
    source = read_source(embedding, node_names=node_names)
    known, asked = source.read_labels(labels)
    rows = Blocks.of(source.embedding, source.n_nodes).rows
    return measure(rows, known, int(asked.sum()), batch, as_seed(random_state))


def measure(rows: NDArray[np.float32], labels: Labels, asked: int, batch: int | None, seed: int) -> Progress:
    """The progress of a labelling of all rows."""
    counts = {labels.names[k]: int(labels.sizes[k]) for k in np.argsort(-labels.sizes, kind="stable")}
    n, nodes = int(labels.sizes.sum()), labelled_nodes(labels.codes, seed)
    batch = max(1, n) if batch is None else batch
    found = _curve(rows, labels, nodes, seed) if n else {}
    if not found:
        return Progress(counts, asked, Estimate(None, None, None), (), batch, None, None)
    curve = tuple((len(nodes) * (1 - 1 / folds), each.macro) for folds, each in found.items())
    recall, unseen = found[FOLDS[-1]].estimate(), float((labels.sizes == 1).sum()) / n
    return Progress(counts, asked, recall, curve, batch, gain(curve, n, batch), unseen)


def _curve(rows: NDArray[np.float32], labels: Labels, nodes: NDArray[np.int64], seed: int) -> dict[int, CrossValidated]:
    """The recall with every number of folds; empty where nothing can be left out."""
    own, codes, weights = rows[nodes], labels.codes[nodes], stands_for(rows, nodes, seed)
    rules: dict[str, Any] = {"weights": weights, "repeats": repeats_for(len(nodes)), "seed": seed}
    with stage("recall so far", sum(FOLDS)):
        found = {folds: cross_validate(own, codes, folds, **rules) for folds in FOLDS}
    return {folds: each for folds, each in found.items() if each is not None}


def repeats_for(labels: int) -> int:
    """How many times folds are drawn: four times up to 250 labels, once from 1,000 on.

    Example:
        >>> [repeats_for(labels) for labels in (40, 250, 600, 2_000)]
        [4, 4, 2, 1]
    """
    return int(np.clip(-(-ENOUGH // labels), 1, REPEATS))


def gain(curve: tuple[tuple[float, float], ...], labels: int, batch: int) -> float:
    """What ``batch`` further labels bring if the curve goes on: recall rises by a fixed amount per doubling.

    Example:
        >>> round(gain(((50, 0.70), (100, 0.75)), labels=100, batch=100), 3)
        0.05
    """
    sizes, recalls = (np.array(values) for values in zip(*curve, strict=True))
    slope = float(np.polyfit(np.log2(sizes), recalls, 1)[0])
    return float(np.clip(slope * np.log2((labels + batch) / labels), 0.0, 1.0 - recalls[-1]))
