"""Embeddings whose clusters are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray


@pytest.fixture
def groups() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Six groups of 40, 30, 20, 10, 6 and 4 nodes, in shuffled order, and the group of each node."""
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat(np.arange(6), [40, 30, 20, 10, 6, 4]))
    rows = np.eye(6)[group] + 0.05 * rng.standard_normal((len(group), 6))
    return rows.astype(np.float32), group
