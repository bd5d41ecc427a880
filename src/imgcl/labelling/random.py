"""``random``: nodes drawn evenly, as a yardstick and as an unbiased sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl._core.seeding import generator
from imgcl.labelling.task import LabellingTask


def random(task: LabellingTask) -> NDArray[np.int64]:
    """Random nodes. What is measured on them holds for all nodes, which no other strategy can say."""
    return generator(task.seed, "random").permutation(task.open)[: task.budget]
