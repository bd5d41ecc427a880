"""Where the time of a GBT epoch on Amazon-Computers goes, and how far it is from the machine's own speed.

The limit is the time that the epoch's dense products would take at the measured speed of one large matrix product, plus
its sparse products at the measured speed of the faster of torch's CSR product and ours: all other work for free.

IMGCL_DATA=<directory with the raw files> python benchmarks/limits.py [--json]
"""

from __future__ import annotations

import warnings

import torch
from torch.profiler import ProfilerActivity, profile

from common import arguments, interleaved, peak_mb, show
from imgcl.data import load_graph
from imgcl.graph.block import Block
from imgcl.methods.gbt import GBTSettings
from imgcl.training.batches import WholeGraph
from imgcl.training.distributed.group import ALONE
from imgcl.training.hardware import reuse_freed_memory
from imgcl.training.settings import TrainingSettings
from methods import GRAPH, ours, run_ours

PARTS = {
    "dense products": ("aten::mm", "aten::addmm", "aten::addmm_"),
    "look-ups of binary features": ("_SharedProducts", "_SharedProductsBackward"),
    "sparse products": ("_Product", "_ProductBackward"),
    "norm and activation": ("_NormActivation", "_NormActivationBackward"),
    "optimiser": (
        "Optimizer.step#AdamW.step",
        "aten::_fused_adamw_",
        "aten::lerp_",
        "aten::addcdiv_",
        "aten::addcmul_",
        "aten::_foreach_add_",
    ),
}


def machine_speed(block: Block, as_stored: Block, hidden: int, repeats: int) -> dict[str, float]:
    """Seconds of a large dense product, and of one sparse product by torch, by us, and by us in the stored order."""
    x, weight = block.features.to_dense(), torch.randn(block.features.shape[1], hidden)
    view = Block(block.adjacency.drop_edges(0.4, 1), block.features)
    rows, adjacency = torch.randn(block.n_nodes, hidden), view.adjacency
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ones = torch.ones(adjacency.n_entries)
        stock = torch.sparse_csr_tensor(
            adjacency.indptr, adjacency.indices.long(), ones, (block.n_nodes, block.n_nodes)
        )
    stored = Block(as_stored.adjacency.drop_edges(0.4, 1), as_stored.features)
    sides = {
        "dense": lambda: x @ weight,
        "torch": lambda: stock @ rows,
        "ours": lambda: view.normalised @ rows,
        "as stored": lambda: stored.normalised @ rows,
    }
    return interleaved(sides, repeats)


def work(block: Block, settings: GBTSettings) -> tuple[float, float]:
    """Dense multiply-adds and sparse entry-columns of one epoch, forward and backward."""
    n, features = block.features.shape
    hidden, dim = 2 * settings.dim, settings.dim
    # Every column that a view keeps is multiplied once, forward and for the weight's gradient.
    first = (1 - settings.feature_mask**2) * n * features * hidden * 2
    second = 2 * n * hidden * dim * 3  # two views; forward, and both gradients
    loss = n * dim * dim * 3
    entries = (1 - settings.edge_drop) * block.adjacency.n_entries + n
    return first + second + loss, 2 * entries * (hidden + dim) * 2


def shares(epochs: int) -> dict[str, float]:
    """Share of an epoch's time by kind of work."""
    epoch = ours("gbt", GRAPH)
    epoch()
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        for _ in range(epochs):
            epoch()
    times = {event.key: event.self_cpu_time_total for event in recorded.key_averages()}
    total = sum(times.values())
    found = {part: sum(times.get(name, 0.0) for name in names) / total for part, names in PARTS.items()}
    return found | {"everything else": 1 - sum(found.values())}


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    graph = load_graph(GRAPH)
    block = WholeGraph(graph, TrainingSettings(), torch.device("cpu"), ALONE).block
    settings = GBTSettings()
    hidden = 2 * settings.dim
    speed = machine_speed(block, Block.from_graph(graph), hidden, options.repeats)
    dense, sparse = work(block, settings)
    n, features = block.features.shape
    entries = (1 - settings.edge_drop) * block.adjacency.n_entries + n
    dense_limit = dense / (n * features * hidden / speed["dense"])
    sparse_limit = sparse / (entries * hidden / min(speed["torch"], speed["ours"]))
    with reuse_freed_memory():  # as in training
        seconds = interleaved({"ours": ours("gbt", GRAPH)}, options.repeats)["ours"]
        parts = shares(options.repeats)
    limit = dense_limit + sparse_limit
    show(
        "gbt-epoch-limit",
        {
            "ours_s": seconds,
            "reference_s": limit,
            "ratio": limit / seconds,
            "dense_limit_s": dense_limit,
            "sparse_limit_s": sparse_limit,
            "dense_gflops": 2e-9 * n * features * hidden / speed["dense"],
            "sparse_ours_against_torch": speed["torch"] / speed["ours"],
            "gain_of_node_order": speed["as stored"] / speed["ours"],
            "peak_mb": peak_mb(run_ours, "gbt", GRAPH),
            **{f"share: {part}": share for part, share in parts.items()},
        },
        options.json,
    )


if __name__ == "__main__":
    main()
