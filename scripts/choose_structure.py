"""Compare features made from edges alone, on development graphs whose own features are left out.

    python scripts/choose_structure.py [GRAPH ...]

The score is the balanced accuracy of a linear classifier on *validation* nodes (natural labels, 3 splits, best of three
penalties), of the features and of their mean over two hops. Chosen from it: ``imgcl.graph.structure``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

from imgcl._core.seeding import generator
from imgcl.data import load_graph
from imgcl.graph import Block, Graph
from imgcl.graph.structure import structural_features
from imgcl.imbalance import make_splits

DEVELOPMENT = ("amazon-photo", "cora", "pubmed", "tolokers")
PENALTIES = (0.01, 0.1, 1.0)
SPLITS, ROUNDS, EXTRA = 3, 40, 16
Floats = NDArray[np.float32]


def walks(dim: int) -> Callable[[Graph], Floats]:
    """Skip-gram on random walks."""
    return lambda graph: structural_features(graph, dim)


def eigenvectors(dim: int) -> Callable[[Graph], Floats]:
    """Leading eigenvectors of D^-1/2 (A + I) D^-1/2, and the log degree."""

    def make(graph: Graph) -> Floats:
        propagate = Block.from_graph(graph).normalised
        start = generator(0, "eigenvectors").standard_normal((graph.n_nodes, dim + EXTRA), dtype=np.float32)
        basis = torch.from_numpy(start)
        for _ in range(ROUNDS):
            basis = torch.linalg.qr(propagate @ basis)[0]
        values, vectors = torch.linalg.eigh(basis.T @ (propagate @ basis))
        leading = vectors[:, values.abs().argsort(descending=True)[:dim]]
        return np.concatenate([(basis @ leading).numpy(), np.log1p(graph.degree)[:, None]], axis=1).astype(np.float32)

    return make


CANDIDATES = {f"{make.__name__} {dim}": make(dim) for make in (walks, eigenvectors) for dim in (64, 128)}


def accuracy(x: Floats, graph: Graph) -> float:
    """Balanced accuracy on validation nodes, in percent."""
    rows, y = StandardScaler().fit_transform(np.asarray(x, dtype=np.float64)), graph.y
    assert y is not None
    scores = []
    for split in make_splits(y, "natural", splits=SPLITS, random_state=0):
        models = (LogisticRegression(C=c, max_iter=300, class_weight="balanced") for c in PENALTIES)
        fitted = [model.fit(rows[split.train], y[split.train]) for model in models]
        found = [balanced_accuracy_score(y[split.val], model.predict(rows[split.val])) for model in fitted]
        scores.append(max(found))
    return float(100 * np.mean(scores))


def main() -> None:
    print("| graph | features | seconds | features alone | mean over 2 hops |\n|---|---|---|---|---|")
    structural_features(Graph.from_edges([[0], [1]]))  # compile
    for name in sys.argv[1:] or DEVELOPMENT:
        graph = load_graph(name, features="own")
        propagate = Block.from_graph(graph).normalised
        for candidate, make in CANDIDATES.items():
            start = time.perf_counter()
            x = make(graph)
            seconds = time.perf_counter() - start
            smooth = (propagate @ (propagate @ torch.from_numpy(x))).numpy()
            row = f"| {name} | {candidate} | {seconds:.1f} | {accuracy(x, graph):.1f} | {accuracy(smooth, graph):.1f} |"
            print(row, flush=True)


if __name__ == "__main__":
    main()
