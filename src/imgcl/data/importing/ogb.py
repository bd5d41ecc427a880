"""Node data sets of the Open Graph Benchmark, from the raw files that its downloader leaves on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import GraphError
from imgcl.data.importing.database import scratch_database
from imgcl.data.importing.ogb_files import OGBFiles, open_ogb
from imgcl.data.importing.settings import Progress
from imgcl.data.importing.tables import ImportReport
from imgcl.data.store import PairFile, StoreWriter, build_csr
from imgcl.graph.checks import LARGEST, MAX_CLASSES


def import_ogb(
    directory: str | Path, out: str | Path, *, memory_limit: int = 2 * 10**9, on_progress: Progress | None = None
) -> ImportReport:
    """Make a graph store from an OGB node data set (``ogbn-*``) on disk.

    Args:
        directory: of the data set, such as ``dataset/ogbn_products``; its ``raw`` folder holds ``edge.csv.gz``,
            ``node-feat.csv.gz``, ``node-label.csv.gz`` and ``num-node-list.csv.gz``, or (ogbn-papers100M) ``data.npz``
            and ``node-label.npz``.
        out: the store to create.
        memory_limit: bytes that the import may use.
        on_progress: see :func:`imgcl.data.importing.import_tables`.
    """
    say = on_progress or (lambda stage, done, total: None)
    source = Path(directory).expanduser()
    with StoreWriter(out) as writer:
        folder = writer.scratch()
        with scratch_database(folder, memory_limit) as connection:
            files = open_ogb(source, connection)
            counts = files.node_counts()
            if len(counts) != 1:
                raise GraphError(
                    f"{directory} holds {len(counts)} graphs: only node data sets (ogbn-*) can be imported"
                )
            n = counts[0]
            if n < 1:
                raise GraphError(f"{directory}: num-node-list says {n} nodes: the graph is empty")
            _write_labels(files, writer, n)
            width = _write_features(files, writer, n, say)
            pairs = PairFile(folder / "pairs", n)
            for begin, end in files.edges():
                pairs.append(begin, end)
                say("edges", pairs.n_pairs, None)
        say("neighbour lists", 0, 100)
        built = build_csr(
            pairs,
            writer.file("indices"),
            memory=memory_limit // 8,
            on_progress=lambda share: say("neighbour lists", round(100 * share), 100),
        )
        writer.array("indptr", built.indptr)
        path = writer.commit(source.resolve().name.replace("_", "-"), cleaning=built.cleaning)
    return ImportReport(path, n, width, pairs.n_pairs, int(built.indptr[-1]) // 2, 0, 0, built.cleaning)


def _write_labels(files: OGBFiles, writer: StoreWriter, n: int) -> None:
    y, at = writer.create("y", (n,), np.int64), 0
    for part in files.labels():
        _check_rows("node-label", at + len(part), n, last=False)
        known = part[~np.isnan(part)]
        wrong = known[(known < -1) | (known >= MAX_CLASSES) | (known != np.floor(known))]
        if len(wrong):
            raise GraphError(f"node-label holds {wrong[0]}: labels must be 0..K-1, or missing where unknown")
        y[at : at + len(part)] = np.where(np.isnan(part), -1, part)
        at += len(part)
    _check_rows("node-label", at, n)


def _write_features(files: OGBFiles, writer: StoreWriter, n: int, say: Progress) -> int:
    """Write the array ``x``; returns its width."""
    x, at = None, 0
    for part in files.features():
        _check_rows("node-feat", at + len(part), n, last=False)
        _check_numbers(part, at)
        if x is None:
            x = writer.create("x", (n, part.shape[1]), part.dtype)
        x[at : at + len(part)] = part
        at += len(part)
        say("features", at, n)
    _check_rows("node-feat", at, n)
    return 0 if x is None else int(x.shape[1])


def _check_numbers(part: NDArray[Any], at: int) -> None:
    """Refuse features that are no numbers or too large; ``at`` is the number of the first node."""
    if not np.isfinite(part).all():
        row = at + int(np.flatnonzero(~np.isfinite(part).all(axis=1))[0])
        raise GraphError(f"node-feat of node {row} is not finite: fill or drop missing values first")
    if max(part.max(initial=0), -part.min(initial=0)) > LARGEST:
        row, column = (int(i) for i in np.argwhere(np.abs(part) > LARGEST)[0])
        raise GraphError(
            f"node-feat of node {at + row} is {part[row, column]:g} in column {column}: features must be numbers up to "
            f"{LARGEST:g}; scale them first"
        )


def _check_rows(name: str, rows: int, n: int, *, last: bool = True) -> None:
    if rows > n or (last and rows != n):
        raise GraphError(f"{name} has {rows:,} rows but num-node-list says {n:,} nodes: download the data set again")
