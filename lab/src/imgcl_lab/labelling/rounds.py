"""A labelling from the first batch to the last, with the true labels as answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.seeding import derive
from imgcl.evaluation import class_groups
from imgcl.evaluation.labels import Labels
from imgcl.graph import Graph
from imgcl.labelling import STRATEGIES, LabellingTask, Strategy
from imgcl.labelling.expected import fit
from imgcl.labelling.search import search
from imgcl_lab.labelling import rivals

Nodes = NDArray[np.int64]
PER_CLASS = (2, 4, 5, 8, 16, 32)
ONE_BATCH: dict[str, Strategy] = {
    "random": STRATEGIES["random"],
    "degree": rivals.degree,
    "pagerank": rivals.pagerank,
    "k-means++": rivals.plus_plus,
    "core-set": rivals.core_set,
    "featprop": rivals.featprop,
    "balanced": STRATEGIES["balanced"],
    "cover": STRATEGIES["cover"],
}
IN_ROUNDS: dict[str, tuple[str, Strategy]] = {  # the first batch, and what follows
    "margin": ("random", rivals.margin),
    "age": ("random", rivals.age),
    "uncertain": ("cover", STRATEGIES["uncertain"]),
    "auto": ("cover", STRATEGIES["auto"]),
}
LARGE_ROUNDS = {"auto"}  # from one budget to the next at once, as a user would; the others: one node per class a round
FIRST, STEP, LOOKS = 40, 10, 200  # of a search: labels to begin with, and how many are looked at


@dataclass(frozen=True, eq=False)
class Case:
    """A graph to label: rows of its nodes, and the truth."""

    graph: Graph
    rows: NDArray[np.float32]
    y: NDArray[np.int64]
    seed: int

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    def task(self, chosen: Nodes, budget: int) -> LabellingTask:
        """What a strategy sees after the chosen nodes are labelled."""
        codes = np.full(len(self.y), -1, dtype=np.int64)
        found, codes[chosen] = np.unique(self.y[chosen], return_inverse=True)
        asked = self.y < 0  # nodes without a true label cannot be answered
        asked[chosen] = True
        labels = Labels(codes, tuple(map(str, found)))
        seed = derive(self.seed, "round", len(chosen))
        return LabellingTask(self.rows, labels, asked, budget, seed, lambda: self.graph, self.n_classes)


def batches(case: Case, strategy: str, budgets: Sequence[int]) -> list[Nodes]:
    """The nodes labelled by each budget.

    A strategy that needs no labels chooses every budget at once. The others begin with the smallest budget and go on in
    rounds up to each larger one; those of imgcl begin with ``cover``.
    """
    nothing = np.empty(0, dtype=np.int64)
    if strategy in ONE_BATCH:
        return [_choose(ONE_BATCH[strategy], case, nothing, budget) for budget in budgets]
    first, follow = IN_ROUNDS[strategy]
    chosen, found = _choose(ONE_BATCH[first], case, nothing, budgets[0]), []
    size = max(budgets) if strategy in LARGE_ROUNDS else case.n_classes
    for budget in budgets:
        while len(chosen) < budget:
            step = follow if len(np.unique(case.y[chosen])) > 1 else ONE_BATCH[first]
            chosen = np.concatenate([chosen, _choose(step, case, chosen, min(size, budget - len(chosen)))])
        found.append(chosen)
    return found


def _choose(strategy: Callable[[LabellingTask], Nodes], case: Case, chosen: Nodes, budget: int) -> Nodes:
    task = case.task(chosen, budget)
    picked = np.asarray(strategy(task))
    return picked[~task.asked[picked]][:budget]


def scores(case: Case, chosen: Nodes) -> dict[str, float]:
    """Macro recall and tail recall over all other labelled nodes, and the share of classes found."""
    known = case.y >= 0
    rest = known.copy()
    rest[chosen] = False
    found = np.unique(case.y[chosen])
    predicted = (
        np.full(int(rest.sum()), found[0])
        if len(found) < 2
        else fit(case.rows[chosen], case.y[chosen]).predict(case.rows[rest])
    )
    right = np.bincount(case.y[rest], predicted == case.y[rest], minlength=case.n_classes)
    total = np.bincount(case.y[rest], minlength=case.n_classes)
    with np.errstate(invalid="ignore"):
        recall = right / total
    tail = np.array(class_groups(np.bincount(case.y[known], minlength=case.n_classes)).of_class()) == "tail"
    return {
        "macro": float(np.nanmean(recall)),
        "tail": float(np.nanmean(recall[tail])) if tail.any() else float("nan"),
        "found": len(found) / int((np.bincount(case.y[known]) > 0).sum()),
    }


def positives(case: Case, strategy: str, looks: Sequence[int]) -> dict[str, Any]:
    """Nodes of the rarer class found within numbers of looks: ``search`` after a first batch, or ``random``."""
    rare = int(np.bincount(case.y[case.y >= 0]).argmin())
    nothing = np.empty(0, dtype=np.int64)
    if strategy == "random":
        chosen = _choose(STRATEGIES["random"], case, nothing, max(looks))
    else:
        chosen = _choose(STRATEGIES["cover"], case, nothing, FIRST)
        while len(chosen) < max(looks):
            chosen = np.concatenate([chosen, _next_looks(case, chosen, rare)])
    return {str(n): int((case.y[chosen[:n]] == rare).sum()) for n in looks}


def _next_looks(case: Case, chosen: Nodes, rare: int) -> Nodes:
    seen = np.unique(case.y[chosen])
    if rare not in seen or len(seen) < 2:
        return _choose(STRATEGIES["cover"], case, chosen, STEP)
    return _choose(lambda task: search(task, str(rare)), case, chosen, STEP)
