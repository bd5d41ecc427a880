"""A trained encoder, and how it reads a graph that it was not trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from imgcl._core.errors import InputError
from imgcl._core.sparse import ColumnStatistics
from imgcl._core.torch_settings import usual_torch
from imgcl.encoders.as_pyg import PyGEncoder
from imgcl.graph import Graph
from imgcl.graph.structure import is_structural
from imgcl.methods import Method
from imgcl.training.batches import MiniBatches, WholeGraph, make_batches
from imgcl.training.blocks import Reductions, apply_reductions
from imgcl.training.limits import check_finite
from imgcl.training.settings import LEARNED, TrainingSettings

SHOWN = 5  # names in an error message


@dataclass(frozen=True, eq=False)
class TrainedEncoder:
    """The encoder of a training, without its graph and its optimiser.

    Attributes:
        method: the method, whose encoder it is.
        training: how features are normalised, and which graphs are encoded by rows.
        seed: of the training.
        device: where to compute.
        feature_names: those of the training graph, if it had some.
        statistics: what columns are standardised by, with ``normalise=column``.
        scratch: directory for hidden layers of large graphs.
        reductions: what makes the blocks of features beside the learned one.
        fingerprint: of the training graph, where its features are structural.
        direction: that of the messages of the training graph, see :attr:`imgcl.Graph.direction`; ``None`` in runs from
            before it was kept, which take any.
    """

    method: Method[Any]
    training: TrainingSettings
    seed: int
    device: torch.device
    feature_names: tuple[str, ...] | None = None
    statistics: ColumnStatistics | None = None
    scratch: Path | None = None
    reductions: Reductions = field(default_factory=dict)
    fingerprint: str | None = None
    direction: str | None = None

    @usual_torch()
    def embed(self, graph: Graph) -> NDArray[np.float32]:
        """Embeddings of a graph with the features of the training graph, matched by name where both have names.

        Raises:
            InputError: when it has other features, or structural ones and is another graph, or when its edges pass
                features another way.
        """
        batches = make_batches(
            graph,
            self.method,
            self.training,
            seed=self.seed,
            device=self.device,
            scratch=self.scratch,
            statistics=self.statistics,
            columns=self._columns(graph),
        )
        return check_finite(embed_all(self.method, batches))

    def embed_blocks(self, graph: Graph) -> dict[str, NDArray[np.float32]]:
        """All blocks of a graph by name: what :meth:`embed` gives as ``learned``, and the blocks of features.

        Raises:
            InputError: when it has other features.
        """
        columns = self._columns(graph)
        return {LEARNED: self.embed(graph)} | apply_reductions(self.reductions, graph, columns, self.scratch)

    def to_pyg(self) -> nn.Module:
        """The encoder on torch_geometric's layers, see :meth:`imgcl.ImGCL.to_pyg`.

        Raises:
            InputError: when torch_geometric is not installed, or has no such layers.
        """
        kind = type(self.method)
        if kind.embed is not Method.embed and kind.branches is Method.branches:
            raise InputError(f"{kind.__name__} embeds nodes in a way of its own (embed), which to_pyg cannot write")
        return PyGEncoder(self.method.branches(), self.training.normalise, self.statistics).to(self.device).eval()

    def _columns(self, graph: Graph) -> NDArray[np.int64] | None:
        check_structure(graph, self.feature_names, self.fingerprint)
        check_direction(graph, self.direction)
        return find_columns(graph, self.method.n_features, self.feature_names)


def embed_all(method: Method[Any], batches: WholeGraph | MiniBatches) -> NDArray[np.float32]:
    """Embeddings of all nodes, in evaluation mode.

    The method stays in it, for it may be embedding in another thread as well; a training step sets its own mode.
    """
    method.eval()
    with torch.no_grad():
        z = batches.embed(method)
    return z.cpu().numpy() if isinstance(z, Tensor) else z


def check_structure(graph: Graph, names: Sequence[str] | None, fingerprint: str | None) -> None:
    """Refuse a graph whose structural features mean something else than those of the training graph.

    Args:
        graph: the graph to embed.
        names: of the features of the training graph.
        fingerprint: of the training graph.
    """
    trained, given = is_structural(names), is_structural(graph.feature_names)
    if trained and graph.fingerprint != fingerprint:
        raise InputError(
            "the encoder was trained on structural features, which mean something else in every graph: it embeds the "
            f"graph it was trained on, and {graph.name!r} is another one; pre-train on it, or give both graphs "
            "features of their own"
        )
    if given and not trained:
        raise InputError(
            f"graph {graph.name!r} has structural features only, and the encoder was trained on others: give it the "
            "features of the training graph"
        )


def check_direction(graph: Graph, direction: str | None) -> None:
    """Refuse a graph whose edges pass features another way than those of the training graph.

    Args:
        graph: the graph to embed.
        direction: of the training graph; ``None``: not known, any graph is taken.

    Example:
        >>> check_direction(Graph.from_edges([[0], [1]], x=np.eye(2)), "in")
        Traceback (most recent call last):
        imgcl.InputError: the encoder was trained on edges that pass features one way (directed_as 'in'), ...
    """
    if direction is None or direction == graph.direction:
        return
    ways = {"both": "both ways (directed_as 'both' or 'mutual')"}
    trained, given = (ways.get(way, f"one way (directed_as {way!r})") for way in (direction, graph.direction))
    raise InputError(
        f"the encoder was trained on edges that pass features {trained}, those of graph {graph.name!r} pass them "
        f"{given}: read it with the same directed_as"
    )


def find_columns(graph: Graph, n_features: int, names: Sequence[str] | None) -> NDArray[np.int64] | None:
    """Where the features that an encoder was trained on stand in a graph; ``None``: in the same places.

    Args:
        graph: the graph to embed.
        n_features: number of features of the training graph.
        names: their names; without them, or without names in the graph, features are taken by their places.

    Example:
        >>> graph = Graph.from_edges([[0], [1]], x=np.eye(2), feature_names=["height", "width"])
        >>> find_columns(graph, 2, ["width", "height"])
        array([1, 0])
        >>> find_columns(graph, 2, ["width", "weight"])
        Traceback (most recent call last):
        imgcl.InputError: the graph has other features than the encoder was trained on: 'weight' is missing, ...
    """
    if names is None or graph.feature_names is None:
        if graph.n_features != n_features:
            raise InputError(f"the graph has {graph.n_features} features, the encoder was trained on {n_features}")
        return None
    trained, given = list(names), list(graph.feature_names)
    if trained == given:
        return None
    _check_same_names(trained, given)
    place = {name: column for column, name in enumerate(given)}
    return np.array([place[name] for name in trained], dtype=np.int64)


def _check_same_names(trained: list[str], given: list[str]) -> None:
    missing, unknown = Counter(trained) - Counter(given), Counter(given) - Counter(trained)
    if missing or unknown:
        parts = [f"{_some(names)} {what}" for names, what in ((missing, "missing"), (unknown, "unknown")) if names]
        raise InputError(f"the graph has other features than the encoder was trained on: {', '.join(parts)}")
    twice = [name for name, count in Counter(given).items() if count > 1]
    if twice:
        raise InputError(
            f"the features have another order than the encoder was trained on, and {_some(twice)} used more than "
            "once: give every feature a name of its own"
        )


def _some(names: Iterable[str]) -> str:
    """The first few names, and how many more there are, with the verb.

    Example:
        >>> _some("a"), _some("abcdefg")
        ("'a' is", "'a', 'b', 'c', 'd', 'e' and 2 more are")
    """
    every = list(names)
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return f"{', '.join(map(repr, every[:SHOWN]))}{more} {'is' if len(every) == 1 else 'are'}"
