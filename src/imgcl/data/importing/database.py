"""A DuckDB database in a scratch folder, with its memory bounded and what does not fit on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd

from imgcl._core.errors import DataNotFoundError, InputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

VECTORS = 64  # of 2,048 rows: how much of a result is in memory at once
SHARE = 0.55  # of the memory limit: the rest is for the arrays on our side and for what DuckDB does not count
CSV = (".csv", ".tsv", ".txt")
MISSING = ("NA", "N/A", "NaN", "nan", "NULL", "null")  # how other programs write a value that is not there
# The name of a file must never make DuckDB load code, let alone fetch it from the network.
NO_EXTENSIONS = ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions")


@contextmanager
def scratch_database(folder: Path, memory: int) -> Iterator[DuckDBPyConnection]:
    """A connection that uses at most about its share of ``memory`` bytes."""
    connection = duckdb.connect(str(folder / "import.duckdb"))
    try:
        connection.execute(f"SET memory_limit = '{int(SHARE * memory)}B'")
        connection.execute(f"SET temp_directory = {quoted_text(str(folder / 'spill'))}")
        connection.execute("SET enable_progress_bar = false")
        for setting in NO_EXTENSIONS:
            connection.execute(f"SET {setting} = false")
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise InputError(f"the import needs more memory ({first_line(error)}): raise --memory-limit") from None
    except duckdb.Error as error:
        raise InputError(f"the tables cannot be used: {first_line(error)}") from None
    except RuntimeError as error:
        if "interrupted" in str(error):  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from None
        raise
    finally:
        connection.close()


def table_source(path: str, text_columns: tuple[str, ...] = (), missing: tuple[str, ...] = ()) -> str:
    """The SQL that reads a file or glob.

    In CSV files the text columns are read as text, so that 007 stays 007, and ``missing`` is what stands for no value,
    besides nothing.
    """
    kind = Path(path).name.lower().removesuffix(".gz").removesuffix(".zst")
    if kind.endswith((".parquet", ".pq")):
        return f"read_parquet({quoted_text(path)})"
    if kind.endswith(CSV):
        options = [quoted_text(path)]
        if text_columns:
            types = ", ".join(f"{quoted_text(column)}: 'VARCHAR'" for column in text_columns)
            options.append(f"types = {{{types}}}")
        if missing:
            options.append(f"nullstr = [{', '.join(map(quoted_text, ('', *missing)))}]")
        return f"read_csv({', '.join(options)})"
    raise InputError(f"{path}: the name must end in .parquet, {', '.join(CSV)} (perhaps .gz)")


def columns_of(connection: DuckDBPyConnection, source: str, path: str) -> dict[str, str]:
    """Name and SQL type of every column."""
    return {name: kind for name, kind, *_ in run(connection, f"DESCRIBE SELECT * FROM {source}", path).fetchall()}


def check_columns(path: str, found: dict[str, str], wanted: dict[str, str | None]) -> None:
    """Refuse column names that are not there; ``wanted`` maps an option to what the user gave."""
    for option, column in wanted.items():
        if column is not None and column not in found:
            shown = ", ".join(list(found)[:12]) + (", …" if len(found) > 12 else "")
            raise InputError(f"{path} has no column {column!r} (--{option}): it has {shown}")


@contextmanager
def reading(path: str) -> Iterator[None]:
    """DuckDB's complaint about a user's file becomes one line."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        if "No files found" in str(error):
            raise DataNotFoundError(f"there is no file {path}") from None
        raise InputError(f"{path} cannot be read: {first_line(error)}") from None


def run(connection: DuckDBPyConnection, query: str, path: str) -> DuckDBPyConnection:
    """Execute a query that reads a user's file."""
    with reading(path):
        return connection.execute(query)


def chunks(result: DuckDBPyConnection, path: str = "the table") -> Iterator[pd.DataFrame]:
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


def quoted(name: str) -> str:
    """A column name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: BaseException) -> str:
    """What an error says, without the pages that follow."""
    return str(error).strip().split("\n")[0]
