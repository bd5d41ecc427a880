"""Features, labels and adjacencies as users have them, tensors and tables of pandas, before they are checked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from imgcl._core.arrays import as_array
from imgcl._core.errors import GraphError
from imgcl._core.unlabelled import as_text


def as_matrix(x: Any) -> Any:
    """Features as an array or a scipy matrix: of a tensor, sparse ones too, or a table whose columns are numbers.

    Example:
        >>> import pandas as pd
        >>> as_matrix(pd.DataFrame({"age": pd.array([30, 40], dtype="Int64"), "new": [True, False]})).tolist()
        [[30.0, 1.0], [40.0, 0.0]]
    """
    if hasattr(x, "detach"):
        return _of_tensor(x)
    matrix: Any = x if sp.issparse(x) else np.asarray(x)
    if matrix.dtype == object and _is_pandas("DataFrame", x) and all(kind.kind in "fiub" for kind in x.dtypes):
        return x.to_numpy(dtype=np.float64, na_value=np.nan)  # columns of several types, or nullable ones
    return matrix


def _of_tensor(x: Any) -> Any:
    if str(x.layout) == "torch.strided":
        return as_array(x)
    found = x.detach().cpu().to_sparse_coo().coalesce()
    return sp.csr_array((as_array(found.values()), tuple(found.indices().numpy())), shape=tuple(x.shape))


def as_adjacency(adjacency: Any) -> sp.coo_array:
    """A square matrix without its zeros; a missing number is refused, for it would be an edge."""
    matrix = sp.coo_array(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"adjacency has shape {matrix.shape}: it must be square, one row and one column per node")
    (row, column), values = matrix.coords, matrix.data
    for i in np.flatnonzero(values != values)[:1]:
        raise GraphError(f"adjacency[{row[i]}, {column[i]}] is {values[i]}: write 0 where there is no edge")
    present = values != 0
    return sp.coo_array((values[present], (row[present], column[present])), shape=matrix.shape)


def check_row_order(what: str, rows: Any, names: Sequence[Any] | None) -> None:
    """Refuse a table or ``Series`` of pandas whose index has the nodes in another order: rows are taken by position.

    Args:
        what: the argument.
        rows: its value.
        names: of the nodes, where they have some.

    Example:
        >>> import pandas as pd
        >>> check_row_order("y", pd.Series([0, 1], index=["bob", "ann"]), ["ann", "bob"])
        Traceback (most recent call last):
        imgcl.GraphError: y is a Series whose index has the nodes in another order: row 0 is 'bob', node 0 is 'ann'; ...
    """
    if not (_is_pandas("Series", rows) or _is_pandas("DataFrame", rows)):
        return
    found, nodes = [*map(as_text, rows.index.tolist())], [*map(str, names or ())]
    for order, remedy in (
        (nodes, f"give {what}.loc[node_names]"),
        ([*map(str, range(len(found)))], f"{what}.sort_index() takes them by number, {what}.to_numpy() by position"),
    ):
        if found != order and len(found) == len(order) and {*found} == {*order}:
            i = next(i for i, name in enumerate(order) if name != found[i])
            raise GraphError(
                f"{what} is a {type(rows).__name__} whose index has the nodes in another order: row {i} is "
                f"{found[i]!r}, node {i} is {order[i]!r}; {remedy}"
            )
        if found == order:
            return


def _is_pandas(kind: str, value: Any) -> bool:
    """Whether a value is pandas' ``Series`` or ``DataFrame``; pandas is not imported for it."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, getattr(pandas, kind))
