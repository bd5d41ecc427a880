"""Graphs larger than memory: generate, PageRank, pre-train, embed, cluster, import; one run each.

python benchmarks/scale.py [--share 0.01] [--folder DIR] [--json] [--write]

At full size the graph has 2.4 million nodes and 62 million undirected edges, and a folder with 8 GB of space is needed.
``--write`` puts the table into docs/performance.md. Memory is what the process itself holds, page cache apart.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from common import arguments
from imgcl.balance import kmeans
from imgcl.balance.centrality import pagerank
from imgcl.files import write_text
from imgcl.ingest import ImportSettings, import_tables
from imgcl.store import open_store
from imgcl.train import RunConfig, Trainer, TrainingSettings
from isolated import alone
from large_graph import CLASSES, write_large_graph

NODES, EDGES, IMPORTED = 2_400_000, 62_000_000, 10_000_000
WARM_UP, STEPS, BATCH = 10, 60, 1024
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- table: made by benchmarks/scale.py -->", "<!-- end of the table of scale -->"


def generate(path: str, nodes: int, edges: int) -> dict[str, float]:
    begun = time.perf_counter()
    graph = open_store(write_large_graph(Path(path), nodes, edges))
    return {"seconds": time.perf_counter() - begun, "nodes": graph.n_nodes, "edges": graph.n_edges}


def rank(path: str) -> dict[str, float]:
    graph = open_store(path)
    begun = time.perf_counter()
    scores = pagerank(graph)
    return {"seconds": time.perf_counter() - begun, "largest": float(scores.max())}


def trainer(path: str) -> Trainer:
    """GBT with hidden layers 256-128 and a fan-out of 10,10."""
    training = TrainingSettings(epochs=WARM_UP + STEPS, batch_size=BATCH, fanout=(10, 10))
    graph = open_store(path)
    return Trainer(RunConfig(training=training, device="cpu"), graph, scratch=Path(path).parent)


def train(path: str) -> dict[str, float]:
    run = trainer(path)
    for _ in range(WARM_UP):
        run.step()
    begun = time.perf_counter()
    for _ in range(STEPS):
        run.step()
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "anchors_per_second": STEPS * BATCH / seconds, "loss": run.losses[-1]}


def embed(path: str) -> dict[str, float]:
    run = trainer(path)
    for _ in range(WARM_UP):
        run.step()
    begun = time.perf_counter()
    z = run.embed()
    seconds = time.perf_counter() - begun
    np.save(Path(path).with_suffix(".npy"), z)
    return {"seconds": seconds, "width": z.shape[1]}


def cluster(path: str) -> dict[str, float]:
    z = np.load(Path(path).with_suffix(".npy"), mmap_mode="r")
    least = int(0.1 * len(z) / CLASSES)
    begun = time.perf_counter()
    found = kmeans(z, CLASSES, min_size=least, seed=0)
    smallest = int(np.bincount(found.labels, minlength=CLASSES).min())
    return {"seconds": time.perf_counter() - begun, "smallest_cluster": smallest, "least_allowed": least}


def write_tables(path: str, edges: int) -> dict[str, float]:
    """Ten edges a node, ids such as ``user-0000123``."""
    import duckdb

    nodes = max(2, edges // 10)
    name = "'user-' || lpad(CAST({} AS VARCHAR), 9, '0')"
    source, target = (name.format(f"CAST(hash(i * 2 + {end}) % {nodes} AS BIGINT)") for end in (0, 1))
    duckdb.execute(f"COPY (SELECT {name.format('i')} AS id, i % 7 AS f1, i % 11 AS f2 FROM range({nodes}) t(i)) "
                   f"TO '{path}-nodes.parquet'")  # fmt: skip
    duckdb.execute(f"COPY (SELECT {source} AS src, {target} AS dst FROM range({edges}) t(i)) TO '{path}-edges.parquet'")
    return {"seconds": 0.0}


def import_edges(path: str) -> dict[str, float]:
    settings = ImportSettings(
        edges=f"{path}-edges.parquet", nodes=f"{path}-nodes.parquet", id_column="id", src="src", dst="dst",
        features=("f*",), memory_limit=2 * 10**9,
    )  # fmt: skip
    begun = time.perf_counter()
    report = import_tables(settings, f"{path}-imported.store")
    return {"seconds": time.perf_counter() - begun, "rows": report.rows}


def measure(folder: Path, share: float) -> dict[str, dict[str, Any]]:
    """All stages, each in a process of its own."""
    large, small = str(folder / "large.store"), str(folder / "small.store")
    nodes, edges, rows = (round(share * size) for size in (NODES, EDGES, IMPORTED))
    results: dict[str, dict[str, Any]] = {}

    def stage(name: str, bar: str, function: Callable[..., dict[str, float]], *args: Any) -> dict[str, Any]:
        print(f"{name} …", file=sys.stderr, flush=True)
        results[name] = {"bar": bar, **alone(function, *args)}
        return results[name]

    stage("generate and store", "8 GB", generate, large, nodes, edges)
    alone(generate, small, nodes // 10, edges // 10)
    stage("PageRank", "90 s", rank, large)
    few = stage("pre-training, a tenth of the nodes", "", train, small)
    many = stage("pre-training", "1,500 anchors/s, 6 GB", train, large)
    many["cost_per_anchor_against_a_tenth"] = few["anchors_per_second"] / many["anchors_per_second"]
    stage("embed all nodes", "600 s, 6 GB", embed, large)
    stage("constrained k-means", "600 s", cluster, large)
    alone(write_tables, str(folder / "tables"), rows)
    stage("import", "60 s, 3 GB", import_edges, str(folder / "tables"))
    return results


def table(results: dict[str, dict[str, Any]], share: float) -> str:
    size = f"{share:.0%} of the size" if share < 1 else "full size"
    head = [f"Measured at {size}, {torch.get_num_threads()} threads.", ""]
    lines = [*head, "| stage | s | MB | bar | more |", "|---|---|---|---|---|"]
    for name, result in results.items():
        rest = {key: value for key, value in result.items() if key not in ("bar", "seconds", "peak_mb")}
        more = ", ".join(f"{key.replace('_', ' ')} {shown(value)}" for key, value in rest.items())
        lines.append(f"| {name} | {result['seconds']:.1f} | {result['peak_mb']:.0f} | {result['bar']} | {more} |")
    return "\n".join(lines)


def shown(value: float) -> str:
    return f"{value:,.4g}" if isinstance(value, float) and value < 1000 else f"{value:,.0f}"


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--share", type=float, default=1.0, help="of the full size")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where to put the stores (kept); default: a scratch one"
    )
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="imgcl-scale-", dir="."))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        results = measure(folder, options.share)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({"benchmark": "scale", **results}) if options.json else table(results, options.share))
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        write_text(PAGE, f"{before}{BEGIN}\n{table(results, options.share)}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
