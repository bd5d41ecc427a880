"""Text in CSV files that a spreadsheet program must not take for a formula."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# What begins a formula in some spreadsheet program, also in the wide forms of East Asian keyboards.
FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def safe_cell(value: Any) -> Any:
    """The same value; text that a spreadsheet could take for a formula gets an apostrophe in front, numbers do not.

    Example:
        >>> safe_cell("=1+1"), safe_cell("-2.5"), safe_cell(-2.5), safe_cell("a=b")
        ("'=1+1", '-2.5', -2.5, 'a=b')
    """
    if not isinstance(value, str) or NUMBER.fullmatch(value):
        return value
    return f"'{value}" if value.lstrip(" ").startswith(FORMULA) else value


def write_frame(frame: pd.DataFrame, path: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write a table as CSV.

    Args:
        frame: the table.
        path: of the file.
        spreadsheet_safe: mark text that looks like a formula, and quote all text, so that a program that separates by
            semicolons does not cut it into cells of its own.
    """
    if not spreadsheet_safe:
        frame.to_csv(path, index=False)
        return
    frame.map(safe_cell).rename(columns=safe_cell).to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC)
