"""Is one method better than another? Differences on the same splits, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl.evaluation.intervals import Estimate, estimate
from imgcl.evaluation.pairing import check_paired
from imgcl.evaluation.render import COLUMNS, align
from imgcl.evaluation.results import EvaluationResult, Scores

METRICS = tuple(COLUMNS)


@dataclass(frozen=True)
class Effects:
    """Named differences, each for several metrics; ``print`` it for a table in percentage points.

    Attributes:
        effects: by name, then by metric.
        notes: what a reader should know, for example that an old result does not say which nodes it was made on.
    """

    effects: dict[str, dict[str, Estimate]]
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: tuple[str, str]) -> Estimate:
        return self.effects[key[0]][key[1]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fractions."""
        return {name: {metric: e.to_dict() for metric, e in row.items()} for name, row in self.effects.items()}

    def __str__(self) -> str:
        metrics = list(next(iter(self.effects.values())))
        rows = [[name, *(row[metric].points() for metric in metrics)] for name, row in self.effects.items()]
        title = "difference in percentage points, 95 % interval"
        return "\n".join([title, "", *align(["", *(COLUMNS[metric] for metric in metrics)], rows), *self.notes])


def compare(
    a: EvaluationResult,
    b: EvaluationResult,
    classifiers: tuple[str, ...] | None = None,
    metrics: tuple[str, ...] = METRICS,
) -> Effects:
    """What ``b`` gains over ``a`` on the same splits and seeds, paired cell by cell.

    Args:
        a: the reference.
        b: the other method.
        classifiers: which to compare; by default those that both results have.
        metrics: which to compare.

    Raises:
        InputError: when the results have no classifier in common, or differ in labels, training, validation or test
            nodes, or the probe.

    Example:
        >>> import numpy as np
        >>> from imgcl.evaluation import evaluate
        >>> y, rng = np.repeat([0, 1, 2], 60), np.random.default_rng(0)
        >>> noise = rng.standard_normal((180, 3))
        >>> results = [evaluate(np.eye(3)[y] + s * noise, y, "exp:5", "plain", splits=3) for s in (1, 0)]
        >>> compare(*results)["plain", "accuracy"].mean > 0
        True
    """
    shared = tuple(name for name in a.classifiers if name in b.scores) if classifiers is None else classifiers
    if not shared:
        raise InputError(f"no classifier in common: {', '.join(a.classifiers)} and {', '.join(b.classifiers)}")
    notes = check_paired(a, b, zip(shared, shared, strict=True))
    return Effects(
        {
            name: {metric: _paired(a.of(name), b.values(name, metric) - a.values(name, metric)) for metric in metrics}
            for name in shared
        },
        notes,
    )


def attribution(
    plain_pretrain: EvaluationResult,
    imgcl_pretrain: EvaluationResult,
    classifiers: tuple[str, str] = ("plain", "pbs"),
    metrics: tuple[str, ...] = METRICS,
) -> Effects:
    """Who earned the gain? The 2 x 2 of (pre-training without/with ImGCL) x (plain/balanced classifier).

    Args:
        plain_pretrain: evaluation of the embedding trained without balancing.
        imgcl_pretrain: evaluation of the embedding trained with ImGCL, on the same splits and seeds.
        classifiers: the classifier without balancing and the one with.
        metrics: which to compare.

    Returns:
        ``pre-training`` (with minus without ImGCL, averaged over both classifiers), ``classifier`` (balanced minus
        plain, averaged over both pre-trainings), ``interaction`` (what balancing both gives beyond the sum), ``both``
        (the paper's comparison: from neither to both).
    """
    low, high = classifiers
    cells = plain_pretrain.of(low)
    notes = check_paired(plain_pretrain, imgcl_pretrain, product(classifiers, classifiers))
    rows: dict[str, dict[str, Estimate]] = {name: {} for name in ("pre-training", "classifier", "interaction", "both")}
    for metric in metrics:
        v00, v01 = (plain_pretrain.values(name, metric) for name in (low, high))
        v10, v11 = (imgcl_pretrain.values(name, metric) for name in (low, high))
        differences = {
            "pre-training": ((v10 - v00) + (v11 - v01)) / 2,
            "classifier": ((v01 - v00) + (v11 - v10)) / 2,
            "interaction": (v11 - v10) - (v01 - v00),
            "both": v11 - v00,
        }
        for name, difference in differences.items():
            rows[name][metric] = _paired(cells, difference)
    return Effects(rows, notes)


def _paired(cells: Scores, differences: NDArray[np.float64]) -> Estimate:
    return estimate(differences, cells.seeds, cells.splits)
