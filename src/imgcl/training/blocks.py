"""Blocks of an embedding beside the learned one: own and propagated features, reduced as on the training graph.

Where the graph has relations side by side, features are propagated along each of them as well.

What reduces them is fitted once, on the graph that pre-training sees, and kept with the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from imgcl._core.errors import GraphError, InputError, RunError
from imgcl._core.words import one_line
from imgcl.graph import Graph
from imgcl.graph.reduction import Reduction, check_reduction
from imgcl.training.checkpoint import Checkpoint, pack, unpack
from imgcl.training.settings import LEARNED, NEIGHBOURS, OWN, RELATION, block_names, is_relation

HOPS = {OWN: 0, NEIGHBOURS: 2}  # how often each block's features are propagated
ARRAYS = ("mean", "deviation", "components")

Reductions = Mapping[str, Reduction]
Rows = NDArray[np.float32]


def reduced_blocks(blocks: Sequence[str], n_features: int | None) -> tuple[str, ...]:
    """The blocks that are made of features: none where there are no features.

    Example:
        >>> reduced_blocks(("learned", "own"), n_features=4), reduced_blocks(("learned", "own"), n_features=0)
        (('own',), ())
    """
    return () if n_features == 0 else tuple(name for name in blocks if name != LEARNED)


def with_relations(blocks: Sequence[str], graph: Graph) -> tuple[str, ...]:
    """The blocks, and where ``neighbours`` is one of them also those of the graph's relations.

    Example:
        >>> kinds = {"product": [[0], [1]], "star": [[1], [2]]}
        >>> graph = Graph.from_relations(kinds, x=np.eye(3), relations="side-by-side")
        >>> with_relations(("learned", "neighbours"), graph)
        ('learned', 'neighbours', 'neighbours:product', 'neighbours:star')
    """
    found = [f"{RELATION}{each.name}" for each in graph.relations] if NEIGHBOURS in blocks else []
    return block_names([*blocks, *found])


def graph_of(name: str, graph: Graph) -> Graph:
    """The graph whose edges a block's features are propagated along: that of its relation, or the whole.

    Raises:
        InputError: when the graph lacks the relation.
    """
    if not is_relation(name):
        return graph
    try:
        return graph.relation(name.removeprefix(RELATION))
    except GraphError as error:
        raise InputError(
            f"{error}; the embedding has a block for it: import the graph like the first (`like`)"
        ) from None


def block_file(name: str) -> str:
    """A block's name as a part of names of files.

    Example:
        >>> block_file("own"), block_file("neighbours:a/b")
        ('own', 'neighbours-a%2Fb')
    """
    return f"{NEIGHBOURS}-{quote(name.removeprefix(RELATION), safe='')}" if is_relation(name) else name


def check_blocks(graph: Graph, blocks: Sequence[str]) -> None:
    """Refuse, before any training, features that are too wide to be reduced."""
    if reduced_blocks(blocks, graph.n_features):
        check_reduction(graph)


def fit_reductions(
    graph: Graph, blocks: Sequence[str], seed: int = 0, scratch: str | Path | None = None
) -> dict[str, Reduction]:
    """What makes each block of features, fitted on a graph.

    Args:
        graph: the graph that pre-training sees.
        blocks: names of blocks; ``learned`` needs no reduction.
        seed: of the run.
        scratch: directory for what does not fit into memory.

    Example:
        >>> graph = Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3))
        >>> fitted = fit_reductions(graph, ("learned", "own", "neighbours"))
        >>> {name: reduction.hops for name, reduction in fitted.items()}
        {'own': 0, 'neighbours': 2}
    """
    names = reduced_blocks(blocks, graph.n_features)
    return {
        name: Reduction.fit(graph_of(name, graph), hops=_hops(name), random_state=seed, scratch=scratch)
        for name in names
    }


def apply_reductions(
    reductions: Reductions,
    graph: Graph,
    columns: NDArray[np.int64] | None = None,
    scratch: str | Path | None = None,
) -> dict[str, Rows]:
    """The blocks of a graph; see :meth:`imgcl.graph.Reduction.apply` for the arguments."""
    return {
        name: reduction.apply(graph_of(name, graph), columns, scratch=scratch) for name, reduction in reductions.items()
    }


def _hops(name: str) -> int:
    return HOPS[NEIGHBOURS if is_relation(name) else name]


def save_reductions(path: Path, reductions: Reductions) -> None:
    """Write reductions into one file, atomically and with a checksum."""
    tensors: dict[str, Tensor] = {}
    values: dict[str, Any] = {}
    for name, reduction in reductions.items():
        pack(
            block_file(name),
            {key: value for key, value in vars(reduction).items() if value is not None},
            tensors,
            values,
        )
    Checkpoint(tensors, values).save(path)


def load_reductions(path: Path, names: Sequence[str], remedy: str) -> dict[str, Reduction]:
    """Read reductions.

    Args:
        path: of the file.
        names: of the blocks that it must hold.
        remedy: what to do when it is damaged, for the message.

    Raises:
        RunError: when it is missing or damaged, or holds something else.
    """
    if not path.exists():
        raise RunError(f"{path} does not exist: {remedy}")
    stored = Checkpoint.load(path, remedy)
    try:
        return {name: _reduction(name, unpack(block_file(name), stored)) for name in names}
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path} is damaged ({one_line(error)}): {remedy}") from None


def _reduction(name: str, state: dict[str, Any]) -> Reduction:
    """A reduction from its parts, after a check that they belong together."""
    arrays = {key: state[key].numpy() for key in ARRAYS if key in state}
    n_features = int(state["n_features"])
    wide = set(arrays) == {"components"} and arrays["components"].ndim == 2
    narrow = set(arrays) == {"mean", "deviation"} and all(array.ndim == 1 for array in arrays.values())
    sized = all(len(array) == n_features and np.isfinite(array).all() for array in arrays.values())
    if not (wide or narrow) or not sized or state["hops"] != _hops(name):
        raise ValueError(f"{name} does not fit")
    return Reduction(n_features, _hops(name), **arrays)
