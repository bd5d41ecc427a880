"""What contrastive learning needs to begin with, and what it must not end with."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError, TrainingError
from imgcl.balance import BalanceSettings
from imgcl.graph import Graph

LEAST = 2  # nodes: a loss that compares nodes, and a norm over them, have nothing to say about one
ROWS_AT_ONCE = 1 << 16
IF_NOT_FINITE = "try a smaller learning rate (lr) or normalised features (normalise='row')"


def check_enough_nodes(graph: Graph, balance: BalanceSettings | None) -> None:
    """Refuse a graph, or a selection from it, with fewer than two nodes.

    Example:
        >>> check_enough_nodes(Graph.from_edges([[0], [1]], x=np.eye(2)), BalanceSettings(fraction=1.0))
        >>> check_enough_nodes(Graph.from_edges([[0], [1]], x=np.eye(2)), BalanceSettings(fraction=0.5))
        Traceback (most recent call last):
        imgcl.InputError: fraction 0.5 of 2 nodes selects 1: contrastive learning compares at least 2 nodes, ...
    """
    n = graph.n_nodes
    if n < LEAST:
        raise InputError(f"graph {graph.name!r} has {n} node: contrastive learning compares at least {LEAST} nodes")
    selected = n if balance is None else round(balance.fraction * n)
    if balance is not None and selected < LEAST:
        raise InputError(
            f"fraction {balance.fraction} of {n} nodes selects {selected or 'none'}: contrastive learning compares at "
            f"least {LEAST} nodes, so use a fraction of at least {LEAST / n:.3g} (--balance fraction=…) or --no-balance"
        )


def check_enough_rows(n: int) -> None:
    """Refuse a step whose draw, or whose worker's share of it, has fewer than two rows."""
    if n < LEAST:
        raise TrainingError(
            f"a step has {n or 'no'} row{'' if n == 1 else 's'} to contrast, at least {LEAST} are needed: "
            "select a larger fraction (--balance fraction=…), or use fewer workers"
        )


def check_finite_loss(loss: float, epoch: int) -> None:
    """Refuse a loss that is infinite or not a number."""
    if not math.isfinite(loss):
        raise TrainingError(f"the loss is {loss} at epoch {epoch}: training stopped; {IF_NOT_FINITE}")


def check_finite(embedding: NDArray[np.float32]) -> NDArray[np.float32]:
    """The embedding, if every number of it is finite.

    Example:
        >>> check_finite(np.zeros((2, 3), dtype=np.float32)).shape
        (2, 3)
    """
    for begin in range(0, len(embedding), ROWS_AT_ONCE):  # it may be memory-mapped
        bad = np.flatnonzero(~np.isfinite(embedding[begin : begin + ROWS_AT_ONCE]).all(axis=1))
        if len(bad):
            raise TrainingError(
                f"the embedding of node {begin + int(bad[0])} is not finite: the encoder is of no use; {IF_NOT_FINITE}"
            )
    return embedding
