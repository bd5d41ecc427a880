"""The stages of benchmarks/scale.py: each a function that runs in a process of its own and says what it measured."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from imgcl.balance import kmeans
from imgcl.balance.centrality import pagerank
from imgcl.data.importing import ImportSettings, import_tables
from imgcl.data.store import open_store
from imgcl.training import RunConfig, Trainer, TrainingSettings
from imgcl.training.hardware import reuse_freed_memory
from large_graph import CLASSES, write_large_graph

WARM_UP, STEPS, BATCH = 10, 100, 1024
Measured = dict[str, float]


def generate(path: str, nodes: int, edges: int) -> Measured:
    """Write the graph into a store."""
    begun = time.perf_counter()
    write_large_graph(Path(path), nodes, edges)
    seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    graph = open_store(path)
    opening = time.perf_counter() - begun
    size = sum(file.stat().st_size for file in Path(path).iterdir())
    return {
        "seconds": seconds,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "store_mb": size / 2**20,
        "opened_in_ms": 1000 * opening,
    }


def rank(path: str) -> Measured:
    """PageRank to 1e-6, and to the 1e-10 that training uses."""
    graph = open_store(path)
    begun = time.perf_counter()
    near = pagerank(graph, tolerance=1e-6)
    seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    nearer = pagerank(graph)
    return {
        "seconds": seconds,
        "seconds_to_1e-10": time.perf_counter() - begun,
        "largest_relative_difference": float((np.abs(near - nearer) / nearer).max()),
    }


def train(path: str) -> Measured:
    """Steps of GBT after some that fill the page cache."""
    run = _trainer(path)
    with reuse_freed_memory():  # as Trainer.train does
        for _ in range(WARM_UP):
            run.step()
        begun = time.perf_counter()
        for _ in range(STEPS):
            run.step()
        seconds = time.perf_counter() - begun
    return {"seconds": seconds, "anchors_per_second": STEPS * BATCH / seconds, "loss": run.losses[-1]}


def embed(path: str) -> Measured:
    """Embeddings of all nodes, kept for the clustering."""
    run = _trainer(path)
    for _ in range(WARM_UP):
        run.step()
    begun = time.perf_counter()
    z = run.embed()
    seconds = time.perf_counter() - begun
    np.save(Path(path).with_suffix(".npy"), z)
    return {"seconds": seconds, "width": z.shape[1]}


def cluster(path: str) -> Measured:
    """Constrained k-means of the embeddings into as many clusters as there are classes."""
    z = np.load(Path(path).with_suffix(".npy"), mmap_mode="r")
    least = int(0.1 * len(z) / CLASSES)
    begun = time.perf_counter()
    found = kmeans(z, CLASSES, min_size=least, seed=0)
    smallest = int(np.bincount(found.labels, minlength=CLASSES).min())
    return {"seconds": time.perf_counter() - begun, "smallest_cluster": smallest, "least_allowed": least}


def pretrain(path: str) -> Measured:
    """The command ``imgcl pretrain STORE --balance imgcl --out RUN``, from its start to the finished run directory."""
    from imgcl.cli import app

    run = Path(path).with_suffix(".run")
    begun = time.perf_counter()
    app(["pretrain", path, "--balance", "imgcl", "--out", str(run)], standalone_mode=False)
    seconds = time.perf_counter() - begun
    history = json.loads((run / "history.json").read_text())
    rows, width = np.load(run / "embedding.npy", mmap_mode="r").shape
    return {
        "seconds": seconds,
        "epochs": len(history["loss"]),
        "labellings": len(history["labellings"]),
        "embeddings": rows,
        "width": width,
    }


def write_tables(path: str, edges: int) -> Measured:
    """Ten edges a node, ids such as ``user-0000123``."""
    import duckdb

    begun = time.perf_counter()
    duckdb.execute("SET enable_progress_bar = false")
    nodes = max(2, edges // 10)
    name = "'user-' || lpad(CAST({} AS VARCHAR), 9, '0')"
    source, target = (name.format(f"CAST(hash(i * 2 + {end}) % {nodes} AS BIGINT)") for end in (0, 1))
    duckdb.execute(f"COPY (SELECT {name.format('i')} AS id, i % 7 AS f1, i % 11 AS f2 FROM range({nodes}) t(i)) "
                   f"TO '{path}-nodes.parquet'")  # fmt: skip
    duckdb.execute(f"COPY (SELECT {source} AS src, {target} AS dst FROM range({edges}) t(i)) TO '{path}-edges.parquet'")
    return {"seconds": time.perf_counter() - begun}


def import_edges(path: str) -> Measured:
    """Import the tables with the default limit of memory."""
    settings = ImportSettings(
        edges=f"{path}-edges.parquet",
        nodes=f"{path}-nodes.parquet",
        id_column="id",
        src="src",
        dst="dst",
        features=("f*",),
    )
    begun = time.perf_counter()
    report = import_tables(settings, f"{path}-imported.store")
    return {"seconds": time.perf_counter() - begun, "rows": report.rows}


def _trainer(path: str) -> Trainer:
    """GBT with hidden layers 256-128 and a fan-out of 10,10."""
    training = TrainingSettings(epochs=WARM_UP + STEPS, batch_size=BATCH, fanout=(10, 10))
    return Trainer(RunConfig(training=training, device="cpu"), open_store(path), scratch=Path(path).parent)
