"""Denormal numbers are zero while training runs, and not afterwards."""

import pytest
import torch

from imgcl.training.hardware import SMALLEST, denormals_are_zero


def half() -> float:
    return float(torch.tensor(SMALLEST) / 2)


@pytest.mark.skipif(not torch.set_flush_denormal(False), reason="this processor cannot flush denormal numbers")
def test_halves_of_the_smallest_number_are_zero_inside_and_not_outside() -> None:
    assert half() > 0
    with denormals_are_zero():
        assert half() == 0
        with denormals_are_zero():
            assert half() == 0
        assert half() == 0  # an inner block does not end the outer one
    assert half() > 0
