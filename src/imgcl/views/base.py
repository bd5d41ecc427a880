"""What a view is: a random change of a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from imgcl.block import Block


class View(Protocol):
    """A random change of a block; all its randomness comes from the generator."""

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        """Return the changed block; the given one stays as it is."""
        ...


class Compose:
    """Views applied one after the other; without any, the identity."""

    def __init__(self, views: Sequence[View]) -> None:
        self.views = tuple(views)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        for view in self.views:
            block = view(block, generator)
        return block


def draw_seed(generator: torch.Generator) -> int:
    """A seed for the counter-based kernels, drawn from the generator."""
    return int(torch.randint(0, 2**63 - 1, (1,), generator=generator, dtype=torch.int64))
