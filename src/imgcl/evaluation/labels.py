"""Labels and embeddings as users have them, checked and turned into arrays.

Labels may be integers or text; :mod:`imgcl._core.unlabelled` says which values mean "no label".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from imgcl._core.errors import InputError
from imgcl._core.unlabelled import are_numbers, as_text, label_array, labelled, whole_numbers
from imgcl.graph.checks import check_distinct

# A row whose largest entry is between these has squares in float32's range, and a sum of them for up to 2^27 columns.
SMALLEST, LARGEST = 2.0**-40, 2.0**50
FEWEST = 3  # labelled nodes of a class that one may be trained, validated and tested on


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as class numbers.

    Attributes:
        codes: class number 0..K-1 of each node, -1 for unlabelled.
        names: what each class is called, as text.
    """

    codes: NDArray[np.int64]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        check_distinct("class_names", self.names)

    @property
    def n_classes(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Labelled nodes per class."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.n_classes)


def encode_labels(y: ArrayLike, class_names: Sequence[str] | None = None) -> Labels:
    """Number the classes that occur, in sorted order, to train a classifier on them.

    Raises:
        InputError: when there is nothing to learn from (no labels, or one class only), or a label is neither an
            integer 0 or more nor text.

    Example:
        >>> labels = encode_labels(["cat", "", "dog", None, "cat"])
        >>> labels.codes.tolist(), labels.names
        ([0, -1, 1, -1, 0], ('cat', 'dog'))
    """
    labels = named(number_classes(y), class_names)
    if labels.n_classes < 2:
        what = "no node has a label" if not labels.names else f"every label is {labels.names[0]!r}"
        raise InputError(f"{what}: a classifier needs at least two classes")
    return labels


def number_classes(y: ArrayLike) -> Labels:
    """Number the classes that occur, in sorted order; there may be one, or none.

    Example:
        >>> number_classes([None, "cat"]).names
        ('cat',)
    """
    array = label_array(y)
    if array.ndim != 1:
        raise InputError(f"labels have shape {array.shape}: give one label per node")
    known = labelled(array)
    if are_numbers(array, known):
        classes, codes_known = np.unique(whole_numbers(array, known), return_inverse=True)
        names = tuple(str(number) for number in classes)
    else:
        codes_known, names = _named_classes(array[known].tolist())
    codes = np.full(len(array), -1, dtype=np.int64)
    codes[known] = codes_known
    return Labels(codes, names)


def _named_classes(values: list[Any]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Class number of each value, and the classes by name; 1 and "1" are not one class."""
    called = [as_text(value) for value in values]
    first: dict[str, Any] = {}
    for name, value in zip(called, values, strict=True):
        if first.setdefault(name, value) != value:
            raise InputError(f"labels {first[name]!r} and {value!r} are both called {name!r}: give all as text")
    names = tuple(sorted(first))
    number = {name: k for k, name in enumerate(names)}
    return np.array([number[name] for name in called], dtype=np.int64), names


def without_few(labels: Labels) -> tuple[Labels, str | None]:
    """The labels without classes that are too small to train, validate and test on, and a sentence that names these.

    Where fewer than two classes would be left, nothing is left out.

    Example:
        >>> kept, remark = without_few(encode_labels(["a", "a", "a", "b", "c", "c", "c"]))
        >>> kept.codes.tolist(), kept.names
        ([0, 0, 0, -1, 1, 1, 1], ('a', 'c'))
        >>> remark
        "left out, under 3 labelled nodes: 'b' 1"
    """
    sizes = labels.sizes
    kept = np.flatnonzero(sizes >= FEWEST)
    if len(kept) == labels.n_classes or len(kept) < 2:
        return labels, None
    new = np.full(labels.n_classes + 1, -1, dtype=np.int64)  # its last entry is for nodes without a label
    new[kept] = np.arange(len(kept))
    few = ", ".join(f"{labels.names[k]!r} {sizes[k]}" for k in np.flatnonzero(sizes < FEWEST))
    remark = f"left out, under {FEWEST} labelled nodes: {few}"
    return Labels(new[labels.codes], tuple(labels.names[k] for k in kept)), remark


def named(labels: Labels, class_names: Sequence[str] | None) -> Labels:
    """The labels with classes called as in ``class_names``, which the integer label indexes."""
    if class_names is None:
        return labels
    if not all(name.isascii() and name.isdecimal() and int(name) < len(class_names) for name in labels.names):
        raise InputError(
            f"there are {len(class_names)} class names but the labels are {', '.join(labels.names)}: "
            "class names need labels 0..K-1"
        )
    return Labels(labels.codes, tuple(str(class_names[int(name)]) for name in labels.names))


def check_embedding(Z: Any, n_nodes: int | None = None) -> NDArray[np.float32]:
    """Embeddings as a float32 array with one finite row per node, or an error that says which row is not.

    Rows whose squares float32 cannot hold are multiplied by a power of two: only the directions of rows matter to an
    evaluation.
    """
    return _squarable(finite_rows(Z, n_nodes))


def finite_rows(Z: Any, n_nodes: int | None = None) -> np.ndarray:
    """Embeddings as an array of numbers with one finite row per node; a tensor is detached."""
    array = np.asarray(_detached(Z))
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise InputError(
            f"the embedding has shape {array.shape} and dtype {array.dtype}: it must be numbers, (nodes, d)"
        )
    if n_nodes is not None and len(array) != n_nodes:
        raise InputError(f"the embedding has {len(array)} rows but there are {n_nodes} labels: give one label per row")
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"Z[{row}, {column}] is {array[row, column]} ({int(bad.any(axis=1).sum())} rows have such values): "
            "embeddings must be finite"
        )
    return array


def normalise_rows(Z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1 (SPEC: the probe sees L2-normalised embeddings); a row of zeros stays as it is."""
    rows = _squarable(Z)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1), dtype=np.float32)


def _detached(Z: Any) -> Any:
    """A tensor as an array: without its gradient, from any device; numpy has no bfloat16."""
    if not isinstance(Z, torch.Tensor):
        return Z
    values = Z.detach().cpu()
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy()


def _squarable(array: np.ndarray) -> NDArray[np.float32]:
    """The rows in float32; rows too small or too large to be squared there are multiplied by a power of two."""
    size = np.maximum(array.max(axis=1, initial=0).astype(np.float64), -array.min(axis=1, initial=0).astype(np.float64))
    scaled = (size > 0) & ((size < SMALLEST) | (size > LARGEST))
    if not scaled.any():
        return np.ascontiguousarray(array, dtype=np.float32)
    with np.errstate(over="ignore", under="ignore"):  # of the rows that are replaced
        rows = np.array(array, dtype=np.float32, order="C")
    _, exponent = np.frexp(size[scaled])
    rows[scaled] = np.ldexp(array[scaled].astype(np.float64), -exponent[:, None])
    return rows
