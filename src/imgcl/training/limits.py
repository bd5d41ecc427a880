"""What contrastive learning needs to begin with, and what it must not end with."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.capacity import check_memory
from imgcl._core.errors import InputError, TrainingError
from imgcl.balance import BalanceSettings
from imgcl.encoders import ENCODERS
from imgcl.graph import Graph
from imgcl.methods import MethodSettings
from imgcl.methods.parts import EncoderSettings
from imgcl.training.batches import anchors_of_a_step
from imgcl.training.settings import TrainingSettings

LEAST = 2  # nodes: a loss that compares nodes, and a norm over them, have nothing to say about one
ROWS_AT_ONCE = 1 << 16
IF_NOT_FINITE = "try a smaller learning rate (lr) or normalised features (normalise='row')"
SIZES = ("dim", "layers", "projection", "predictor")  # settings that decide how many weights there are
NUMBER = 4  # bytes of a float32
LAYER = 4096  # bytes of the Python objects of a layer


def check_has_features(graph: Graph) -> None:
    """Refuse a graph whose nodes have no features.

    Example:
        >>> check_has_features(Graph.from_edges([[0], [1]]))
        Traceback (most recent call last):
        imgcl.InputError: graph 'graph' has no features: load_graph(graph) makes structural ones from its edges
    """
    if not graph.n_features:
        raise InputError(
            f"graph {graph.name!r} has no features: load_graph(graph) makes structural ones from its edges"
        )


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
            f"least {LEAST} nodes, so use a fraction of at least {LEAST / n:.3g} (`balance='fraction=…'`) or "
            "`balance=None`"
        )


def check_memory_of_training(
    settings: MethodSettings, graph: Graph, training: TrainingSettings, device: torch.device
) -> None:
    """Refuse widths and layers whose weights and hidden rows are larger than the memory, before they are allocated."""
    if not isinstance(settings, EncoderSettings) or settings.encoder not in ENCODERS:
        return  # a method or encoder of the user: its settings may mean anything
    rows = min(anchors_of_a_step(graph, training) or graph.n_nodes, graph.n_nodes)
    available = torch.cuda.get_device_properties(device).total_memory if device.type == "cuda" else None
    sizes = ", ".join(f"{name}={value}" for name, value in _sizes(settings).items())
    what = f"training with {sizes} on {graph.n_features:,} features"
    check_memory(what, least_memory(settings, graph.n_features, rows), "choose smaller ones", available)


def least_memory(settings: EncoderSettings, n_features: int, rows: int) -> int:
    """Bytes that a training step needs at least.

    Every weight is there four times (itself, its gradient and Adam's two moments), every layer's rows once.

    Example:
        >>> least_memory(EncoderSettings(dim=4, layers=1), n_features=10, rows=100)
        6336
    """
    dim, layers, *beside = _sizes(settings).values()
    weights = n_features * dim + (layers - 1) * dim**2 + sum(2 * dim * width for width in beside)
    return 4 * NUMBER * weights + NUMBER * layers * rows * dim + LAYER * layers


def _sizes(settings: EncoderSettings) -> dict[str, int]:
    return {name: getattr(settings, name) for name in SIZES if hasattr(settings, name)}


def check_enough_rows(n: int) -> None:
    """Refuse a step whose draw, or whose rank's share of it, has fewer than two rows."""
    if n < LEAST:
        raise TrainingError(
            f"a step has {n or 'no'} row{'' if n == 1 else 's'} to contrast, at least {LEAST} are needed: "
            "select a larger fraction (`balance='fraction=…'`), or use fewer processes"
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
