"""The archives of MUSAE's graphs at SNAP: edges and classes as CSV, features as JSON, in one ``.zip`` file."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from imgcl._core.documents import json_bytes, parse_json
from imgcl._core.errors import DataNotFoundError, GraphError
from imgcl._core.words import one_line
from imgcl.data.benchmark_npz import MOST_FEATURES
from imgcl.graph import Graph

DAMAGE = (zipfile.BadZipFile, OSError, ValueError, KeyError, TypeError, IndexError, EOFError, csv.Error)


def read_musae(path: str | Path, *, name: str | None = None) -> Graph:
    """Read a graph of MUSAE's authors (Rozemberczki et al.) as SNAP offers it.

    Args:
        path: a ``.zip`` with files that end in ``_edges.csv`` (two columns of node numbers), ``_features.json`` (of
            every node the features it has) and ``_target.csv`` (node number first, class last). Nothing is unpacked.
        name: what to call the graph; by default the file's name.

    Raises:
        GraphError: when a part is missing or damaged, or does not fit the others.
    """
    path = Path(path)
    if not path.is_file():
        raise DataNotFoundError(f"there is no file {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            edges = _read_rows(archive, "_edges.csv")
            target = _read_rows(archive, "_target.csv")
            features = _read_features(parse_json(_read(archive, "_features.json")), len(target))
        labels, class_names = _number_classes(target)
        pairs = np.array([row[:2] for row in edges], dtype=np.int64).T
        return Graph.from_edges(pairs, features, labels, name=name or path.stem, class_names=class_names)
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None
    except DAMAGE as error:
        reason = one_line(error)
        raise GraphError(f"{path} is not an archive of edges, features and classes ({reason}): get it again") from None


def _read(archive: zipfile.ZipFile, ending: str) -> bytes:
    """The one file with that ending, of a size that fits into memory when it is parsed."""
    found = [info for info in archive.infolist() if info.filename.endswith(ending)]
    if len(found) != 1:
        raise GraphError(f"it has {len(found)} files that end in {ending}: expected one")
    with archive.open(found[0]) as stream:
        raw = stream.read(json_bytes() + 1)
    if len(raw) > json_bytes():
        raise GraphError(f"{found[0].filename} has more than {json_bytes():,} bytes, the most that is read")
    return raw


def _read_rows(archive: zipfile.ZipFile, ending: str) -> list[list[str]]:
    """Rows of a CSV file below its header."""
    text = io.StringIO(_read(archive, ending).decode("utf-8"), newline="")
    return [row for row in csv.reader(text) if row][1:]


def _read_features(lists: Any, n_nodes: int) -> sp.csr_array:
    """Ones where a node has a feature."""
    columns = [np.unique(np.array(lists[str(node)], dtype=np.int64)) for node in range(n_nodes)]
    indices = np.concatenate([*columns, np.zeros(0, np.int64)])
    width = int(indices.max(initial=-1)) + 1
    if width > MOST_FEATURES or indices.min(initial=0) < 0:
        raise GraphError(f"features must be 0..{MOST_FEATURES - 1:,}")
    indptr = np.cumsum([0, *map(len, columns)])
    return sp.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(n_nodes, width))


def _number_classes(rows: list[list[str]]) -> tuple[NDArray[np.int64], list[str]]:
    """Class of every node, by the order of the classes' names."""
    classes = {int(row[0]): row[-1] for row in rows}
    names, labels = np.unique([classes[node] for node in range(len(rows))], return_inverse=True)
    return labels.astype(np.int64), names.tolist()
