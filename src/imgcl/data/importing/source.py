"""Tables on disk and of pandas: their header, their columns by position, and the SQL that reads them.

A user's column names never become names in SQL. DuckDB ignores upper and lower case, renames columns that collide, and
has names of its own (``rowid``, ``filename``): here a column is ``t.c5``, its place in the header.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from imgcl._core.errors import DataNotFoundError, InputError
from imgcl._core.words import did_you_mean
from imgcl.data.importing.database import quoted_text, run
from imgcl.data.importing.pandas_table import PandasTable, Place

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
DELIMITERS = (",", "\t", ";", "|", " ")
MISSING = ("NA", "N/A", "NaN", "nan", "NULL", "null")  # how other programs write a value that is not there
HEADER_LINES = 100  # a header is looked for in these: column names may hold line breaks, and blank lines come first
SPACE = " \t\n\r\f\v"  # what DuckDB removes around the column names of a CSV file
# DuckDB guesses a type from the first rows, and makes later ones fit: 7.5 would be 8, and a time of day would be lost.
WIDER = {"BIGINT": "DOUBLE", "DATE": "VARCHAR"}


@dataclass(frozen=True)
class Table:
    """A table on disk, or of pandas.

    Attributes:
        path: file or glob, as the user gave it; or what a table of pandas is called.
        sql: what follows ``FROM``; column number ``i`` is ``t.c{i}``.
        names: the columns' names.
        types: the columns' SQL types.
        files: how many files the glob found.
        text: whether values are text that DuckDB has interpreted (CSV), not typed values (Parquet).
        missing: words that mean no value and that ``sql`` leaves as they are.
    """

    path: str
    sql: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    files: int
    text: bool
    missing: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, str]:
        """Name and SQL type of every column."""
        return dict(zip(self.names, self.types, strict=True))

    def place(self, name: str) -> int:
        """Number of a column.

        Raises:
            InputError: where the name does not say which column is meant.
        """
        if self.names.count(name) > 1:
            raise InputError(
                f"{self.path} has {self.names.count(name)} columns named {name!r}: give each a name of its own"
            )
        if self.files > 1 and Counter(other.lower() for other in self.names)[name.lower()] > 1:
            raise InputError(
                f"{self.path} has columns whose names differ from {name!r} in upper and lower case only: "
                "in several files they are ambiguous; rename them, or make one file of them"
            )
        return self.names.index(name)

    def column(self, name: str) -> str:
        """SQL of a column's values as they are in the file."""
        return f"t.c{self.place(name)}"

    def value(self, name: str) -> str:
        """SQL of a column's values, NULL where there is none."""
        column = self.column(name)
        if not self.missing or self.kind(name) != "VARCHAR":
            return column
        return f"CASE WHEN {column} NOT IN ({', '.join(map(quoted_text, self.missing))}) THEN {column} END"

    def kind(self, name: str) -> str:
        """SQL type of a column, without its parameters."""
        return kind_of(self.types[self.place(name)])


def kind_of(sql_type: str) -> str:
    """An SQL type without its parameters.

    Example:
        >>> kind_of("DECIMAL(18,3)")
        'DECIMAL'
    """
    return sql_type.partition("(")[0].upper()


def open_table(
    connection: DuckDBPyConnection,
    path: Place,
    wanted: Mapping[str, str | None],
    *,
    as_text: Sequence[str] | None = None,
    missing: tuple[str, ...] = (),
) -> Table:
    """Look at a file, a glob of them, or a table of pandas.

    Args:
        connection: to DuckDB.
        path: of a Parquet or CSV file; its name decides which. Or the table.
        wanted: setting and the column it names.
        as_text: columns that are read as text from CSV files, so that 007 stays 007; ``None``: all.
        missing: what stands for no value in all columns of CSV files, besides nothing.

    Raises:
        InputError: when the file cannot be read, or has no such column.
    """
    if isinstance(path, PandasTable):
        return _open_pandas(connection, path, wanted)
    files = _files(connection, path)
    if _is_parquet(path):
        return _open_parquet(connection, path, files, wanted)
    return _open_csv(connection, path, len(files), wanted, as_text, missing)


def column_names(connection: DuckDBPyConnection, path: Place, wanted: set[str]) -> tuple[str, ...]:
    """The columns of a table, or of the first of a glob; ``wanted`` ones help to find the delimiter of a CSV file."""
    if isinstance(path, PandasTable):
        return path.names
    files = _files(connection, path)
    if _is_parquet(path):
        return _parquet_names(connection, path, files)
    return tuple(_header(connection, path, wanted)[1])


def _files(connection: DuckDBPyConnection, path: str) -> list[str]:
    if not _kind(path).endswith((*PARQUET, *CSV)):
        raise InputError(f"{path}: the name must end in .parquet, {', '.join(CSV)} (perhaps .gz)")
    found = f"SELECT file FROM glob({quoted_text(path)}) ORDER BY file"
    files = [row[0] for row in run(connection, found, path).fetchall()]
    if not files:
        raise DataNotFoundError(f"there is no file {path}")
    return files


def _kind(path: str) -> str:
    return Path(path).name.lower().removesuffix(".gz").removesuffix(".zst")


def _is_parquet(path: str) -> bool:
    return _kind(path).endswith(PARQUET)


def check_columns(path: str, names: Sequence[str], wanted: Mapping[str, str | None]) -> None:
    """Refuse column names that are not there; ``wanted`` maps a setting to what the user gave."""
    for option, column in wanted.items():
        if column is not None and column not in names:
            hint = did_you_mean(column, names, f"it has {shown(names)}")
            raise InputError(f"{path} has no column {column!r} (`{option}`){hint}")


def shown(names: Sequence[str]) -> str:
    """The first names of a header."""
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")


# --------------------------------------------------------------------- pandas


def _open_pandas(connection: DuckDBPyConnection, table: PandasTable, wanted: Mapping[str, str | None]) -> Table:
    check_columns(str(table), table.names, wanted)
    table.check(wanted)
    source = f"pandas_{table.setting}"
    connection.execute(f"SET pandas_analyze_sample = {max(1, len(table.frame))}")  # objects: all of them, not the first
    connection.register(source, table.plain)
    types = tuple(kind for _, kind in _described(connection, source, str(table)))
    return Table(str(table), _placed(source, len(types)), table.names, types, 1, text=False)


# -------------------------------------------------------------------- Parquet


def _open_parquet(
    connection: DuckDBPyConnection, path: str, files: Sequence[str], wanted: Mapping[str, str | None]
) -> Table:
    source = f"read_parquet({quoted_text(path)}, hive_partitioning = false)"
    names = _parquet_names(connection, path, files)
    check_columns(path, names, wanted)
    types = tuple(kind for _, kind in _described(connection, source, path))
    return Table(path, _placed(source, len(names)), names, types, len(files), text=False)


def _parquet_names(connection: DuckDBPyConnection, path: str, files: Sequence[str]) -> tuple[str, ...]:
    schema = run(connection, f"SELECT name, num_children FROM parquet_schema({quoted_text(files[0])})", path)
    return _top_level(schema.fetchall())


def _top_level(schema: Sequence[tuple[str, int | None]]) -> tuple[str, ...]:
    """The columns among the elements of a schema: its root comes first, parts of a nested column follow the column."""
    names, parts = [], 0
    for name, children in schema[1:]:
        if not parts:
            names.append(name)
        parts = max(0, parts - 1) + (children or 0)
    return tuple(names)


# ------------------------------------------------------------------------ CSV


def _open_csv(
    connection: DuckDBPyConnection,
    path: str,
    files: int,
    wanted: Mapping[str, str | None],
    as_text: Sequence[str] | None,
    missing: tuple[str, ...],
) -> Table:
    delimiter, header, skip = _header(connection, path, {name for name in wanted.values() if name})
    dialect = _dialect(path, delimiter, skip, missing)
    with _fields_counted(connection, dialect, len(header), path):
        described = _described(connection, f"read_csv({dialect})", path)
        if len(described) != len(header):
            raise InputError(f"{path}: the header has {len(header)} fields, but the rows have {len(described)}")
    names = tuple(name or given for name, (given, _) in zip(header, described, strict=True))
    check_columns(path, names, wanted)
    types = "all_varchar = true"
    if as_text is not None:  # DuckDB has other names for columns whose names collide, or mean no value
        chosen = {name: WIDER[kind] for name, kind in described if kind in WIDER}
        chosen |= {described[names.index(name)][0]: "VARCHAR" for name in as_text}
        types = f"types = {{{', '.join(f'{quoted_text(name)}: {quoted_text(kind)}' for name, kind in chosen.items())}}}"
    source = f"read_csv({dialect}, {types})"
    kinds = tuple(kind for _, kind in _described(connection, source, path))
    words = tuple(word for word in MISSING if word not in missing)
    return Table(path, _placed(source, len(names)), names, kinds, files, text=True, missing=words)


def _header(connection: DuckDBPyConnection, path: str, wanted: set[str]) -> tuple[str, list[str], int]:
    """Delimiter, column names, and the number of blank lines above them.

    The delimiter is the first that gives the wanted columns, or else the one that gives the most: a header says more
    about a file than a guess from its rows, where a single wrong line would mislead.
    """
    raw = "auto_detect = false, header = false, columns = {'line': 'VARCHAR'}, delim = chr(7), quote = '', escape = ''"
    query = f"SELECT t.line FROM read_csv({quoted_text(path)}, {raw}, comment = '') AS t LIMIT {HEADER_LINES}"
    lines = [row[0] or "" for row in run(connection, query, path).fetchall()]
    skip = next((i for i, line in enumerate(lines) if line.strip()), None)
    if skip is None:
        raise InputError(f"{path} is empty: the first line must name the columns")
    tried = {delimiter: _first_record(lines[skip:], delimiter) for delimiter in DELIMITERS}
    fitting = [delimiter for delimiter in DELIMITERS if wanted <= set(tried[delimiter])]
    chosen = fitting[0] if fitting else max(DELIMITERS, key=lambda delimiter: len(tried[delimiter]))
    return chosen, tried[chosen], skip


def _first_record(lines: Sequence[str], delimiter: str) -> list[str]:
    try:
        record = next(csv.reader([line + "\n" for line in lines], delimiter=delimiter))
    except csv.Error:  # a wide header without this delimiter is longer than a field may be
        record = lines[0].split(delimiter)
    return [name.strip(SPACE) for name in record]


def _dialect(path: str, delimiter: str, skip: int, missing: Sequence[str]) -> str:
    """Arguments of ``read_csv`` that leave nothing but the types of the columns to be guessed."""
    nulls = ", ".join(map(quoted_text, ("", *missing)))
    return (
        f"{quoted_text(path)}, header = true, skip = {skip}, delim = {quoted_text(delimiter)}, quote = '\"', "
        f"escape = '\"', comment = '', nullstr = [{nulls}], hive_partitioning = false"
    )


@contextmanager
def _fields_counted(connection: DuckDBPyConnection, dialect: str, fields: int, path: str) -> Iterator[None]:
    """Where rows differ in length, DuckDB guesses in vain: read without guessing, and the error names the line."""
    try:
        yield
    except InputError:
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(fields))
        source = f"read_csv({dialect}, auto_detect = false, columns = {{{columns}}})"
        run(connection, f"SELECT count(t.c{fields - 1}) FROM {source} AS t", path).fetchall()
        raise


# ----------------------------------------------------------------------- both


def _described(connection: DuckDBPyConnection, source: str, path: str) -> list[tuple[str, str]]:
    """DuckDB's name and type of every column."""
    return [(name, kind) for name, kind, *_ in run(connection, f"DESCRIBE SELECT * FROM {source}", path).fetchall()]


def _placed(source: str, columns: int) -> str:
    return f"{source} AS t({', '.join(f'c{i}' for i in range(columns))})"
