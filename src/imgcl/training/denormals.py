"""Numbers too small for the normal format count as zero while training runs.

Saturated activations and vanishing gradients make many of them, and a processor takes far longer for each: InfoGraph's
epochs became slower and slower as its loss came near its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALLEST = 2.0**-126  # of the normal single-precision numbers


@contextmanager
def denormals_are_zero() -> Iterator[None]:
    """In this thread, and in those it starts, denormal numbers are zero until the end of the block."""
    before = float(torch.tensor(SMALLEST) / 2) == 0
    torch.set_flush_denormal(True)  # False on processors that cannot: nothing changes there
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
