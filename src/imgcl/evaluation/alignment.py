"""Labels in the order of the nodes: of a mapping and of a pandas ``Series`` by name, of everything else by position."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.unlabelled import as_text, label_array, labelled
from imgcl.graph.checks import check_distinct


def ordered_labels(labels: Any, Z: Any, node_names: Sequence[Any] | None = None) -> Any:
    """One label per node, in node order; what is neither a mapping nor a ``Series`` is in that order already.

    Args:
        labels: a mapping from node name or number to class; a ``Series``, see :func:`by_name`; or one label per node.
        Z: embeddings or blocks of the nodes.
        node_names: one per node; by default those of :func:`names_of`.

    Example:
        >>> ordered_labels({"b": "x"}, [[1.0], [2.0]], ["a", "b"]).tolist()
        [None, 'x']
    """
    if not is_by_name(labels):
        return labels
    names, n_nodes = names_of(Z, node_names), count_rows(Z)
    found = by_name(labels, n_nodes, names)
    return align_labels(found, n_nodes, names) if isinstance(found, Mapping) else found


def is_by_name(labels: Any) -> bool:
    """Whether labels may name their nodes: a mapping does, a ``Series`` may."""
    return isinstance(labels, Mapping) or _is_pandas("Series", labels)


def by_name(labels: Any, n_nodes: int, node_names: Sequence[Any] | None = None) -> Any:
    """A ``Series`` whose index names nodes as a mapping, without its missing labels; other labels as they are.

    A ``Series`` with the default index (0, 1, 2, …), or with other row numbers that name none of the nodes, is taken
    by position, and so is every ``Series`` where nodes have no names.

    Raises:
        InputError: when the index has names that are not there, or a node twice, or is 0, 1, 2, … in another order:
            rows that were shuffled with their nodes look the same as rows that were shuffled alone.

    Example:
        >>> import pandas as pd
        >>> by_name(pd.Series(["x", "y"], index=["b", "a"]), 2, ["a", "b"])
        {'b': 'x', 'a': 'y'}
    """
    if not _is_pandas("Series", labels):
        return labels
    keys = labels.index.tolist()
    known = frozenset[str]() if node_names is None else frozenset(map(str, node_names))
    unknown = [key for key in keys if as_text(key) not in known]
    foreign = len(unknown) == len(keys) and (not known or all(isinstance(key, int) for key in keys))
    if _is_default(labels.index) or foreign:
        if len(keys) != n_nodes:
            raise InputError(
                f"labels is a Series of {len(keys):,} labels, whose index names none of the {n_nodes:,} nodes: give "
                "one label per node, an index of node names, or a dict"
            )
        if not _is_default(labels.index) and keys != [*range(n_nodes)] and {*keys} == {*range(n_nodes)}:
            raise InputError(
                "labels is a Series whose index is the node numbers in another order: pass labels.sort_index() to take "
                "them by number, labels.to_numpy() to take them by position"
            )
        return labels
    if unknown:
        raise InputError(
            f"labels is a Series whose index has {unknown[0]!r}, which is not a node's name ({len(unknown):,} such): "
            "leave it out, or pass labels.to_numpy() to take labels by position"
        )
    check_distinct("labels.index", [as_text(key) for key in keys])
    values = label_array(labels)
    return {key: value for key, value, has in zip(keys, values.tolist(), labelled(values), strict=True) if has}


def names_of(Z: Any, node_names: Sequence[Any] | None = None) -> Sequence[Any] | None:
    """Names of the nodes: those given, else the index of an embedding (or of its blocks) that is a ``DataFrame``.

    The default index (0, 1, 2, …) names nothing.

    Raises:
        InputError: when an index has the names given in another order.

    Example:
        >>> import pandas as pd
        >>> names_of(pd.DataFrame([[1.0], [2.0]], index=["a", "b"])), names_of([[1.0], [2.0]])
        (['a', 'b'], None)
    """
    blocks = Z.values() if isinstance(Z, Mapping) else [Z]
    indexes = [block.index for block in blocks if _is_pandas("DataFrame", block) and not _is_default(block.index)]
    for index in indexes[1:]:
        if not index.equals(indexes[0]):
            raise InputError("blocks are DataFrames with different indexes: give the rows of each in the same order")
    own = indexes[0].tolist() if indexes else None
    if own is None or node_names is None:
        return own if node_names is None else node_names
    check_same_order(own, node_names)
    return node_names


def check_same_order(own: Sequence[Any], names: Sequence[Any]) -> None:
    """Refuse rows that name the same nodes in another order; other names may be new ones.

    Args:
        own: names of the rows of an embedding.
        names: those of the nodes, as the caller or the graph has them.
    """
    rows, nodes = [*map(as_text, own)], [*map(as_text, names)]
    if rows != nodes and set(rows) == set(nodes):
        i = next(i for i, (row, node) in enumerate(zip(rows, nodes, strict=False)) if row != node)
        raise InputError(
            f"row {i} of the embedding is {rows[i]!r} by its index, but node {i} is {nodes[i]!r}: give the rows in the "
            "order of the nodes, Z.loc[node_names]"
        )


def count_rows(Z: Any) -> int:
    """Rows of an embedding, or of the first of several blocks."""
    first = next(iter(Z.values()), ()) if isinstance(Z, Mapping) else Z
    if not hasattr(first, "__len__"):
        raise InputError(
            f"the embedding is of type {type(first).__name__}: give an array (nodes, d), or blocks by name, such as "
            "blocks_ of a fitted imgcl.ImGCL"
        )
    return len(first)


def align_labels(
    labels: Mapping[Any, Any], n_nodes: int, node_names: Sequence[Any] | None = None
) -> NDArray[np.object_]:
    """A mapping's labels in node order, ``None`` where it has none; keys are node names, or node numbers.

    Where names are numbers themselves (ids 1000, 1001, …), keys are names only: 5 would be either.

    Example:
        >>> align_labels({"b": "x"}, 2, node_names=["a", "b"]).tolist()
        [None, 'x']
    """
    names = check_distinct("node_names", [] if node_names is None else [str(name) for name in node_names])
    position = {name: i for i, name in enumerate(names)}
    numbered = not any(map(is_number, position))
    aligned, keys = np.full(n_nodes, None, dtype=object), dict[int, Any]()
    for key, label in labels.items():
        i = position.get(as_text(key))
        if i is None:
            i = int(key) if numbered and is_number(as_text(key)) else -1
            if not 0 <= i < n_nodes:
                number = f"a node number of this graph (0..{n_nodes - 1})"
                known = number if node_names is None else f"a node name or {number}" if numbered else "a node's name"
                raise InputError(f"labels have node {key!r}, which is not {known}")
        other = keys.setdefault(i, key)
        if str(labels[other]) != str(label):
            raise InputError(
                f"labels have node {other!r} and node {key!r}, which are the same node, with different labels"
            )
        aligned[i] = label
    return aligned


def is_number(text: str) -> bool:
    """Whether a text may be a node's number."""
    return re.fullmatch(r"[0-9]{1,18}", text) is not None


def _is_pandas(kind: str, value: Any) -> bool:
    """Whether a value is pandas' ``Series`` or ``DataFrame``; pandas is not imported for it."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, getattr(pandas, kind))


def _is_default(index: Any) -> bool:
    pandas = sys.modules["pandas"]
    return isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1
