"""The relations of a table of edges: which there are, and the edges of each in a store of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from imgcl._core.errors import GraphError, InputError
from imgcl.data.importing.database import run
from imgcl.data.importing.settings import ImportSettings
from imgcl.data.importing.source import Table
from imgcl.data.store import PairFile, StoreWriter, build_csr
from imgcl.graph.relations import MOST_RELATIONS, check_relation_names

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CODES = "relation_codes"  # table of names and their numbers
UNKNOWN = -1  # number of a relation that is not kept by itself
MOST_NAMES = 1000  # of relations that are looked at
HEADER = 128  # bytes of an .npy file without values


def find_relations(connection: DuckDBPyConnection, table: Table, settings: ImportSettings) -> tuple[str, ...]:
    """The names of all relations, in their order.

    Raises:
        InputError: for rows without a relation, or more relations than can be told apart.
    """
    assert settings.relation is not None
    value = f"CAST({table.value(settings.relation)} AS VARCHAR)"
    found = f"SELECT DISTINCT {value} AS name FROM {table.sql}"
    query = f"SELECT r.name FROM ({found}) AS r ORDER BY r.name LIMIT {MOST_NAMES}"
    names = [row[0] for row in run(connection, query, settings.edges).fetchall()]
    what = f"{settings.edges}: column {settings.relation!r} (`relation`)"
    if None in names:
        raise InputError(f"{what} is missing in some rows: every edge needs a relation")
    if settings.relations == "side-by-side":
        if len(names) > MOST_RELATIONS:
            raise InputError(
                f"{what} has more than {MOST_RELATIONS} different values: that many cannot be kept side by side; use "
                "`relations='union'`, or fewer names"
            )
        try:
            check_relation_names(names)
        except GraphError as error:
            raise InputError(f"{what}: {error}") from None
    return tuple(names)


def number_relations(connection: DuckDBPyConnection, names: Sequence[str]) -> None:
    """Make the table of names and numbers that edges are joined with."""
    connection.execute(
        f"CREATE TEMP TABLE {CODES} AS SELECT unnest(?::VARCHAR[]) AS name, unnest(range(?)) AS code",
        [list(names), len(names)],
    )


class RelationFiles:
    """The edges of every relation, first as pairs and then as arrays of a store.

    Args:
        folder: for the pairs.
        names: of the relations.
        n_nodes: number of nodes.
        weighted: whether edges have weights.
    """

    def __init__(self, folder: Path, names: Sequence[str], n_nodes: int, *, weighted: bool) -> None:
        self.names, self.folder = tuple(names), folder
        self.pairs = [PairFile(folder / f"pairs-{i}", n_nodes, weighted=weighted) for i in range(len(names))]

    def append(self, codes: np.ndarray, source: np.ndarray, target: np.ndarray, weights: np.ndarray) -> None:
        """Add edges, each to the relation with its number."""
        for code, pairs in enumerate(self.pairs):
            chosen = codes == code
            if chosen.any():
                pairs.append(source[chosen], target[chosen], weights[chosen])

    def write(self, writer: StoreWriter, settings: ImportSettings) -> None:
        """Make neighbour lists of all relations and put them into the store."""
        for i, pairs in enumerate(self.pairs):
            write_lists(writer, pairs, f"relation_{i}", self.folder / f"weights-{i}.npy", settings)


def write_lists(writer: StoreWriter, pairs: PairFile, prefix: str, weights: Path, settings: ImportSettings) -> None:
    """Make neighbour lists of pairs and put them into the store; ``weights`` is a scratch file."""
    built = build_csr(
        pairs,
        writer.file(f"{prefix}_indices"),
        weights_out=weights if pairs.weights is not None else None,
        directed_as=settings.directed_as,
        memory=settings.memory_limit // 8,
    )
    writer.array(f"{prefix}_indptr", built.indptr)
    keep_weights(writer, weights, f"{prefix}_edge_weight")


def keep_weights(writer: StoreWriter, path: Path, name: str) -> tuple[float, float, float] | None:
    """Move weights into the store, unless there are none or all are 1; their smallest, largest and mean."""
    if not path.exists():
        return None
    empty = path.stat().st_size <= HEADER  # such a file cannot be mapped
    weights = np.ones(0) if empty else np.load(path, mmap_mode="r", allow_pickle=False)
    if bool((weights == 1).all()):
        return None
    path.rename(writer.file(name))
    return float(weights.min()), float(weights.max()), float(weights.mean(dtype=np.float64))
