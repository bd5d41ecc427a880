"""A synthetic graph of any size, written to a store without ever being in memory.

A degree-corrected block model without tables: node i of a class of size s is drawn as s u^2 with u uniform, which gives
degrees a heavy tail. Node numbers are scattered by a random permutation, so that neighbours do not lie side by side.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from imgcl.data.store import PairFile, StoreWriter, build_csr
from imgcl.training.sampling.permutation import permuted

CLASSES, FEATURES, HOMOPHILY, SIGNAL = 47, 100, 0.8, 0.5
REPEATED = 1.005  # pairs drawn for every edge wanted, for some are drawn twice
AT_ONCE = 1 << 21


def write_large_graph(path: Path, n_nodes: int, n_edges: int, seed: int = 0) -> Path:
    """Generate a graph of about so many undirected edges into a store."""
    sizes = (n_nodes * _shares()).astype(np.int64)
    sizes[0] += n_nodes - sizes.sum()
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    with StoreWriter(path) as writer, tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        pairs = PairFile(Path(scratch) / "pairs", n_nodes)
        for number, start in enumerate(range(0, round(REPEATED * n_edges), AT_ONCE)):
            draws = min(AT_ONCE, round(REPEATED * n_edges) - start)
            uniform = np.random.default_rng((seed, number)).random((draws, 4), dtype=np.float64)
            ends = permuted(_draw(uniform, bounds).reshape(-1), n_nodes, seed).reshape(-1, 2)
            pairs.append(ends[:, 0], ends[:, 1])
        built = build_csr(pairs, writer.file("indices"), memory=1 << 29)
        writer.array("indptr", built.indptr)
        y, x = writer.create("y", (n_nodes,), np.int64), writer.create("x", (n_nodes, FEATURES), np.float32)
        generator = np.random.default_rng((seed, 1 << 40))
        centres = SIGNAL * generator.standard_normal((CLASSES, FEATURES), dtype=np.float32)
        place = permuted(np.arange(n_nodes), n_nodes, seed)
        labels = np.empty(n_nodes, np.int64)
        labels[place] = np.repeat(np.arange(CLASSES), sizes)
        y[:] = labels
        for start in range(0, n_nodes, 1 << 16):
            rows = slice(start, min(n_nodes, start + (1 << 16)))
            noise = generator.standard_normal((rows.stop - rows.start, FEATURES), dtype=np.float32)
            x[rows] = noise + centres[labels[rows]]
        return writer.commit("large", cleaning=built.cleaning)


def _shares() -> NDArray[np.float64]:
    """Class sizes that fall by a factor of 100."""
    shares = 100.0 ** (-np.arange(CLASSES) / (CLASSES - 1))
    return shares / shares.sum()


@njit(cache=True, nogil=True)
def _draw(uniform: NDArray[np.float64], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    n, ends = bounds[-1], np.empty((len(uniform), 2), np.int64)
    for i in range(len(uniform)):
        source_class = np.searchsorted(bounds, np.int64(uniform[i, 0] * n), side="right") - 1
        # The place inside its class is the remainder of the same number, so one number draws class and node.
        low, size = bounds[source_class], bounds[source_class + 1] - bounds[source_class]
        within = (uniform[i, 0] * n - low) / size
        ends[i, 0] = low + np.int64(size * within * within)
        inside = uniform[i, 1] < HOMOPHILY
        first, width = (low, size) if inside else (0, n)
        ends[i, 1] = first + np.int64(width * uniform[i, 2] * uniform[i, 2])
    return ends
