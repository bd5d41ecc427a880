"""A DuckDB database in a scratch folder, with bounded memory; what does not fit spills to disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd

from imgcl._core.errors import DataNotFoundError, InputError
from imgcl.data.importing.pandas_table import Place

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

VECTORS = 64  # of 2,048 rows: how much of a result is in memory at once
SHARE = 0.55  # of the memory limit: the rest is for the arrays on our side and for what DuckDB does not count
# The name of a file must never make DuckDB load code, let alone fetch it from the network.
NO_EXTENSIONS = ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions")


@contextmanager
def scratch_database(folder: Path, memory: int) -> Iterator[DuckDBPyConnection]:
    """A connection that uses at most about its share of ``memory`` bytes."""
    connection = duckdb.connect(str(folder / "import.duckdb"))
    try:
        connection.execute(f"SET memory_limit = '{int(SHARE * memory)}B'")
        connection.execute(f"SET temp_directory = {quoted_text(str(folder / 'spill'))}")
        with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets there is no bar to switch off
            connection.execute("SET enable_progress_bar = false")
        for setting in NO_EXTENSIONS:
            connection.execute(f"SET {setting} = false")
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise InputError(f"the import needs more memory ({first_line(error)}): raise `memory_limit`") from None
    except duckdb.Error as error:
        raise InputError(f"the tables cannot be used: {first_line(error)}") from None
    except RuntimeError as error:
        if "interrupted" in str(error):  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from None
        raise
    finally:
        connection.close()


@contextmanager
def reading(path: Place) -> Iterator[None]:
    """DuckDB's complaint about a user's table becomes one line."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        if "No files found" in str(error):
            raise DataNotFoundError(f"there is no file {path}") from None
        raise InputError(_what_is_wrong(str(error), path)) from None


def _what_is_wrong(complaint: str, path: Place) -> str:
    """DuckDB's complaint in one line, with the line of a CSV file that it is about."""
    place = re.search(r"CSV Error on Line: (\d+)\n", complaint)
    other = re.search(r'^Current file: (.*)\nColumn with name: "(.*)" is missing', complaint, re.MULTILINE)
    if other:
        return f"{path}: the files have different columns: {other[1]} has no {other[2]!r}"
    if place is None:
        return f"{path} cannot be read: {first_line(complaint)}"
    file = re.search(r"^  file = (.*)$", complaint, re.MULTILINE)
    where = f"{file[1] if file else path}, line {place[1]}"
    fields = re.search(r"^Expected Number of Columns: (\d+) Found: (\d+)", complaint, re.MULTILINE)
    if fields:
        return f"{where}: it has {fields[2]} fields, but the header has {fields[1]}: mend the line, or quote its values"
    value = re.search(r'converting column "(.*)"\. Could not convert string "(.*)" to \'(\w+)\'', complaint, re.DOTALL)
    if value:
        return (
            f"{where}: {value[2]!r} in column {value[1]!r} cannot be read as {value[3]}, the type of the rows above: "
            "mend the value, or leave it empty"
        )
    reason = re.search(r"^.*(?:unterminated quote|not utf-8).*$", complaint, re.MULTILINE)
    return f"{where} cannot be read: {reason[0] if reason else first_line(complaint)}"


def run(connection: DuckDBPyConnection, query: str, path: Place) -> DuckDBPyConnection:
    """Execute a query that reads a user's table."""
    with reading(path):
        return connection.execute(query)


def chunks(result: DuckDBPyConnection, path: Place = "the table") -> Iterator[pd.DataFrame]:
    """The rows of a result, some at a time; the file is read meanwhile, and may turn out wrong far down."""
    while True:
        with reading(path):
            frame = result.fetch_df_chunk(VECTORS)
        if not len(frame):
            return
        yield frame


def scalar(connection: DuckDBPyConnection, query: str) -> Any:
    """The one value of a query."""
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def quoted_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: BaseException | str) -> str:
    """What an error says, without the pages that follow."""
    return str(error).strip().split("\n")[0]


def logarithm(value: str) -> str:
    """SQL of the logarithm of 1 more than a number's size, with the number's sign.

    Example:
        >>> logarithm("f")
        'sign(f) * ln(1 + abs(f))'
    """
    return f"sign({value}) * ln(1 + abs({value}))"
