"""What the journal says of a row: figures over seeds x splits, and differences between rows on the same splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl.evaluation import Estimate, estimate
from imgcl.studies.results import Results
from imgcl_lab.graphs.rows import OWN, PROPAGATED, Row, label

BEST = "best"


@dataclass(frozen=True, eq=False)
class Found:
    """The results of a row on a graph, by seed."""

    by_seed: Mapping[int, Mapping[str, Any]]

    def values(self, classifier: str, metric: str) -> NDArray[np.float64]:
        """A metric in every split (columns) of every seed (rows); not-a-number where it has none."""
        rows = [result["values"][classifier][metric] for result in self.by_seed.values()]
        return np.array(rows, dtype=np.float64)

    def estimate(self, classifier: str, metric: str) -> Estimate:
        """Mean, standard deviation and interval of a metric."""
        return over_cells(self.values(classifier, metric))

    @property
    def cells(self) -> int:
        """Number of seeds x splits."""
        return int(self.values(BEST, "accuracy").size)

    def only(self, seeds: list[int]) -> Found:
        """The same of some seeds."""
        return Found({seed: self.by_seed[seed] for seed in seeds})


def over_cells(values: NDArray[np.float64]) -> Estimate:
    """The estimate of a table of seeds x splits.

    Example:
        >>> over_cells(np.array([[0.5, 0.7], [0.5, 0.7]])).mean
        0.6
    """
    seeds, splits = np.indices(values.shape)
    return estimate(values.ravel(), seeds.ravel(), splits.ravel())


def found(results: Results, dataset: str, row: Row) -> Found | None:
    """What is known of a row on a graph; ``None``: it was not run."""
    pairs = {point["seed"]: results.result(point) for point in results.find(dataset=dataset, row=label(row))}
    known = {seed: result for seed, result in sorted(pairs.items()) if result is not None}
    return Found(known) if known else None


def difference(first: Found, second: Found, metric: str = "accuracy", classifier: str = BEST) -> Estimate | None:
    """What the second row gains over the first, on the seeds that both have."""
    seeds = [seed for seed in first.by_seed if seed in second.by_seed]
    if not seeds:
        return None
    a, b = (each.only(seeds).values(classifier, metric) for each in (first, second))
    return over_cells(b - a)


def better_reference(results: Results, dataset: str, classifier: str = BEST) -> Found | None:
    """Own or propagated features, whichever has the higher mean accuracy on the test nodes; both must have been run."""
    both = [found(results, dataset, row) for row in (OWN, PROPAGATED)]
    known = [each for each in both if each is not None]
    if len(known) < len(both):
        return None
    return max(known, key=lambda each: each.estimate(classifier, "accuracy").mean or 0.0)


def against_reference(results: Results, dataset: str, row: Row, classifier: str = BEST) -> Estimate | None:
    """What a row gains over the better reference; ``None`` where one of them was not run."""
    reference, mine = better_reference(results, dataset, classifier), found(results, dataset, row)
    return None if reference is None or mine is None else difference(reference, mine, classifier=classifier)
