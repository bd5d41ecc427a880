"""Many fits in one process, many processes on one cache."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import numpy as np
import psutil

from harden.load_cli import SERVED
from harden.load_fits import ROUND
from harden.suites import Outcome, suite
from imgcl.data import synthetic_graph

HERE = Path(__file__).parent
MOST_GROWTH = 0.05
HOUR = 3600
FAILED = "exit code"
MEMORY_OF_A_RUN = 1 << 30  # bytes; half of it is enough, the rest is left for others


@suite("load", "fits in one process: memory, threads, files, processes", full=1008, part=96)
def sequential_fits(n: int) -> Outcome:
    """Every fit is a try, and so is each thing that the process must not collect."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / "load_fits.py"), str(n)]
        environment = {**os.environ, "TMPDIR": folder}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=4 * HOUR, check=False)
    if done.returncode:
        outcome.count(f"the process ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        return outcome
    found = json.loads(done.stdout)
    for problem in found["problems"]:
        outcome.count(problem)
    for _ in range(n - len(found["problems"])):
        outcome.count(None)
    for what in found["rounds"][0]:
        outcome.count(growth(what, [each[what] for each in found["rounds"]]))
    return outcome


def growth(what: str, rounds: list[int]) -> str | None:
    """What has grown from after the warm-up (a tenth of the rounds) to the end; memory may by 5 %."""
    warm, few = max(1, len(rounds) // 10), max(1, len(rounds) // 10)
    first, last = statistics.median(rounds[warm : warm + few]), statistics.median(rounds[-few:])
    allowed = first * (1 + MOST_GROWTH) if what == "memory" else first
    return None if last <= allowed else f"{what} grew from {first:,.0f} to {last:,.0f} in {len(rounds) * ROUND} fits"


@suite("load", "command lines at once on one cache: downloads, compiled kernels", full=50, part=4)
def concurrent_runs(n: int) -> Outcome:
    """Processes that begin together with empty caches, of four kinds; each gives what it gives alone, to the bit.

    As many run at once as fit into memory: one that compiles needs half a gigabyte of its own.
    """
    at_once = max(2, min(n, psutil.virtual_memory().available // MEMORY_OF_A_RUN))
    kinds, outcome = min(n, len(KINDS)), Outcome()
    with tempfile.TemporaryDirectory() as name, served(graph_file()) as address, ThreadPoolExecutor(at_once) as pool:
        folder, shared = Path(name), Path(name) / "shared"
        together = [pool.submit(run, address, i % kinds, folder / f"run-{i}", shared, shared) for i in range(n)]
        found = [each.result() for each in together]
        expected = [run(address, kind, folder / f"alone-{kind}", folder / "own") for kind in range(kinds)]
        for i, result in enumerate(found):
            outcome.count(difference(f"run {i}", i % kinds, result, expected))
        outcome.count(cache_problem(shared))
        # Once more, from the caches that all of them left behind, without the server.
        for kind in range(kinds):
            result = run("http://127.0.0.1:9/gone.npz", kind, folder / f"after-{kind}", shared, shared)
            outcome.count(difference("afterwards", kind, result, expected))
    return outcome


KINDS = (
    ("--method", "gbt", "--set", "dim=16", "--balance", "imgcl"),
    ("--method", "mvgrl", "--set", "dim=16", "--balance", "imgcl"),
    ("--method", "grace", "--set", "dim=16"),
    ("--method", "bgrl", "--set", "dim=16", "--batch-size", "64", "--balance", "imgcl"),
)


def run(address: str, kind: int, out: Path, data: Path, kernels: Path | None = None) -> str:
    """Pre-train with data, and perhaps kernels, in these cache directories: the hash of the result, or the error."""
    environment = {key: value for key, value in os.environ.items() if key != "IMGCL_DATA"}
    environment |= {"IMGCL_CACHE": str(data / "data"), "OMP_NUM_THREADS": "1"}
    if kernels is not None:
        environment["NUMBA_CACHE_DIR"] = str(kernels / "kernels")
    command = [sys.executable, str(HERE / "load_cli.py"), address, "pretrain", "pubmed", *KINDS[kind], "--quiet"]
    command += ["--epochs", "3", "--out", str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=2 * HOUR, check=False)
    if done.returncode:
        return f"{FAILED} {done.returncode}, {done.stderr.strip()[-300:]}"
    return hashlib.sha256((out / "embedding.npy").read_bytes()).hexdigest()


def difference(what: str, kind: int, found: str, expected: list[str]) -> str | None:
    """What is wrong with a run, if it is not as it should be."""
    right = found == expected[kind] and not found.startswith(FAILED)
    return None if right else f"{what} of {' '.join(KINDS[kind])}: {found}; alone: {expected[kind]}"


def cache_problem(cache: Path) -> str | None:
    """What is not as it should be in a cache after use: one whole file of data, nothing half-written."""
    files = [path for path in (cache / "data").rglob("*") if path.is_file()]
    if [path.read_bytes() for path in files] != [graph_file()]:
        return f"the data cache holds {[path.name for path in files]}"
    leftovers = [path.name for path in (cache / "kernels").rglob("*") if ".tmp." in path.name]
    return f"left over in the cache of kernels: {leftovers}" if leftovers else None


def graph_file() -> bytes:
    """A small graph in the layout of the public files; the same bytes each time."""
    graph = synthetic_graph(**SERVED)
    adjacency, buffer = graph.adjacency, BytesIO()
    np.savez(
        buffer,
        adj_data=adjacency.data,
        adj_indices=adjacency.indices,
        adj_indptr=adjacency.indptr,
        adj_shape=adjacency.shape,
        attr_matrix=graph.x,
        labels=graph.y,
    )
    return buffer.getvalue()


@contextmanager
def served(content: bytes) -> Iterator[str]:
    """A server on this machine that gives these bytes to everybody; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/pubmed.npz"
        server.shutdown()
