"""``search:CLASS``: find more nodes of one class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean
from imgcl.labelling.expected import class_probability
from imgcl.labelling.task import LabellingTask


def search(task: LabellingTask, wanted: str) -> NDArray[np.int64]:
    """The nodes that most probably are of a class, the most probable first.

    Ask for small batches (ten) and hand the labels back: every answer moves the next batch.

    Args:
        task: with labels of that class and of another one.
        wanted: name of the class.
    """
    names = task.labels.names
    if wanted not in names:
        hint = did_you_mean(wanted, names) if names else ", nor of any other"
        raise InputError(f"there is no label of class {wanted!r} yet{hint}; begin with `strategy='cover'`")
    if not task.can_expect:
        raise InputError(
            f"all labels are {wanted!r}: a search needs a label of another class; begin with `strategy='cover'`"
        )
    chance = class_probability(task.rows, task.labels.codes, names.index(wanted))
    return task.open[np.argsort(-chance[task.open], kind="stable")[: task.budget]]
