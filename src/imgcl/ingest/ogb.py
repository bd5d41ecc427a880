"""Node data sets of the Open Graph Benchmark, from the raw files that its downloader leaves on disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from imgcl.errors import DataNotFoundError, GraphError
from imgcl.ingest.database import chunks, quoted_text, run, scratch_database
from imgcl.ingest.settings import Progress
from imgcl.ingest.tables import ImportReport
from imgcl.store import PairFile, StoreWriter, build_csr

FILES = ("edge", "node-feat", "node-label", "num-node-list")


def import_ogb(
    directory: str | Path, out: str | Path, *, memory_limit: int = 2 * 10**9, on_progress: Progress | None = None
) -> ImportReport:
    """Make a graph store from an OGB node data set (``ogbn-*``) on disk.

    Args:
        directory: of the data set, such as ``dataset/ogbn_products``; its ``raw`` folder holds ``edge.csv.gz``,
            ``node-feat.csv.gz``, ``node-label.csv.gz`` and ``num-node-list.csv.gz``.
        out: the store to create.
        memory_limit: bytes that the import may use.
        on_progress: see :func:`imgcl.ingest.import_tables`.
    """
    say = on_progress or (lambda stage, done, total: None)
    files = _files(Path(directory).expanduser())
    with StoreWriter(out) as writer, tempfile.TemporaryDirectory(dir=writer.path.parent, prefix=".import-") as scratch:
        folder = Path(scratch)
        with scratch_database(folder, memory_limit) as connection:

            def rows(name: str, columns: str = "*") -> str:
                return f"SELECT {columns} FROM read_csv({quoted_text(str(files[name]))}, header = false)"

            counts = run(connection, rows("num-node-list"), str(files["num-node-list"])).fetchall()
            if len(counts) != 1:
                raise GraphError(
                    f"{directory} holds {len(counts)} graphs: only node data sets (ogbn-*) can be imported"
                )
            n = int(counts[0][0])
            y = writer.create("y", (n,), np.int64)
            y[:] = -1
            at = 0
            for frame in chunks(run(connection, rows("node-label", "column0"), str(files["node-label"]))):
                labels = frame["column0"].to_numpy(dtype=np.float64, na_value=np.nan)
                y[at : at + len(frame)] = np.where(np.isnan(labels), -1, labels).astype(np.int64)
                at += len(frame)
            _check_rows("node-label", at, n)
            width = len(connection.execute("DESCRIBE " + rows("node-feat")).fetchall())
            x = writer.create("x", (n, width), np.float32)
            at = 0
            for frame in chunks(run(connection, rows("node-feat"), str(files["node-feat"]))):
                x[at : at + len(frame)] = frame.to_numpy(dtype=np.float32)
                at += len(frame)
                say("features", at, n)
            _check_rows("node-feat", at, n)
            pairs = PairFile(folder / "pairs", n)
            for frame in chunks(run(connection, rows("edge"), str(files["edge"]))):
                pairs.append(frame.iloc[:, 0].to_numpy(), frame.iloc[:, 1].to_numpy())
                say("edges", pairs.n_pairs, None)
        built = build_csr(pairs, writer.file("indices"), memory=memory_limit // 8)
        writer.array("indptr", built.indptr)
        path = writer.commit(Path(directory).name.replace("_", "-"), cleaning=built.cleaning)
    return ImportReport(path, n, pairs.n_pairs, int(built.indptr[-1]) // 2, 0, 0, built.cleaning)


def _files(directory: Path) -> dict[str, Path]:
    raw = directory / "raw" if (directory / "raw").is_dir() else directory
    found = {}
    for name in FILES:
        candidates = (raw / f"{name}.csv.gz", raw / f"{name}.csv")
        file = next((candidate for candidate in candidates if candidate.is_file()), None)
        if file is None:
            raise DataNotFoundError(f"{raw} has no {name}.csv.gz: give the directory of an OGB node data set (ogbn_…)")
        found[name] = file
    return found


def _check_rows(name: str, rows: int, n: int) -> None:
    if rows != n:
        raise GraphError(f"{name} has {rows:,} rows but num-node-list says {n:,} nodes: download the data set again")
