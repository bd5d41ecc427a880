"""A small labelling: thirty nodes on a ring, four of them labelled, five waiting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imgcl.graph import Graph
from imgcl.labelling import LabelFile

NAMES = [f"item {i}" for i in range(30)]
NAMES[5] = '<b>say "hi", </script>'
LABELS = ("tea", "tea", "salt", "pepper")


def make_rows() -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)


def make_graph() -> Graph:
    x = np.random.default_rng(1).integers(0, 2, size=(30, 3)).astype(np.float32)
    x[4, 1] = 9.0
    ring = np.stack([np.arange(30), (np.arange(30) + 1) % 30])
    return Graph.from_edges(ring, x=x, node_names=NAMES, feature_names=["price", "sweet", "weight"])


def make_file() -> LabelFile:
    rows = [(NAMES[i], LABELS[i] if i < 4 else "", "1", "2", "7", "1.0", "tea", "0.61") for i in range(9)]
    columns = ("node", "label", "batch", "cluster", "cluster_size", "typical", "expected", "probability")
    return LabelFile(columns, tuple(rows), {row[0]: row[1] for row in rows})
