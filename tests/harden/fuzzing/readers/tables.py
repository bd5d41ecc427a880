"""Imports: tables of CSV and Parquet, and the files of the Open Graph Benchmark."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from harden.fuzzing.readers.graphs import use
from imgcl.data.importing import ImportSettings, import_ogb, import_tables
from imgcl.data.store import open_store

NODES: dict[str, list[Any]] = {
    "id": ["n7", "n1", "n3", "n2"],
    "f1": [1.0, 2.0, 3.0, 6.0],
    "f2": [0, 1, 0, 1],
    "f3": ["red", "blue", "red", "green"],
    "kind": ["b", "a", None, "b"],
}
EDGES: dict[str, list[Any]] = {
    "src": ["n7", "n1", "n3", "n7"],
    "dst": ["n1", "n7", "n7", "n3"],
    "w": [1.0, 0.5, 0.0, 2.0],
}
NUMBERS = {"n7": 7, "n1": 1, "n3": 3, "n2": 2}
OTHER_TYPES = {  # of columns that Parquet can hold and an import has to use or refuse
    "fa": "7::UTINYINT",
    "fb": "1.5::DECIMAL(9, 3)",
    "fc": "DATE '2020-02-02'",
    "fd": "true",
    "fe": "uuid()",
    "ff": "170::HUGEINT",
    "kind": "1.5::DOUBLE",
    "la": "[1, 2]",
    "lb": "{'a': 1}",
    "lc": "MAP {'a': 1}",
    "ld": "'x'::BLOB",
}
OGB = {
    "num-node-list": "4\n",
    "node-label": "0\n1\n0\n1\n",
    "node-feat": "0.5,1.5\n1,2\n-1,0\n0,0\n",
    "edge": "0,1\n1,2\n2,3\n3,0\n",
}


def frames() -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Nodes and edges with text for ids, and with numbers."""
    nodes, edges = pd.DataFrame(NODES), pd.DataFrame(EDGES)
    numbered = edges.assign(src=edges["src"].map(NUMBERS), dst=edges["dst"].map(NUMBERS))
    return [(nodes, edges), (nodes.assign(id=nodes["id"].map(NUMBERS)), numbered)]


def prepare_csv(root: Path) -> None:
    for number, (nodes, edges) in enumerate(frames()):
        (root / str(number)).mkdir()
        nodes.to_csv(root / str(number) / "nodes.csv", index=False)
        edges.to_csv(root / str(number) / "edges.csv", index=False)


def prepare_parquet(root: Path) -> None:
    for number, (nodes, edges) in enumerate(frames()):
        (root / str(number)).mkdir()
        duckdb.from_df(nodes).write_parquet(str(root / str(number) / "nodes.parquet"))
        duckdb.from_df(edges).write_parquet(str(root / str(number) / "edges.parquet"))
    (root / "2").mkdir()
    columns = ", ".join(f"{value} AS {name}" for name, value in OTHER_TYPES.items())
    ids = "(VALUES ('n7'), ('n1'), ('n3')) AS t(id)"
    duckdb.sql(f"SELECT id, {columns} FROM {ids}").write_parquet(str(root / "2" / "nodes.parquet"))
    shutil.copy(root / "0" / "edges.parquet", root / "2" / "edges.parquet")


def read_tables(folder: Path, flags: int, kind: str) -> None:
    out = folder.parent / "imported.store"
    shutil.rmtree(out, ignore_errors=True)
    settings = ImportSettings(
        edges=str(folder / f"edges.{kind}"),
        nodes=str(folder / f"nodes.{kind}"),
        id_column="id",
        src="src",
        dst="dst",
        features=("f*", "l*") if flags in range(40, 60) else ("f*",),
        label="kind" if flags & 1 else None,
        weight="w" if flags & 2 else None,
        on_dangling="drop" if flags & 4 else "error",
        missing=("error", "mean", "zero")[flags // 8 % 3],
        standardise=bool(flags & 64),
        dtype="float16" if flags & 32 else "float32",
        memory_limit=2 * 10**8,
    )
    use(open_store(import_tables(settings, out).path))


read_csv_tables = partial(read_tables, kind="csv")
read_parquet_tables = partial(read_tables, kind="parquet")


def prepare_ogb(root: Path) -> None:
    (root / "0").mkdir()
    for name, content in OGB.items():
        (root / "0" / f"{name}.csv").write_text(content)


def read_ogb(folder: Path, flags: int) -> None:
    out = folder.parent / "imported.store"
    shutil.rmtree(out, ignore_errors=True)
    use(open_store(import_ogb(folder, out, memory_limit=2 * 10**8).path))
