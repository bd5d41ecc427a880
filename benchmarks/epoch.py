"""One GBT epoch on Amazon-Computers (GCN 767-256-128, edge drop .4, feature mask .1): ours against stock layers.

IMGCL_DATA=<directory with the raw files> python benchmarks/epoch.py [--json]
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from common import arguments, interleaved, peak_mb, show
from imgcl.block import Block
from imgcl.data import load_graph
from imgcl.methods.gbt import GBT, GBTSettings
from stock import StockGCN, gbt_loss


def ours(rows_fraction: float | None = None) -> Callable[[], None]:
    graph = load_graph("amazon-computers")
    block = Block.from_graph(graph)
    method = GBT(graph.n_features, GBTSettings())
    optimiser = torch.optim.AdamW(method.parameters(), lr=5e-4, weight_decay=1e-5)
    generator = torch.Generator().manual_seed(0)
    rows = None
    if rows_fraction is not None:
        count = round(rows_fraction * graph.n_nodes)
        rows = torch.randperm(graph.n_nodes, generator=generator)[:count].sort().values

    def epoch() -> None:
        optimiser.zero_grad(set_to_none=True)
        method.loss(block, rows, generator).backward()
        optimiser.step()

    return epoch


def reference() -> Callable[[], None]:
    data = load_graph("amazon-computers").to_pyg()
    encoder = StockGCN(data.num_features, 128)
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=5e-4, weight_decay=1e-5)

    def epoch() -> None:
        optimiser.zero_grad(set_to_none=True)
        gbt_loss(encoder, data.x, data.edge_index, 0.4, 0.1).backward()
        optimiser.step()

    return epoch


def run_ours() -> None:
    ours()()


def run_reference() -> None:
    reference()()


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    sides = {"ours": ours(), "selected": ours(0.1), "reference": reference()}
    seconds = interleaved(sides, options.repeats)
    show(
        "gbt-epoch",
        {
            "ours_s": seconds["ours"],
            "reference_s": seconds["reference"],
            "ratio": seconds["reference"] / seconds["ours"],
            "selected_rows_s": seconds["selected"],
            "selected_rows_ratio": seconds["reference"] / seconds["selected"],
            "peak_mb": peak_mb(run_ours),
            "reference_peak_mb": peak_mb(run_reference),
        },
        options.json,
    )


if __name__ == "__main__":
    main()
