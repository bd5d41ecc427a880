import math

import pytest

from imgcl.training.optimiser import learning_rate_factor
from imgcl.training.settings import TrainingSettings


def test_warm_up_is_linear_in_epochs_or_as_a_share():
    by_epochs = TrainingSettings(epochs=50, warm_up=5)
    by_share = TrainingSettings(epochs=50, warm_up=0.1)
    for settings in (by_epochs, by_share):
        assert [learning_rate_factor(epoch, settings) for epoch in range(5)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


def test_cosine_ends_near_zero_and_passes_one_half_in_the_middle():
    settings = TrainingSettings(epochs=110, warm_up=10)
    assert learning_rate_factor(60, settings) == pytest.approx(0.5)
    assert learning_rate_factor(109, settings) == pytest.approx(0.5 * (1 + math.cos(math.pi * 0.99)))


def test_constant_without_warm_up_stays_at_one():
    settings = TrainingSettings(epochs=10, warm_up=0, schedule="constant")
    assert {learning_rate_factor(epoch, settings) for epoch in range(10)} == {1.0}
