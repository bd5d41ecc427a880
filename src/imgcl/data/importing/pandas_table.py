"""Tables of pandas in place of files: every column becomes one that DuckDB reads without guessing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from imgcl._core.errors import InputError
from imgcl._core.unlabelled import EXACT, as_text

TEXT = pd.StringDtype("python")  # DuckDB reads it as text without looking at the values
NULLABLE = {"i": "Int64", "u": "UInt64", "b": "boolean", "f": "Float64"}
READ_AS = {"boolean": "boolean", "floating": "Float64", "mixed-integer-float": "Float64", "decimal": "Float64"}
WHOLE = ("integer", "integer-na")
SINGLE = (str, bytes, Real, Decimal, np.bool_, np.generic)


@dataclass(frozen=True, eq=False)
class PandasTable:
    """A ``DataFrame`` where a file might be named; in messages it is called as the setting that it was given as.

    Attributes:
        frame: the table.
        setting: ``nodes`` or ``edges``.

    Example:
        >>> table = PandasTable(pd.DataFrame({"id": ["a"], 7: [1.5]}), "nodes")
        >>> str(table), table.names
        ('`nodes`', ('id', '7'))
    """

    frame: pd.DataFrame
    setting: str

    def __str__(self) -> str:
        return f"`{self.setting}`"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, by what they are called as text."""
        return tuple(str(name) for name in self.frame.columns)

    @cached_property
    def plain(self) -> pd.DataFrame:
        """The columns as DuckDB reads them, in their order, called ``c0``, ``c1``, …; of odd ones it sees lists."""
        columns = {
            f"c{i}": _unreadable(len(self.frame)) if i in self._odd else _plain(self.frame.iloc[:, i])
            for i in range(self.frame.shape[1])
        }
        return pd.DataFrame(columns, index=range(len(self.frame)))

    def check(self, wanted: Mapping[str, str | None]) -> None:
        """Refuse columns that are needed and hold something else than numbers, text and dates."""
        for i, name in enumerate(self.names):
            if i in self._odd and name in wanted.values():
                row = self._odd[i]
                value = self.frame.iloc[row, i]
                raise InputError(f"{self}: column {name!r} is {value!r} in row {row + 1:,}: give numbers or text")

    @cached_property
    def _odd(self) -> dict[int, int]:
        """Columns with values that no table has, such as lists, and their first such row."""
        rows = {i: _odd_row(self.frame.iloc[:, i]) for i in range(self.frame.shape[1])}
        return {i: row for i, row in rows.items() if row is not None}


Place = str | PandasTable  # where a table is: a file, a glob of files, or memory


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column as DuckDB reads it.

    Categories are text whatever they are made of; dates are text as in a CSV file; objects are what all of them are, or
    text.
    """
    values = column.reset_index(drop=True)
    if isinstance(values.dtype, pd.SparseDtype):
        values = values.astype(values.dtype.subtype)
    kind = "C" if isinstance(values.dtype, pd.CategoricalDtype) else values.dtype.kind
    if kind in NULLABLE:
        return _numbers(values, kind)
    if kind == "M":
        return _dates(values)
    if kind in "mc":
        return values
    return _texts(values) if kind == "C" else _objects(values)


def _numbers(values: pd.Series[Any], kind: str) -> pd.Series[Any]:
    if not isinstance(values.dtype, np.dtype):
        return values.astype(NULLABLE[kind])  # type: ignore[call-overload, no-any-return]
    dtype = np.dtype(np.float64) if values.dtype.itemsize == 16 else values.dtype.newbyteorder("=")
    return values.astype(dtype)


def _dates(values: pd.Series[Any]) -> pd.Series[Any]:
    """Days as text; a column with times of day stays as it is, and no feature is made of it."""
    known = values.dropna()
    return values.dt.strftime("%Y-%m-%d").astype(TEXT) if (known == known.dt.normalize()).all() else values


def _objects(values: pd.Series[Any]) -> pd.Series[Any]:
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind == "string":
        return values.astype(TEXT)
    if kind in READ_AS and not _rounded(values):
        return values.astype(float if kind == "decimal" else object).astype(READ_AS[kind])  # type: ignore[call-overload, no-any-return]
    if kind in WHOLE:
        return _whole_numbers(values)
    return _texts(values)


def _rounded(values: pd.Series[Any]) -> bool:
    """Whether whole numbers would change as floats: two of them might become one."""
    whole: list[Any] = [value for value in values.dropna() if isinstance(value, int | Decimal)]
    return any(EXACT <= abs(value) < 1e308 and float(value) != value for value in whole)


def _whole_numbers(values: pd.Series[Any]) -> pd.Series[Any]:
    try:
        return values.astype("Int64")
    except (OverflowError, TypeError):  # DuckDB has larger ones
        return values.astype(object).where(values.notna(), None)


def _texts(values: pd.Series[Any]) -> pd.Series[Any]:
    objects = values.astype(object)
    return pd.Series([None if pd.isna(value) else as_text(value) for value in objects], dtype=TEXT)


def _unreadable(rows: int) -> pd.Series[Any]:
    return pd.Series([["?"]] * rows, dtype=object)


def _odd_row(column: pd.Series[Any]) -> int | None:
    """The first row with a list or another thing that is no single value."""
    if column.dtype != object or pd.api.types.infer_dtype(column, skipna=True) not in ("mixed", "mixed-integer"):
        return None
    odd = (i for i, value in enumerate(column) if not isinstance(value, SINGLE) and not _is_missing(value))
    return next(odd, None)


def _is_missing(value: Any) -> bool:
    return pd.api.types.is_scalar(value) and bool(pd.isna(value))
