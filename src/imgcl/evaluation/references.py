"""What an embedding has to beat: a node's own features, and propagated ones, on the same splits and classifiers.

And trees on own features, on the first splits: on tables few methods beat them, and where they win without the graph,
the graph did not help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from imgcl._core.progress import stage
from imgcl._core.terminal import printable
from imgcl.evaluation.comparison import compare
from imgcl.evaluation.intervals import Estimate
from imgcl.evaluation.protocol import evaluate
from imgcl.evaluation.render import align, shown_columns, table_cell
from imgcl.evaluation.results import EvaluationResult, combine

OWN = "own"
TITLES = {OWN: "own features", "neighbours": "propagated features"}  # of blocks, as rows of tables
TREES = "trees"
TREE_SPLITS = 3  # trees are slow on many columns, and a sentence needs no more
TITLE_OF = {"accuracy": "accuracy", "auprc": "AUPRC", "macro_f1": "macro-F1"}  # metrics that verdicts compare


@dataclass(frozen=True, eq=False)
class References:
    """Evaluations that cost no training, to see beside that of an embedding; ``print`` it for a table.

    Attributes:
        results: by what the row is called; all with the classifiers and splits of the embedding's evaluation.
        note: why there are none, or what they are made of.
        trees: the classifier ``trees`` on own features alone, on the first splits; ``None`` without own features.

    Example:
        >>> import numpy as np
        >>> y, rng = np.repeat([0, 1, 2], 60), np.random.default_rng(0)
        >>> Z, X = np.eye(3)[y] + rng.standard_normal((2, 180, 3))
        >>> options = {"imbalance": "exp:5", "classifier": "plain", "splits": 3}
        >>> found = evaluate_references({"own": X}, y, **options)
        >>> print(found.verdict(evaluate(Z, y, **options)))
        The embedding does not clearly beat own features (plain -6.3 [-26.6, +14.0] points): difference in accuracy ...
    """

    results: Mapping[str, EvaluationResult] = field(default_factory=dict)
    note: str | None = None
    trees: EvaluationResult | None = None

    def verdict(self, result: EvaluationResult, name: str = "The embedding") -> str | None:
        """Sentences: where an evaluation is not clearly better than a reference, where trees without the graph win.

        ``None`` when it beats all.

        Better is an accuracy whose paired difference has a 95 % interval above 0 (with a single split: is above 0).
        Where test nodes are not balanced, accuracy rewards ignoring rare classes: there it is the mean AUPRC, or the
        macro-F1 where a classifier gives no probabilities.

        Args:
            result: of the embedding, on the same splits.
            name: what to call it.
        """
        metric = _compared(result)
        lost = {title: self._lost(reference, result, metric) for title, reference in self.results.items()}
        texts = [f"{title} ({', '.join(points)} points)" for title, points in lost.items() if points]
        difference = f"difference in {TITLE_OF[metric]} [95 % interval]."
        said = [f"{name} does not clearly beat {' and '.join(texts)}: {difference}"] if texts else []
        return " ".join([*said, *self._trees_win(result, metric, name)]) or None

    def _trees_win(self, result: EvaluationResult, metric: str, name: str) -> list[str]:
        """A sentence where trees on own features are better than the embedding with its best classifier."""
        if self.trees is None:
            return []
        theirs = float(np.nanmean(self.trees.values(TREES, metric)))
        splits = set(self.trees.of(TREES).splits.tolist())
        ours = {each: _mean_on(result, each, metric, splits) for each in result.classifiers}
        best = max(ours, key=lambda each: ours[each])
        if theirs <= ours[best]:
            return []
        figures = f"{TITLE_OF[metric]} {100 * theirs:.1f} against {100 * ours[best]:.1f} ({best}), {len(splits)} splits"
        return [f"Trees on own features, without the graph, do better than {name.replace('The ', 'the ')}: {figures}."]

    def _lost(self, reference: EvaluationResult, result: EvaluationResult, metric: str) -> list[str]:
        """Classifiers with which the reference is not beaten, with the difference."""
        effects = compare(_for_seeds(reference, result), result, metrics=(metric,)).effects
        return [f"{name} {row[metric].points()}" for name, row in effects.items() if not is_better(row[metric])]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: :meth:`imgcl.evaluation.EvaluationResult.to_dict` of every row, and the note."""
        trees = {} if self.trees is None else self.trees.to_dict()
        rows = {title: result.to_dict() for title, result in self.results.items()}
        return {"rows": rows, **trees, "note": self.note}

    def __str__(self) -> str:
        parts = [self._table()] if self.results else []
        return printable("\n".join([*parts, *([self.note] if self.note else [])]))

    def _table(self) -> str:
        columns = shown_columns(next(iter(self.results.values())))
        rows = [
            [f"{title}, {name}", *(table_cell(result, name, metric) for metric in columns)]
            for title, result in self.results.items()
            for name in result.classifiers
        ]
        return "\n".join(align(["to beat, without training", *columns.values()], rows))


def evaluate_references(
    blocks: Mapping[str, ArrayLike], y: ArrayLike, *, note: str | None = None, **options: Any
) -> References:
    """Evaluate blocks of features, each alone.

    Args:
        blocks: features by name of the block: ``own``, ``neighbours``; others are not evaluated.
        y: labels.
        note: what to tell the reader.
        **options: those of :func:`imgcl.evaluation.evaluate`; the ceiling is left out.
    """
    options = {**options, "ceiling": 0}
    rows = {title: {name: blocks[name]} for name, title in TITLES.items() if name in blocks}
    found = {}
    with stage("to beat, without training", len(rows) + (OWN in blocks)):
        for title, x in rows.items():
            with stage(title):
                found[title] = evaluate(x, y, **options)
        if OWN not in blocks:
            return References(found, note)
        with stage("trees on own features"):
            return References(found, note, _trees(blocks[OWN], y, options))


def _trees(own: ArrayLike, y: ArrayLike, options: Mapping[str, Any]) -> EvaluationResult:
    """The classifier ``trees`` on own features, on the first splits."""
    splits = options.get("splits", 20)
    some = min(splits, TREE_SPLITS) if isinstance(splits, int) else list(splits)[:TREE_SPLITS]
    return evaluate({OWN: own}, y, **{**options, "classifier": TREES, "splits": some, "probe": "batched"})


def _mean_on(result: EvaluationResult, classifier: str, metric: str, splits: set[int]) -> float:
    """Mean of a metric over some splits, all seeds."""
    used = np.isin(result.of(classifier).splits, list(splits))
    return float(np.nanmean(result.values(classifier, metric)[used]))


def _compared(result: EvaluationResult) -> str:
    """The metric that a verdict compares."""
    scores = result.of(result.classifiers[0])
    if (scores.test_nodes == scores.test_nodes[:, :1]).all():
        return "accuracy"
    return "auprc" if all(each.ranking for each in result.scores.values()) else "macro_f1"


def is_better(difference: Estimate) -> bool:
    """Whether a difference is clearly positive.

    Example:
        >>> is_better(Estimate(0.1, 0.02, (0.05, 0.15))), is_better(Estimate(0.1, 0.4, (-0.2, 0.4)))
        (True, False)
    """
    if difference.mean is None:
        return False
    return difference.mean > 0 if difference.ci95 is None else difference.ci95[0] > 0


def _for_seeds(reference: EvaluationResult, result: EvaluationResult) -> EvaluationResult:
    """A reference has no pre-training: it is the same for every seed of the result."""
    seeds = set(result.of(result.classifiers[0]).seeds.tolist())
    repeated: Sequence[EvaluationResult] = [reference] * len(seeds)
    return combine(repeated) if len(seeds) > 1 else reference
