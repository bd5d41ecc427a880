"""The one rule of what "no label" is, for arrays, lists, pandas, files and other libraries' graphs.

``docs/own_graph.md`` has the rule as a table. Typed values (Python, Parquet) and text files differ in a few words: a
text file has nothing but words for a missing value, while in typed data ``"NA"`` may be Namibia.
"""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.arrays import as_array
from imgcl._core.errors import InputError

WORDS = frozenset({"", "-1", "-1.0", "nan", "NaN", "NaT", "<NA>"})  # what missing values become as text
FILE_WORDS = WORDS | {"NA", "N/A", "NULL", "null"}  # how other programs write a missing value into a text file
INFINITE = frozenset({"inf", "-inf"})  # as text
EXACT = 2**53  # from here on a float no longer tells an integer from the next one
RULE = "labels must be integers 0..K-1, or -1 for unlabelled"


def is_unlabelled(value: Any, words: frozenset[str] = WORDS) -> bool:
    """Whether a single value means that a node has no label.

    Args:
        value: None, NaN, NaT, pandas' NA, a masked value, -1 and text (or bytes) that is one of ``words`` do.
        words: ``WORDS``, or ``FILE_WORDS`` for the cells of a text file.

    Example:
        >>> [is_unlabelled(value) for value in (None, " ", -1.0, float("nan"), b"", 0, "NA")]
        [True, True, True, True, True, False, False]
    """
    if isinstance(value, str | bytes):
        return as_text(value).strip() in words
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value) or bool(value == -1)  # NaN and NaT differ from themselves
    except TypeError:  # pandas' NA does not say what it equals
        return True


def is_infinite(value: Any) -> bool:
    """Whether a value is an infinite number, also as text.

    It is refused as a label: no program writes it for a missing value, so it comes from a division by 0.
    """
    if isinstance(value, str | bytes):
        return as_text(value).strip() in INFINITE
    return isinstance(value, Real | Decimal) and abs(value) == math.inf


def as_text(value: Any) -> str:
    """What a class is called: bytes as UTF-8, whole numbers without a point, anything else as Python prints it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def label_array(y: Any) -> NDArray[Any]:
    """Labels as an array of numbers, or of objects where an array of numbers or text would change them."""
    if isinstance(y, np.ma.MaskedArray):
        y = y.tolist()
    if isinstance(y, list | tuple) or _is_extension(y):
        return _list_array([None if value is np.ma.masked else value for value in y])
    array = as_array(y)
    return np.array(list(array), dtype=object) if array.dtype.kind in "mM" else array


def _list_array(values: list[Any]) -> NDArray[Any]:
    """Objects unless all are integers: numpy would make 2^53 + 1 a float beside a float, and text beside text."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths, which are refused one by one
        return np.asarray(values, dtype=object)
    return array if array.dtype.kind in "iub" else np.asarray(values, dtype=object)


def _is_extension(y: Any) -> bool:
    """A column of pandas or polars whose type numpy does not have: nullable, text, categories, dates with zones."""
    return hasattr(y, "to_numpy") and len(y.shape) == 1 and not isinstance(y.dtype, np.dtype)


def labelled(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries of a :func:`label_array` are labels.

    Raises:
        InputError: for an infinite number, or a type that holds no labels.
    """
    kind = array.dtype.kind
    if kind not in "iubfOUS":
        raise InputError(f"labels have dtype {array.dtype}: give integers or text")
    if kind in "iub":
        return np.asarray(array != -1, dtype=np.bool_)
    if kind == "f":
        known: NDArray[np.bool_] = ~np.isnan(array) & (array != -1)
        infinite = np.isinf(array)
    else:
        values = array.tolist()
        known = np.array([not is_unlabelled(_single(value, i)) for i, value in enumerate(values)], dtype=bool)
        infinite = np.array([is_infinite(value) for value in values], dtype=bool)
    if infinite.any():
        i = int(np.argmax(infinite))
        raise InputError(f"labels[{i}] is {array[i]}, which is no class: {RULE}")
    return known


def _single(value: Any, i: int) -> Any:
    if isinstance(value, list | tuple | dict | set) or (isinstance(value, np.ndarray) and value.ndim):
        raise InputError(f"labels[{i}] is {value!r}: give one label per node")
    return value


def are_numbers(array: NDArray[Any], known: NDArray[np.bool_]) -> bool:
    """Whether all labels are numbers (or truth values), not text."""
    if array.dtype.kind != "O":
        return array.dtype.kind in "iubf" or not known.any()
    return all(isinstance(value, Real | Decimal | np.bool_) for value in array[known])


def whole_numbers(array: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
    """The labels among numbers as integers, exactly, however large.

    Raises:
        InputError: naming the first that is negative, a fraction, or a float too large to be exact.
    """
    values, places = array[known], np.flatnonzero(known)
    if array.dtype.kind == "b" or not len(values):
        return values.astype(np.int64)
    for i in np.flatnonzero(_not_whole(values))[:1]:
        raise InputError(f"labels[{places[i]}] is {values[i]}: {RULE}")
    for i in np.flatnonzero(_inexact(values))[:1]:
        raise InputError(
            f"labels[{places[i]}] is the float {values[i]}: above 2^53 floats merge neighbouring integers; "
            "give integers or text"
        )
    if array.dtype.kind in "iu":
        return values
    return _exact_integers([int(value) for value in values])


def _not_whole(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "O":
        return np.array([value < 0 or value != int(value) for value in values], dtype=bool)
    fraction = values != np.floor(values) if values.dtype.kind == "f" else False
    return np.asarray((values < 0) | fraction)


def _inexact(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "O":
        return np.array([isinstance(v, float | np.floating) and v >= EXACT for v in values], dtype=bool)
    if values.dtype.kind != "f":
        return np.zeros(len(values), dtype=bool)
    return np.asarray(values.astype(np.float64) >= EXACT)  # 2^53 is infinite as float16


def _exact_integers(values: list[int]) -> NDArray[Any]:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def check_all_labelled(y: Any) -> None:
    """Refuse labels with gaps where every row reaches a classifier, as in a scikit-learn pipeline.

    Raises:
        InputError: with the first node that has no label; targets of a regression (fractions) are left alone.
    """
    array = label_array(y)
    if array.ndim != 1 or _is_continuous(array):
        return
    without = np.flatnonzero(~labelled(array))
    if len(without):
        raise InputError(
            f"y has no label for {len(without):,} of {len(array):,} nodes (the first is y[{without[0]}]): a pipeline "
            "cannot leave nodes out, and the next step would learn them as a class; fit ImGCL on the graph alone and "
            "the classifier on embedding_[labelled], y[labelled], or use imgcl.evaluation.predict"
        )


def _is_continuous(array: NDArray[Any]) -> bool:
    if array.dtype.kind != "f":
        return False
    finite = array[np.isfinite(array)]
    return bool((finite != np.floor(finite)).any())
