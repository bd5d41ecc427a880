"""``auto``: cover first, then rare and uncertain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from imgcl._core.progress import stage
from imgcl.labelling.cover import cover
from imgcl.labelling.task import LabellingTask
from imgcl.labelling.uncertain import uncertain
from imgcl.labelling.validation import cross_validate, labelled_nodes, stands_for

FOLDS = 5
PER_CLASS = 5  # labels for each class found; 2 to 5 do alike on Photo and Cora, 8 is worse
SKILL = 0.5  # share of the way from guessing to perfect; Photo and Cora are above 0.6, tolokers is at 0.2


def auto(task: LabellingTask) -> NDArray[np.int64]:
    """``cover`` until there are five labels for each class found and they can be told apart; then ``uncertain``.

    Classes can be told apart when the cross-validated macro recall is at least half the way from guessing (1/K) to 1:
    where it is not, what the classifier hesitates about says little. A batch that passes the mark of five labels is
    filled with both.
    """
    first = covered_first(task)
    if first >= task.budget:
        return cover(task)
    start = cover(replace(task, budget=first)) if first else np.empty(0, dtype=np.int64)
    asked = task.asked.copy()
    asked[start] = True
    return np.concatenate([start, uncertain(replace(task, budget=task.budget - first, asked=asked))])


def covered_first(task: LabellingTask) -> int:
    """How many nodes of the batch ``cover`` chooses."""
    if not task.can_expect or not _told_apart(task):
        return task.budget
    return int(np.clip(PER_CLASS * task.labels.n_classes - task.labels.sizes.sum(), 0, task.budget))


def _told_apart(task: LabellingTask) -> bool:
    known = labelled_nodes(task.labels.codes, task.seed)
    weights = stands_for(task.rows, known, task.seed)
    with stage("", FOLDS, weight=0.1):  # clustering takes longer
        found = cross_validate(task.rows[known], task.labels.codes[known], FOLDS, weights=weights, seed=task.seed)
    chance = 1 / task.labels.n_classes
    return found is not None and (found.macro - chance) / (1 - chance) >= SKILL
