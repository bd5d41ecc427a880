"""Content of small reports, made without any training."""

from __future__ import annotations

from typing import Any

import numpy as np

from imgcl.report import Nodes, ReportRun, build_content

SIZES = (60, 30, 20)
HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "a & b \u2028 $x$ @@data@@"]


def make_runs(seeds: int = 2) -> list[ReportRun]:
    y, rng = np.repeat([0, 1, 2], SIZES), np.random.default_rng(0)
    runs = []
    for name, noise in (("GBT", 1.0), ("GBT + ImGCL", 0.6)):
        embeddings = [
            (2 * np.eye(3)[y] + noise * rng.standard_normal((110, 3))).astype(np.float32) for _ in range(seeds)
        ]
        balanced = "ImGCL" in name
        labelling = {"epoch": 0, "alpha": 1.0, "sizes": [60, 30, 20], "drawn": [0.4, 0.3, 0.3], "agreement": None}
        history = {"loss": [3.0, 2.0, 1.0], "labellings": [labelling, {**labelling, "epoch": 2}] if balanced else []}
        pseudo = rng.integers(3, size=110) if balanced else None
        runs.append(ReportRun(name, balanced, embeddings, history, pseudo, settings={"run": {"seed": 0}}))
    return runs


def make_nodes(class_names: list[str] | None = None, node_names: list[str] | None = None) -> Nodes:
    scores = np.arange(110, dtype=np.float64) ** 2
    return Nodes(
        "tiny", 110, np.repeat([0, 1, 2], SIZES), class_names, node_names, 200, np.arange(110), ("pagerank", scores)
    )


def make_content(nodes: Nodes | None = None, **options: Any) -> dict[str, Any]:
    options = {"imbalance": "exp:4", "splits": 3, "projection": "pca", **options}
    return build_content(make_runs(), nodes or make_nodes(["tea", "salt", "pepper"]), **options)


def make_two_classes() -> dict[str, Any]:
    """A report of one run on two classes, 80 and 30 nodes."""
    y, rng = np.repeat([0, 1], [80, 30]), np.random.default_rng(0)
    run = ReportRun("GBT", False, [(np.eye(2)[y] + 0.7 * rng.standard_normal((110, 2))).astype(np.float32)])
    nodes = Nodes("two", 110, y, ["ok", "banned"])
    return build_content([run], nodes, imbalance="natural", classifiers=("reweight",), splits=3, projection="pca")
