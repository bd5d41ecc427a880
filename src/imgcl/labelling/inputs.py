"""What a user hands over: an embedding, blocks or a run; labels as a table, a file, by name or one per node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.words import nearest_names
from imgcl.data import load_graph
from imgcl.evaluation import align_labels, read_labels
from imgcl.evaluation.alignment import by_name, count_rows, names_of
from imgcl.evaluation.labels import Labels, number_classes
from imgcl.evaluation.prediction import known_nodes
from imgcl.graph import Graph
from imgcl.graph.checks import check_distinct
from imgcl.labelling.files import is_batch
from imgcl.training import Run
from imgcl.training.source import embedded_graph


@dataclass(frozen=True, eq=False)
class Source:
    """Nodes to choose from.

    Attributes:
        embedding: (N, d), or several blocks by name.
        node_names: one per node, or ``None``.
        load_graph: the graph, where there is one.
        known: labels of the graph that count, ``None`` for unlabelled nodes; or ``None`` if there are none.
    """

    embedding: Any
    node_names: Sequence[str] | None
    load_graph: Callable[[], Graph] | None
    known: NDArray[np.object_] | None = None

    @property
    def n_nodes(self) -> int:
        return count_rows(self.embedding)

    def names(self, nodes: NDArray[np.int64]) -> list[Any]:
        """What nodes are called: their names, or their numbers."""
        return nodes.tolist() if self.node_names is None else [self.node_names[i] for i in nodes]

    def read_labels(self, labels: Any) -> tuple[Labels, NDArray[np.bool_]]:
        """Class of each node, and which nodes were asked about: those that are listed, with a label or without.

        A table, file, mapping or ``Series`` by name is added to the labels of the graph; one label per node stands in
        their place.
        """
        if isinstance(labels, str | os.PathLike):
            labels = read_labels(os.fspath(labels), self.node_names or ())
        if hasattr(labels, "columns"):
            labels = _of_frame(labels)
        labels = by_name(labels, self.n_nodes, self.node_names)
        if labels is not None and not isinstance(labels, Mapping):
            known = number_classes(labels)
            if len(known.codes) != self.n_nodes:
                raise InputError(f"there are {len(known.codes)} labels but {self.n_nodes} nodes: give one per node")
            return known, known.codes >= 0
        known = number_classes(self._joined(labels or {}))
        asked = align_labels(dict.fromkeys(labels or {}, True), self.n_nodes, self.node_names)
        return known, asked.astype(np.bool_) | (known.codes >= 0)

    def _joined(self, labels: Mapping[Any, Any]) -> NDArray[np.object_]:
        """Labels in node order: those given, and those of the graph where nothing else was said."""
        given = align_labels(labels, self.n_nodes, self.node_names)
        if self.known is None:
            return given
        silent = number_classes(given).codes < 0
        given[silent] = self.known[silent]
        return given


def _of_frame(frame: Any) -> dict[Any, Any]:
    """Labels of a table with the columns node and label."""
    missing = [name for name in ("node", "label") if name not in frame.columns]
    if missing:
        raise InputError(f"the table of labels has no column {missing[0]!r}: it needs node and label")
    nodes = frame["node"].tolist()
    check_distinct("node", [str(node) for node in nodes])
    return dict(zip(nodes, frame["label"].tolist(), strict=True))


def read_source(embedding: Any, *, graph: Any = None, node_names: Sequence[str] | None = None) -> Source:
    """Nodes of an embedding, of blocks, of a run or of its directory.

    Args:
        embedding: (N, d) array, mapping from names to such arrays, :class:`imgcl.training.Run`, or a run's path.
        graph: the graph (anything that ``imgcl.load_graph`` takes), where a strategy needs it; of a run it is known.
        node_names: one per node; of a run they are known.
    """
    load = None if graph is None else lambda: _same_nodes(load_graph(graph), embedding)
    if isinstance(embedding, str | os.PathLike):
        embedding = Run(os.fspath(embedding))
    if isinstance(embedding, Run):
        run = embedding
        names = run.node_names if node_names is None else node_names
        return _checked(Source(run.blocks, names, load or (lambda: embedded_graph(run)), labels_of_graph(run)))
    count_rows(embedding)
    if not isinstance(embedding, Mapping):
        embedding = embedding if hasattr(embedding, "shape") else np.asarray(embedding)
    return _checked(Source(embedding, names_of(embedding, node_names), load))


def _same_nodes(graph: Graph, embedding: Any) -> Graph:
    """The graph, unless it has the nodes of the embedding in another order."""
    if not isinstance(embedding, Run):
        names_of(embedding, graph.node_names)
    return graph


def _checked(source: Source) -> Source:
    if source.node_names is not None:
        if len(source.node_names) != source.n_nodes:
            raise InputError(
                f"there are {len(source.node_names)} node names but the embedding has {source.n_nodes} rows"
            )
        check_distinct("node_names", [str(name) for name in source.node_names])
    return source


def check_count(value: Any, name: str, what: str) -> None:
    """Refuse anything but a whole number of at least 1."""
    if not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"`{name}` is {value!r}: give a whole number of {what}, at least 1")


def labels_of_graph(run: Run) -> NDArray[np.object_] | None:
    """Labels that the graph of a run has, in node order; ``None`` where no node has one, or every node has.

    A graph whose nodes are all labelled is one to try things on: its labels would leave nothing to suggest.
    """
    codes = run.record.labels
    if codes is None or not (codes < 0).any() or not (codes >= 0).any():
        return None
    names = run.class_names or [str(k) for k in range(int(codes.max()) + 1)]
    return np.array([*names, None], dtype=object)[codes]  # -1 is the last one


def labels_in_file(
    run: Run, file: str | Path, *, id_column: str | None = None, label_column: str | None = None
) -> tuple[dict[Any, Any], list[str]]:
    """Labels of a file for nodes of a run, and what to tell the user where it has other nodes as well.

    Raises:
        InputError: when it has no label, or none of its nodes is in the graph.
    """
    n_nodes, names = len(run.embedding), run.node_names
    found = read_labels(file, names or (), id_column=id_column, label_column=label_column)
    known, unknown = known_nodes(found, n_nodes, names)
    if not any(found.values()):
        raise InputError(f"{file} has no label: fill its column of labels first")
    if not unknown:
        return known, []
    return known, [f"{file}: {len(unknown):,} of {len(found):,} nodes are not in the graph, for example {unknown[0]!r}"]


def joined_labels(run: Run, labels: Mapping[Any, Any], file: str | Path) -> tuple[NDArray[np.object_], list[str]]:
    """Labels of a file, those of the graph beside them where they belong together, and what to tell the user.

    Labels of a file stand in the place of the graph's. A file of ``imgcl suggest`` is the exception: the graph's labels
    were counted when it was made, and it has further ones; unless its classes are two or more others, another task.

    Args:
        run: the run.
        labels: of the file, by node; empty for unlabelled nodes.
        file: the file.

    Returns:
        Labels in node order, and what to tell the user, a sentence each.
    """
    given = align_labels(labels, len(run.embedding), run.node_names)
    own = labels_of_graph(run)
    if own is None:
        return given, []
    known = number_classes(given)
    further = (known.codes < 0) & np.array([label is not None for label in own])
    if not further.any():
        return given, []
    if not is_batch(file):
        return given, [f"the graph has labels of {further.sum():,} further nodes: those of {file} stand in their place"]
    if len(known.names) > 1 and set(known.names).isdisjoint(own[further]):
        return given, [f"the graph has labels of {further.sum():,} further nodes, of other classes: they are left out"]
    joined = given.copy()
    joined[further] = own[further]
    counted = f"{further.sum():,} further nodes have a label in the graph: they count as well"
    return joined, [counted, *misspelt(known.names, run)]


def misspelt(classes: Iterable[str], run: Run) -> list[str]:
    """What to say of classes that the graph of a run does not have, but whose names are near to one that it has."""
    own = labels_of_graph(run)
    known = [] if own is None else sorted({str(label) for label in own if label is not None})
    near = {name: nearest_names(name, known) for name in classes if name not in known}
    return [
        f"{name!r} is no class of the graph so far: did you mean {' or '.join(map(repr, meant))}?"
        for name, meant in near.items()
        if meant
    ]
