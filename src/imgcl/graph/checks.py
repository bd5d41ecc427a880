"""Checks and cleaning of arrays before they become a graph.

Each check returns the array in the form that :class:`imgcl.Graph` keeps, or raises a
:class:`~imgcl.GraphError` that names the first offending entry and says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from imgcl._core.arrays import as_array
from imgcl._core.errors import GraphError, InputError
from imgcl._core.sparse.features import GraphFeatures
from imgcl._core.unlabelled import RULE, are_numbers, label_array, labelled, whole_numbers
from imgcl.graph.given import as_matrix, check_row_order

Features = GraphFeatures
LARGEST = np.float32(1e15)  # of a feature: squares of such numbers, and many added up, still fit into float32
LIGHTEST = 1e-15  # weight of an edge: its inverse and a sum of many fit into float32
STRUCTURE = "structure/"  # names of features that were made from edges begin so
MAX_CLASSES = 1 << 20  # a label beyond this is a mistake (an identifier, a hash), and tables per class would not fit

DIRECTIONS = {  # what a directed edge becomes
    "both": "an edge in either direction links both its ends",
    "mutual": "only nodes that point at each other are linked",
    "in": "features pass from source to target: a node sees the nodes that point at it",
    "out": "features pass from target to source: a node sees the nodes that it points at",
}
ONE_WAY = ("in", "out")


@dataclass(frozen=True)
class Cleaning:
    """What was removed or added to make an edge list a simple undirected graph."""

    self_loops: int = 0
    duplicates: int = 0
    one_directional: int = 0
    dropped: int = 0
    summed: int = 0
    averaged: int = 0

    def __str__(self) -> str:
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (self.self_loops, "self-loops removed"),
                (self.duplicates, "duplicate edges merged"),
                (self.summed, "duplicate edges merged and their weights summed"),
                (self.one_directional, "one-directional edges mirrored"),
                (self.dropped, "one-directional edges dropped"),
                (self.averaged, "edges with two weights, one each way, given their mean"),
            )
            if count
        ]
        return ", ".join(parts) or "nothing to clean"


def symmetric_csr(
    edges: NDArray[np.int64], n: int, weights: NDArray[np.float64] | None = None, directed_as: str = "both"
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32] | None, Cleaning]:
    """Sorted CSR (indptr, indices, weights) of the simple undirected graph, and what was cleaned on the way.

    Weights of duplicates are summed. An edge that is there in both directions has the mean of its two weights, so that
    an undirected graph may be given either way; weights that are all 1 are no weights. ``directed_as="mutual"`` keeps
    the edges that are there in both directions.
    """
    if directed_as not in DIRECTIONS:
        raise GraphError(f"directed_as is {directed_as!r}: choose from {', '.join(DIRECTIONS)}")
    loops = edges[0] == edges[1]
    source, target = edges[0][~loops], edges[1][~loops]
    ones = np.ones(len(source), dtype=np.int8)
    directed = sp.coo_array((ones, (source, target)), shape=(n, n)).tocsr()  # merges duplicates
    directed.data = np.ones(directed.nnz, dtype=np.int8)
    both = (directed + directed.T).tocsr()
    both.sort_indices()
    mutual = directed_as == "mutual"
    alone = int(both.nnz) - int(directed.nnz)
    found, averaged = None, 0
    if weights is not None:
        found, averaged = _symmetric_weights(source, target, weights[~loops], both)
    duplicates = len(source) - int(directed.nnz)
    cleaning = Cleaning(
        self_loops=int(loops.sum()),
        duplicates=duplicates if found is None else 0,
        one_directional=alone if directed_as == "both" else 0,
        dropped=alone if mutual else 0,
        summed=0 if found is None else duplicates,
        averaged=averaged,
    )
    if mutual:
        return *_both_ways(both, found), cleaning
    return both.indptr, both.indices, found, cleaning


def directed_csr(
    edges: NDArray[np.int64], n: int, weights: NDArray[np.float64] | None, directed_as: str
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32] | None]:
    """Sorted CSR whose rows list the nodes that each node sees; weights of duplicates are summed.

    Example:
        >>> indptr, indices, _ = directed_csr(np.array([[0, 0], [1, 2]]), 3, None, "in")  # 0 points at 1 and 2
        >>> indptr.tolist(), indices.tolist()
        ([0, 0, 1, 2], [0, 0])
    """
    proper = edges[0] != edges[1]
    source, target = edges[:, proper] if directed_as == "out" else edges[::-1, proper]
    values = np.ones(int(proper.sum())) if weights is None else weights[proper]
    lists = sp.coo_array((values, (source, target)), shape=(n, n)).tocsr()
    lists.sort_indices()
    return lists.indptr, lists.indices, None if weights is None else stored_weights(lists.data)


def _both_ways(
    both: sp.csr_array, weights: NDArray[np.float32] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32] | None]:
    """The entries of ``both`` that were there in both directions."""
    kept = both.data > 1
    indptr = np.concatenate([[0], np.cumsum(kept)])[both.indptr]
    chosen = None if weights is None else stored_weights(weights[kept])
    return indptr.astype(both.indptr.dtype), both.indices[kept], chosen


def _symmetric_weights(
    source: NDArray[np.int64], target: NDArray[np.int64], weights: NDArray[np.float64], both: sp.csr_array
) -> tuple[NDArray[np.float32] | None, int]:
    """The weight of every entry of ``both``, whose values count directions, and how many edges had two."""
    directed = sp.coo_array((weights, (source, target)), shape=both.shape).tocsr()
    total, difference = (directed + directed.T).tocsr(), directed - directed.T
    total.sort_indices()
    twice = sp.csr_array((both.data > 1, both.indices, both.indptr), shape=both.shape)
    averaged = int(np.count_nonzero(difference.multiply(twice).data)) // 2
    return stored_weights(total.data / both.data), averaged


def stored_weights(weights: NDArray[Any]) -> NDArray[np.float32] | None:
    """Weights as a graph keeps them: float32, and ``None`` where all are 1.

    Example:
        >>> stored_weights(np.ones(3)), stored_weights(np.array([1.0, 0.5]))
        (None, array([1. , 0.5], dtype=float32))
    """
    return None if np.all(weights == 1) else weights.astype(np.float32)


def check_weights(weights: ArrayLike, n_edges: int) -> NDArray[np.float64]:
    """A float array (n_edges,) of positive numbers.

    Example:
        >>> check_weights([1, 2.5], 2).tolist()
        [1.0, 2.5]
    """
    array = as_array(weights)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or len(array) != n_edges:
        raise GraphError(f"edge_weight has shape {array.shape}, expected ({n_edges},): one weight per edge")
    if array.dtype.kind not in "fiub":
        raise GraphError(f"edge_weight has dtype {array.dtype}: weights must be numbers")
    values = array.astype(np.float64)
    bad = np.flatnonzero(~((values >= LIGHTEST) & (values <= LARGEST)))  # NaN too
    if len(bad):
        raise GraphError(
            f"edge_weight[{bad[0]}] is {array[bad[0]]} ({len(bad):,} such values): {weight_rule(array[bad[0]])}"
        )
    return values


def weight_rule(value: float) -> str:
    """What a weight must be, for the message about one that is not."""
    if np.isfinite(value) and value > 0:
        return f"weights must lie between {LIGHTEST:g} and {LARGEST:g}; scale them first"
    return "weights must be above 0 and finite; leave out edges that are none"


def check_edges(edges: ArrayLike, n: int) -> NDArray[np.int64]:
    """An integer array (2, E) of node numbers 0..n-1."""
    array = as_array(edges)
    if array.size == 0:
        return np.zeros((2, 0), dtype=np.int64)
    if array.ndim != 2 or array.shape[0] != 2:
        hint = "; transpose it" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise GraphError(f"edges has shape {array.shape}: it must be (2, E), one column per edge{hint}")
    _check_integers(array)
    outside = (array < 0) | (array >= n)
    if outside.any():
        column = int(np.flatnonzero(outside.any(axis=0))[0])
        raise GraphError(
            f"edge {column} is ({array[0, column]}, {array[1, column]}): node numbers must be 0..{n - 1} for {n} nodes"
        )
    return array.astype(np.int64, copy=False)


def _check_integers(edges: NDArray[Any]) -> None:
    if edges.dtype.kind not in "iu":
        raise GraphError(f"edges has dtype {edges.dtype}: node numbers must be integers")


def check_features(x: Any, node_names: Sequence[Any] | None = None) -> Features:
    """A matrix (N, F) of moderate numbers: float32 (float16 is kept), or a canonical float32 ``csr_array``."""
    check_row_order("x", x, node_names)
    try:
        matrix = as_matrix(x)
    except ValueError as error:
        raise GraphError(f"x is not a matrix: its rows differ in length ({error})") from None
    return _check_sparse_features(matrix) if sp.issparse(matrix) else _check_dense_features(matrix)


def no_features(edges: ArrayLike, n_nodes: int | None) -> np.ndarray:
    """Features of nodes that have none: no columns, and a row for every node, of which edges name the last."""
    ends = as_array(edges)
    if ends.size:
        _check_integers(ends)
    named = int(ends.max()) + 1 if ends.size else 0
    return np.zeros((max(0, named if n_nodes is None else int(n_nodes)), 0), dtype=np.float32)


def is_structural(feature_names: Sequence[str] | None) -> bool:
    """Whether features of these names were made from edges.

    Example:
        >>> is_structural(["structure/walk-0", "structure/log-degree"]), is_structural(["age"]), is_structural(None)
        (True, False, False)
    """
    return feature_names is not None and len(feature_names) > 0 and feature_names[0].startswith(STRUCTURE)


def _check_dense_features(given: np.ndarray) -> np.ndarray:
    dense = given
    if dense.ndim != 2:
        raise GraphError(f"x has shape {dense.shape}: it must be (nodes, features)")
    _check_feature_type(dense.dtype, dense.shape)
    if dense.dtype != np.float16:  # half precision is a storage choice of large graphs: keep it
        with np.errstate(over="ignore"):  # what overflows float32 is reported below, by its place
            dense = np.ascontiguousarray(dense, dtype=np.float32)
    bad = ~(np.abs(dense) <= LARGEST)  # NaN too
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        _raise_unusable(row, column, given[row, column], int(bad.sum()))
    return dense


def _check_sparse_features(x: Any) -> sp.csr_array:
    if x.ndim != 2:
        raise GraphError(f"x has shape {x.shape}: it must be (nodes, features)")
    _check_feature_type(x.dtype, x.shape)
    with np.errstate(over="ignore"):
        matrix = sp.csr_array(x, dtype=np.float32)
    if not matrix.has_canonical_format or (matrix.data == 0).any():
        matrix = matrix.copy()  # the caller's arrays are not ours to sort
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    bad = ~(np.abs(matrix.data) <= LARGEST)
    if bad.any():
        entry = int(np.flatnonzero(bad)[0])
        row, column = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1, int(matrix.indices[entry])
        _raise_unusable(row, column, sp.csr_array(x)[row, column], int(bad.sum()))
    return matrix


def _check_feature_type(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    if dtype.kind not in "fiub":
        raise GraphError(f"x has dtype {dtype}: features must be numbers")
    if shape[0] and not shape[1]:
        raise GraphError("x has no columns: give at least one feature, or leave x out")


def _raise_unusable(row: int, column: int, value: Any, count: int) -> None:
    rule = f"features must be numbers up to {LARGEST:g}; scale them first"
    if not np.isfinite(value):
        rule = "features must be finite; fill or drop missing values first"
    raise GraphError(f"x[{row}, {column}] is {value} ({count} such values): {rule}")


def check_labels(
    y: ArrayLike, n: int, class_names: Sequence[str] | None = None, node_names: Sequence[Any] | None = None
) -> NDArray[np.int64]:
    """An integer array (n,) with entries 0..K-1, or -1 for unlabelled."""
    check_row_order("y", y, node_names)
    array = label_array(y)
    if array.ndim != 1 or len(array) != n:
        raise GraphError(f"labels have shape {array.shape}, expected ({n},): one label per node, -1 for unlabelled")
    known, numbers = _class_numbers(array)
    limit = MAX_CLASSES if class_names is None else len(class_names)
    for i in np.flatnonzero(numbers >= limit)[:1]:
        reason = f"at most {limit:,} classes are supported" if class_names is None else f"there are {limit} class names"
        raise GraphError(f"labels[{known[i]}] is {numbers[i]} but {reason}: number the classes 0..K-1")
    codes = np.full(n, -1, dtype=np.int64)
    codes[known] = numbers
    return codes


def _class_numbers(array: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Which nodes have a label, and their labels as integers."""
    try:
        known = labelled(array)
        if not are_numbers(array, known):
            i = next(int(i) for i in np.flatnonzero(known) if not are_numbers(array[i : i + 1], known[i : i + 1]))
            raise InputError(f"labels[{i}] is {array[i]!r}: {RULE}; number the classes and name them by class_names")
        return np.flatnonzero(known), whole_numbers(array, known)
    except InputError as error:
        raise GraphError(str(error)) from None


def check_names(what: str, names: Sequence[str] | None, size: int | None = None) -> tuple[str, ...] | None:
    """The names as a tuple, ``size`` of them."""
    if names is None:
        return None
    if isinstance(names, str):
        raise GraphError(f"{what} is the text {names!r}: give a sequence of names")
    if size is not None and len(names) != size:
        raise GraphError(f"{what} has length {len(names)}, expected {size}")
    given = tuple(str(name) for name in names)
    _check_characters(what, given)
    return given if what == "feature_names" else check_distinct(what, given)


def check_feature_names(names: Sequence[str] | None, x: Any, width: int) -> tuple[str, ...] | None:
    """The names of the features: those given, else the columns of a pandas ``DataFrame`` where all are text."""
    columns = getattr(x, "columns", None)
    if names is None and columns is not None and all(isinstance(name, str) for name in columns):
        names = list(columns)
    return check_names("feature_names", names, width)


def _check_characters(what: str, names: Sequence[str]) -> None:
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        ends = np.cumsum([len(name) for name in names])
        i = int(np.searchsorted(ends, error.start, side="right"))
        raise GraphError(f"{what}[{i}] is {names[i]!r}, which UTF-8 cannot write: use characters that exist") from None


def check_distinct(what: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names, or an error with the first two that are equal: labels and results are looked up by name."""
    place: dict[str, int] = {}
    for i, name in enumerate(names):
        if place.setdefault(name, i) != i:
            raise GraphError(f"{what}[{place[name]}] and {what}[{i}] are both {name!r}: give each a name of its own")
    return tuple(names)


def check_nodes(nodes: ArrayLike, n: int) -> NDArray[np.int64]:
    """Distinct node numbers 0..n-1 (or a mask of length n, as node numbers); at least one."""
    array = np.asarray(nodes)
    if array.dtype == np.bool_:
        if array.shape != (n,):
            raise GraphError(f"the node mask has shape {array.shape}, expected ({n},)")
        array = np.flatnonzero(array)
    if not array.size:
        raise GraphError("no nodes were chosen: give at least one")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise GraphError(
            f"nodes have shape {array.shape} and dtype {array.dtype}: give a list of node numbers or a mask"
        )
    outside = np.flatnonzero((array < 0) | (array >= n))
    if len(outside):
        raise GraphError(f"nodes[{outside[0]}] is {array[outside[0]]}: node numbers must be 0..{n - 1}")
    counts = np.bincount(array, minlength=n)
    if counts.max() > 1:
        raise GraphError(f"node {int(counts.argmax())} was chosen {int(counts.max())} times: choose each node once")
    return array.astype(np.int64)


def read_only(array: Any) -> Any:
    """A view that cannot be written through; the caller's own array stays as it was."""
    if array is None:
        return None
    if isinstance(array, sp.csr_array):
        parts = [read_only(part) for part in (array.data, array.indices, array.indptr)]
        view = sp.csr_array(tuple(parts), shape=array.shape)
        view.has_canonical_format = array.has_canonical_format
        return view
    view = array.view()
    view.flags.writeable = False
    return view
