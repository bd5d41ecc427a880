"""One epoch of the supervised GCN on Computers against torch_geometric's layers on a CSR adjacency.

Both train one network on each of five splits (two layers, 64 wide, dropout, Adam, classes weighted alike); ours trains
them side by side, the reference one after the other, as people do. No run of the one is compared with another day's run
of the other: the sides take turns. The bar is 3.

IMGCL_DATA=<directory with the raw files> python benchmarks/supervised.py [--json]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from common import arguments, show
from imgcl.baselines.supervised import LOSSES, Recipe
from imgcl.baselines.supervised.network import DROPOUT, HIDDEN
from imgcl.baselines.supervised.trainer import LEARNING_RATE, WEIGHT_DECAYS, Preparation, Training, unit_rows
from imgcl.data import load_graph
from imgcl.evaluation.labels import encode_labels
from imgcl.graph import Graph
from imgcl.imbalance import Split, make_splits
from imgcl.training.hardware import reuse_freed_memory
from references import WAYS
from sides import in_turn

GRAPH, SPLITS, BAR = "amazon-computers", 5, 3.0
COMPARED = ("csr", "symmetric")


def loaded() -> tuple[Graph, list[Split]]:
    graph = load_graph(GRAPH)
    assert graph.y is not None
    return graph, make_splits(graph.y, "exp:100", splits=SPLITS)


@contextmanager
def ours() -> Iterator[Callable[[], Any]]:
    graph, splits = loaded()
    recipe = Recipe()
    with reuse_freed_memory():
        made = Preparation.of(graph, recipe)
        training = Training(made, encode_labels(graph.y), splits, 0, recipe, LOSSES["reweight"])
        yield lambda: training.step(0)


class Reference(nn.Module):
    """Kipf and Welling's network on the layers of a way."""

    def __init__(self, way: str, n_features: int, n_classes: int) -> None:
        super().__init__()
        self.first, self.second = WAYS[way].gcn(n_features, HIDDEN), WAYS[way].gcn(HIDDEN, n_classes)

    def forward(self, x: torch.Tensor, *given: Any) -> torch.Tensor:
        hidden = functional.dropout(torch.relu(self.first(x, *given)), DROPOUT, self.training)
        logits: torch.Tensor = self.second(hidden, *given)
        return logits


@contextmanager
def reference(way: str) -> Iterator[Callable[[], Any]]:
    """The networks of all splits, one after the other, each a script's usual step."""
    graph, splits = loaded()
    y, edges = torch.from_numpy(np.array(graph.y)), graph.to_pyg().edge_index
    x, given = torch.from_numpy(unit_rows(graph).toarray()), WAYS[way].normalised(edges, graph.n_nodes)
    models = [Reference(way, graph.n_features, graph.n_classes) for _ in splits]
    adams = [torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAYS[0]) for model in models]

    def epoch() -> None:
        for model, adam, split in zip(models, adams, splits, strict=True):
            train = torch.from_numpy(np.array(split.train))
            weight = 1 / torch.bincount(y[train], minlength=graph.n_classes).clamp_min(1).float()
            adam.zero_grad()
            functional.cross_entropy(model(x, *given)[train], y[train], weight=weight).backward()
            adam.step()

    yield epoch


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    sides: dict[str, tuple[Any, ...]] = {"ours": (ours,), **{way: (reference, way) for way in COMPARED}}
    found = in_turn(sides, options.repeats)
    seconds = {name: side.seconds / SPLITS for name, side in found.items()}
    result = {
        "ours_s": seconds["ours"],
        "reference_s": seconds["csr"],
        "ratio": seconds["csr"] / seconds["ours"],
        "bar": BAR,
        "peak_mb": found["ours"].peak_mb,
        **{f"{way}_ratio": seconds[way] / seconds["ours"] for way in COMPARED if way != "csr"},
        "csr_peak_mb": found["csr"].peak_mb,
    }
    show("supervised GCN epoch, Computers", result, options.json)


if __name__ == "__main__":
    main()
