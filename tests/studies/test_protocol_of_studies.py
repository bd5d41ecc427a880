"""How a study draws its splits."""

import numpy as np

from imgcl.imbalance import random_splits
from imgcl.studies.protocol import ORDINARY, Embedded, Protocol


def test_ordinary_splits_stand_in_the_place_of_a_law() -> None:
    labels = np.array([0, 1] * 50)
    splits = Embedded(np.ones((100, 2), dtype=np.float32), labels).splits(
        Protocol(imbalance=ORDINARY, splits=3, seed=5)
    )
    expected = random_splits(labels, splits=3, random_state=5)
    assert [split.test.tolist() for split in splits] == [split.test.tolist() for split in expected]
