"""A small graph as two tables, and its import."""

import duckdb
import pandas as pd

from imgcl.data.importing import ImportSettings, import_tables
from imgcl.data.store import open_store

NODES = pd.DataFrame(
    {
        "id": ["n7", "n1", "n3", "n2"],
        "f1": [1.0, 2.0, 3.0, 6.0],
        "f2": [0, 1, 0, 1],
        "colour": ["red", "blue", "red", None],
        "kind": ["b", "a", None, "b"],
    }
)
EDGES = pd.DataFrame({"src": ["n7", "n1", "n3", "n7", "n7", "n3"], "dst": ["n1", "n7", "n7", "n3", "n7", "n7"]})


def write(frame, path):
    if isinstance(frame, str):
        return frame
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)  # DuckDB would rename columns whose names differ in case only
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return str(path)


def do_import(tmp_path, nodes=NODES, edges=EDGES, kind="parquet", **changes):
    chosen = {
        "nodes": write(nodes, tmp_path / f"nodes.{kind}"),
        "edges": write(edges, tmp_path / f"edges.{kind}"),
        "id_column": "id",
        "src": "src",
        "dst": "dst",
        "features": ("f*",),
        "memory_limit": 10**9,
        **changes,
    }
    report = import_tables(ImportSettings(**chosen), tmp_path / "g.store")
    return report, open_store(report.path)


def parquet(path, *rows, columns):
    """A table with exactly these SQL values; pandas would turn NaN into NULL on the way."""
    values = ", ".join(f"({', '.join(row)})" for row in rows)
    duckdb.execute(f"COPY (SELECT * FROM (VALUES {values}) t({columns})) TO '{path}'")
    return str(path)
