"""What makes the arrays of a store a graph: checks that take no time, and checks that read everything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import GraphError
from imgcl.data.store.manifest import LAYOUT, RELATION
from imgcl.data.store.names import StoredNames
from imgcl.graph import Graph
from imgcl.graph.checks import MAX_CLASSES
from imgcl.graph.facts import AT_ONCE, chunks

SPARSE = ("x_indptr", "x_indices", "x_data", "x_shape")


def layout_problem(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """What is wrong with names, types and lengths of the arrays, in a few words."""
    missing = [name for name in ("indptr", "indices") if name not in arrays]
    if "x" not in arrays:
        missing += [name for name in SPARSE if name not in arrays]
    if missing:
        absent = "features" if set(missing) == set(SPARSE) else " and ".join(missing)
        return f"it lacks {absent}"
    for name, array in arrays.items():
        dimensions, types = LAYOUT[re.sub(f"^{RELATION}", "", name)]
        if array.ndim != dimensions or array.dtype.str not in types or not array.flags.c_contiguous:
            wanted = f"{dimensions} dimension(s) of {' or '.join(types)}"
            return f"{name} has shape {array.shape} of {array.dtype.str}, expected {wanted} row by row"
    return _length_problem(arrays)


def _length_problem(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    indptr, n = arrays["indptr"], len(arrays["indptr"]) - 1
    if n < 1:
        return "it has no nodes"
    if "x" in arrays:
        rows, columns = arrays["x"].shape
        spans = True
    else:
        if len(arrays["x_shape"]) != 2:
            return "x_shape is not rows and columns"
        rows, columns = (int(size) for size in arrays["x_shape"])
        entries, pointers = arrays["x_indices"], arrays["x_indptr"]
        spans = len(pointers) == rows + 1 and len(entries) == len(arrays["x_data"])
        spans = spans and pointers[0] == 0 and pointers[-1] == len(entries)
    for text, size in (("node_names", n), ("feature_names", columns)):
        ends = f"{text}_ends"
        if (text in arrays) != (ends in arrays) or (ends in arrays and len(arrays[ends]) != size):
            return f"{text} are not {size:,} names"
    for problem, holds in (
        ("indptr does not span indices", indptr[0] == 0 and indptr[-1] == len(arrays["indices"])),
        ("edge_weight does not have one weight per entry", _fits(arrays, "edge_weight", len(arrays["indices"]))),
        ("x does not have one row per node", rows == n),
        ("x has no columns, or too many", 0 < columns < 2**31),
        ("x_indptr does not span x_indices and x_data", spans),
        ("y does not have one label per node", _fits(arrays, "y", n)),
        ("node_time does not have one time per node", _fits(arrays, "node_time", n)),
    ):
        if not holds:
            return problem
    return None


def relation_problem(arrays: Mapping[str, NDArray[Any]], names: Sequence[str]) -> str | None:
    """What is wrong with the arrays of relations, in a few words."""
    n = len(arrays["indptr"])
    every = {f"relation_{i}": name for i, name in enumerate(names)}
    every |= {"received": "received"} if any(name.startswith("received_") for name in arrays) else {}
    for prefix, name in every.items():
        indptr, indices = (arrays.get(f"{prefix}_{part}") for part in ("indptr", "indices"))
        if indptr is None or indices is None:
            return f"it lacks the edges of the relation {name!r}"
        spans = len(indptr) == n and indptr[0] == 0 and indptr[-1] == len(indices)
        if not spans or not _fits(arrays, f"{prefix}_edge_weight", len(indices)):
            return f"the arrays of the relation {name!r} do not fit"
    return None


def _fits(arrays: Mapping[str, NDArray[Any]], name: str, size: int) -> bool:
    return name not in arrays or len(arrays[name]) == size


def check_content(directory: Path, graph: Graph) -> None:
    """Read every value and check what compiled code relies on.

    Raises:
        GraphError: naming the array.
    """
    for problem, holds in _facts(graph):
        if not holds:
            raise GraphError(f"{directory} is not a graph: {problem}; import the graph again")


def _facts(graph: Graph) -> Iterator[tuple[str, bool]]:
    n = graph.n_nodes
    yield "indptr falls", _rises(graph.indptr)
    yield f"indices are not all 0..{n - 1}", _within(graph.indices, 0, n)
    if graph.edge_weight is not None:
        yield "edge_weight is not above 0 everywhere", _positive(graph.edge_weight)
    for relation in (*graph.relations, *([graph.received] if graph.received is not None else [])):
        yield f"indptr of {relation.name!r} falls", _rises(relation.indptr)
        yield f"indices of {relation.name!r} are not all 0..{n - 1}", _within(relation.indices, 0, n)
        weights = relation.edge_weight
        yield f"edge_weight of {relation.name!r} is not above 0 everywhere", weights is None or _positive(weights)
    if isinstance(graph.x, np.ndarray):
        yield "x is not finite everywhere", _finite(graph.x)
    else:
        yield "x_indptr falls", _rises(graph.x.indptr)
        yield f"x_indices are not all 0..{graph.n_features - 1}", _within(graph.x.indices, 0, graph.n_features)
        yield "x_data is not finite everywhere", _finite(graph.x.data)
    classes = MAX_CLASSES if graph.class_names is None else len(graph.class_names)
    yield f"labels are not all -1..{classes - 1}", graph.y is None or _within(graph.y, -1, classes)
    for what, names in (("node_names", graph.node_names), ("feature_names", graph.feature_names)):
        if isinstance(names, StoredNames):
            spans = names.ends[-1] == len(names.text) and names.ends[0] >= 0
            yield f"{what}_ends do not rise to the end of the text", bool(spans) and _rises(names.ends)


def _rises(values: NDArray[Any]) -> bool:
    parts = (values[start : start + AT_ONCE + 1] for start in range(0, len(values), AT_ONCE))
    return all(bool((part[1:] >= part[:-1]).all()) for part in parts)


def _within(values: NDArray[Any], low: int, high: int) -> bool:
    return all(not len(part) or (part.min() >= low and part.max() < high) for part in chunks(values))


def _positive(values: NDArray[Any]) -> bool:
    return all(bool(((part > 0) & np.isfinite(part)).all()) for part in chunks(values))


def _finite(values: NDArray[Any]) -> bool:
    return all(bool(np.isfinite(part).all()) for part in chunks(values))
