"""A small problem with the traits of the real ones: long-tailed classes that overlap."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from imgcl.evaluation import trees

SIZES = (400, 200, 120, 80)


@pytest.fixture(scope="session")
def blobs() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Embeddings (800, 12) and labels; class sizes 400, 200, 120 and 80."""
    rng = np.random.default_rng(7)
    y = np.repeat(np.arange(len(SIZES)), SIZES)
    centres = 1.1 * rng.standard_normal((len(SIZES), 12))
    Z = centres[y] + rng.standard_normal((len(y), 12))
    return Z.astype(np.float32), y


@pytest.fixture(autouse=True)
def small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer trees: the tests ask how they are used, not how good they are."""
    monkeypatch.setattr(trees, "FOREST", 20)
    monkeypatch.setattr(trees, "ROUNDS", 20)
