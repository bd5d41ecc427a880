"""Labels and embeddings as people have them, checked and turned into arrays.

Labels may be integers or text; ``-1``, ``None``, ``""`` and ``nan`` mean unlabelled, also as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError

UNLABELLED = frozenset({"", "-1", "nan"})  # as text


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as class numbers.

    Attributes:
        codes: class number 0..K-1 of each node, -1 for unlabelled.
        names: what each class is called, as text.
    """

    codes: NDArray[np.int64]
    names: tuple[str, ...]

    @property
    def n_classes(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Labelled nodes per class."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.n_classes)


def encode_labels(y: ArrayLike) -> Labels:
    """Number the classes that occur, in sorted order.

    Raises:
        InputError: when there is nothing to learn from: no labels, or one class only.

    Example:
        >>> labels = encode_labels(["cat", "", "dog", None, "cat"])
        >>> labels.codes.tolist(), labels.names
        ([0, -1, 1, -1, 0], ('cat', 'dog'))
    """
    array = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if array.ndim != 1:
        raise InputError(f"labels have shape {array.shape}: give one label per node")
    if array.dtype.kind in "OUS":
        known = np.array([_is_label(value) for value in array], dtype=bool)
        values = array[known].tolist()
        if all(isinstance(value, int | float | np.number) for value in values):
            labelled = _whole_numbers(np.asarray(values, dtype=np.float64), np.flatnonzero(known))
        else:
            labelled = np.asarray([str(value) for value in values])
    elif array.dtype.kind in "iufb":
        known = ~np.isnan(array) if array.dtype.kind == "f" else np.ones(len(array), dtype=bool)
        known &= array != -1
        labelled = _whole_numbers(array[known], np.flatnonzero(known))
    else:
        raise InputError(f"labels have dtype {array.dtype}: give integers or text")
    names, codes_known = np.unique(labelled, return_inverse=True)
    if len(names) < 2:
        what = "no node has a label" if not len(names) else f"every label is {str(names[0])!r}"
        raise InputError(f"{what}: a classifier needs at least two classes")
    codes = np.full(len(array), -1, dtype=np.int64)
    codes[known] = codes_known
    return Labels(codes, tuple(str(name) for name in names))


def _is_label(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value.strip() in UNLABELLED):
        return False
    if isinstance(value, float | np.floating) and np.isnan(value):
        return False
    return not (isinstance(value, int | float | np.number) and value == -1)


def _whole_numbers(values: np.ndarray, where: np.ndarray) -> NDArray[np.int64]:
    wrong = (values != np.floor(values)) | (values < 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(
            f"labels[{where[i]}] is {values[i]}: labels must be integers 0..K-1 or text, and -1 or empty for unlabelled"
        )
    return values.astype(np.int64)


def check_embedding(Z: Any, n_nodes: int) -> NDArray[np.float32]:
    """Embeddings as a float32 array with one finite row per node, or an error that says which row is not."""
    array = np.asarray(Z)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise InputError(
            f"the embedding has shape {array.shape} and dtype {array.dtype}: it must be numbers, (nodes, d)"
        )
    if len(array) != n_nodes:
        raise InputError(f"the embedding has {len(array)} rows but there are {n_nodes} labels: give one label per row")
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"Z[{row}, {column}] is {array[row, column]} ({int(bad.any(axis=1).sum())} rows have such values): "
            "embeddings must be finite"
        )
    return np.ascontiguousarray(array, dtype=np.float32)


def normalise_rows(Z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1 (SPEC: the probe sees L2-normalised embeddings); a row of zeros stays as it is."""
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z / np.where(length > 0, length, 1), dtype=np.float32)
