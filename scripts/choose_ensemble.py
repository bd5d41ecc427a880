"""Measure what the members of the classifier ``ensemble`` are chosen by: validation nodes of the development graphs.

    IMGCL_DATA=... python scripts/choose_ensemble.py

The rarest class with a hundred nodes is sought, as in ``imgcl study rare``, from 40 % of the nodes and from a hundred
of those (20 of the class). Of the 20 % that validate, one half chooses settings and AUPRC is taken on the other; test
nodes are not used. One JSON line per graph, labels and choice of members is appended to --journal; what is there is
not computed again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import average_precision_score

import imgcl
from imgcl.evaluation import Blocks
from imgcl.evaluation.ensemble import Ensemble, EnsembleModel
from imgcl.evaluation.probes import batched
from imgcl.evaluation.tasks import Bench, Task
from imgcl_lab.graphs.rows import DEVELOPMENT
from imgcl_lab.rare import draw_split, rare_class

REGIME = "40/20/40"
CHOICES = {"linear": (0,), "boosted": (1,), "forest": (2,), "linear + boosted": (0, 1), "all three": (0, 1, 2)}
LABELS = {"40 %": None, "100": {0: 80, 1: 20}}


def first_of_each(nodes: np.ndarray, y: np.ndarray, counts: dict[int, int] | None) -> np.ndarray:
    """All nodes, or so many of each class."""
    if counts is None:
        return nodes
    return np.concatenate([nodes[y[nodes] == k][:count] for k, count in counts.items()])


def scores(blocks: Blocks, y: np.ndarray, counts: dict[int, int] | None, number: int) -> dict[str, float]:
    """AUPRC of every choice of members on one split."""
    split = draw_split(y, REGIME, number)
    ordered = split.val[np.argsort(y[split.val], kind="stable")]
    chosen, measured = first_of_each(ordered[::2], y, counts), ordered[1::2]
    train = first_of_each(split.train, y, counts)
    x, codes = torch.from_numpy(blocks.rows), torch.from_numpy(y)
    task = Task(x[train], codes[train], x[chosen], codes[chosen], 2)
    (model,) = Ensemble().fit(Bench([task], batched), number, blocks)
    members = _log_odds(model, x[measured])
    return {
        name: float(average_precision_score(y[measured], sum(members[i] for i in parts)))
        for name, parts in CHOICES.items()
    }


def _log_odds(model: EnsembleModel, x: torch.Tensor) -> list[np.ndarray]:
    logits = [each.logits(x).numpy() for each in (model.linear, *model.trees)]
    return [each[:, 1] - each[:, 0] for each in logits]


def measure(name: str, splits: int) -> Iterator[dict[str, Any]]:
    graph = imgcl.load_graph(name)
    y = (np.asarray(graph.y) == rare_class(graph)).astype(np.int64)
    blocks = Blocks.of(imgcl.ImGCL(random_state=0).fit(graph).blocks_)
    for labels, counts in LABELS.items():
        found = [scores(blocks, y, counts, number) for number in range(splits)]
        for members in CHOICES:
            values = [each[members] for each in found]
            error = float(np.std(values) / np.sqrt(splits))
            yield {
                "what": {"graph": name, "labels": labels, "members": members, "splits": splits},
                "auprc": round(float(np.mean(values)), 4),
                "error": round(error, 4),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="*", default=list(DEVELOPMENT))
    parser.add_argument("--journal", type=Path, default=Path("docs/results/choose_ensemble.jsonl"))
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    lines = options.journal.read_text().splitlines() if options.journal.exists() else []
    done = {json.loads(line)["what"]["graph"] for line in lines}
    for name in options.graphs:
        if name in done:
            continue
        found = list(measure(name, options.splits))
        with options.journal.open("a") as journal:
            journal.writelines(json.dumps(line) + "\n" for line in found)
        for line in found:
            print(name, line["what"]["labels"], line["what"]["members"], line["auprc"], line["error"], flush=True)


if __name__ == "__main__":
    main()
