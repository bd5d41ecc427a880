"""What is the same bit for bit with any number of threads, and what is so only with the same number.

``docs/reliability.md`` has the list. Every count runs in a process of its own, as on another machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

COUNTS = (1, 2, 4)
METHODS = ("gbt", "grace", "bgrl", "dgi", "mvgrl", "infograph")
# The loss standardises the columns, so the gradient of the last bias is rounding alone, which Adam makes a step of.
ANY_OFFSET = ("gbt",)
ANY_COUNT = (
    "splits",
    "edges kept",
    "sparse product",
    "binary product",
    "PageRank",
    "diffusion",
    "random walks",
    "clusters",
    "selected rows",
    "probe",
)


def results() -> dict[str, Any]:
    """Digests of what a seed decides, and of every method a few numbers as well."""
    import torch

    import imgcl
    from imgcl._core.sparse import threads
    from imgcl._core.sparse.columns import BinaryColumns
    from imgcl.balance import BalanceSettings, centrality, draw, kmeans
    from imgcl.data import synthetic_graph
    from imgcl.graph.block import Block
    from imgcl.graph.structure.walks import random_walks
    from imgcl.imbalance import make_splits
    from imgcl.views import PPRDiffusion

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))  # torch itself takes no more than there are cores
    threads.SMALL_WORK = 0  # else one thread does all the work on a small graph
    graph = synthetic_graph(class_sizes=[900, 400, 100], n_features=64, mean_degree=8, seed=3)
    rows = np.random.default_rng(0).normal(size=(graph.n_nodes, 48)).astype(np.float32)
    block = Block.from_graph(graph)
    binary = BinaryColumns(np.packbits(graph.x.T > 0, axis=1, bitorder="little"), graph.n_nodes)
    weight = torch.from_numpy(np.random.default_rng(1).normal(size=(64, 200)).astype(np.float32))
    kept = block.adjacency.drop_edges(0.4, 7)
    diffused = PPRDiffusion().matrix(block.adjacency)
    clusters, scores = kmeans(rows, 5, seed=1), centrality(graph)
    selected, _ = draw(clusters.labels, scores, 5, 0.5, BalanceSettings(), np.random.default_rng(0))
    probed = imgcl.evaluate(rows, graph.y, "exp:10", ["plain", "pbs"], splits=2)
    arrays = {
        "splits": [part for split in make_splits(graph.y, splits=2) for part in (split.train, split.val, split.test)],
        "edges kept": [kept.indptr.numpy(), kept.indices.numpy()],
        "sparse product": [(block.normalised @ torch.from_numpy(rows)).numpy()],
        "binary product": [binary.product(weight).numpy(), binary.gradient(torch.from_numpy(rows)).numpy()],
        "PageRank": [scores],
        "diffusion": [diffused.indptr.numpy(), diffused.indices.numpy(), diffused.weights.numpy()],
        "random walks": [random_walks(graph, 2, 20, p=0.5, q=2.0)],
        "clusters": [clusters.labels, clusters.centroids],
        "selected rows": [selected],
        "probe": [probed.values(name, "accuracy") for name in ("plain", "pbs")],
    }
    embeddings = {
        name: imgcl.ImGCL(name, balance="imgcl", epochs=6, settings={"dim": 32}, random_state=5).fit(graph).embedding_
        for name in METHODS
    }
    return {
        "threads": torch.get_num_threads(),
        "digests": {name: digest(each) for name, each in (arrays | {k: [z] for k, z in embeddings.items()}).items()},
        "corners": {name: z[:4, :4].tolist() for name, z in embeddings.items()},
    }


def digest(arrays: list[np.ndarray]) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)).hexdigest()


@cache
def on(threads: int, repetition: int = 0) -> dict[str, Any]:
    """The results of a process with so many threads; every repetition is a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["threads"] == threads
    return found


@pytest.mark.slow
@pytest.mark.parametrize("threads", COUNTS)
def test_the_same_number_of_threads_gives_the_same_bits(threads: int) -> None:
    assert on(threads, 0)["digests"] == on(threads, 1)["digests"]


@pytest.mark.slow
@pytest.mark.parametrize("what", ANY_COUNT)
def test_any_number_of_threads_gives_the_same_bits(what: str) -> None:
    assert len({on(threads)["digests"][what] for threads in COUNTS}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_another_number_of_threads_changes_the_last_digits_only(method: str) -> None:
    corners = [np.array(on(threads)["corners"][method]) for threads in COUNTS]
    if method in ANY_OFFSET:
        corners = [corner - corner[0] for corner in corners]
    first, *others = corners
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    print(json.dumps(results()))
