"""What a view is: a random change of a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from imgcl._core.errors import InputError
from imgcl.graph.block import Block


class View(Protocol):
    """A random change of a block; all its randomness comes from the generator.

    Any function of a block and a generator is one. A view changes edges, features or both, and keeps the nodes: row i
    of both views is the same node.

    Example:
        >>> from dataclasses import replace
        >>> def flip_signs(block, generator):
        ...     mask = torch.randint(2, (block.features.shape[1],), generator=generator) * 2.0 - 1
        ...     return replace(block, column_mask=mask)
        >>> import imgcl
        >>> graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
        >>> model = imgcl.ImGCL(views=flip_signs, n_clusters=2, epochs=5, settings={"dim": 8})
        >>> model.fit_transform(graph).shape
        (80, 8)
    """

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        """Return the changed block; the given one stays as it is."""
        ...


class Compose:
    """Views applied one after the other.

    Args:
        views: in the order of their application.

    Example:
        >>> from imgcl.views import Compose, EdgeRemoving, FeatureMasking
        >>> view = Compose([EdgeRemoving(0.4), FeatureMasking(0.1)])
        >>> len(view.views)
        2
    """

    def __init__(self, views: Sequence[View]) -> None:
        self.views = tuple(views)

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        for view in self.views:
            block = view(block, generator)
        return block


class Identity:
    """The block as it is.

    Example:
        >>> import numpy as np
        >>> from imgcl import Graph
        >>> block = Block.from_graph(Graph.from_edges([[0], [1]], x=np.eye(2)))
        >>> Identity()(block, torch.Generator()) is block
        True
    """

    def __call__(self, block: Block, generator: torch.Generator) -> Block:
        return block


def draw_seed(generator: torch.Generator) -> int:
    """A seed for the counter-based kernels, drawn from the generator."""
    return int(torch.randint(0, 2**63 - 1, (1,), generator=generator, dtype=torch.int64))


def draw_kept(n: int, p: float, generator: torch.Generator) -> Tensor:
    """Which of n things stay when each goes with probability p (on the CPU, so that devices agree)."""
    return torch.rand(n, generator=generator, dtype=torch.float32) >= p


def check_probability(p: float | str, name: str = "p") -> float:
    """The probability, if it is one."""
    if isinstance(p, str) or not 0 <= p <= 1:
        raise InputError(f"{name} = {p!r}: a probability lies between 0 and 1")
    return float(p)
