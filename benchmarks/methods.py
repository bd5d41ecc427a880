"""Epochs of the methods against three references, with ImGCL against without, and peak memory.

The references are those of references.py: torch_geometric's layers on a CSR adjacency (``csr``, what a careful user
writes, and what ratios are quoted against first), the same with a symmetric backward written by hand, and stock layers.

IMGCL_DATA=<directory with the raw files> python benchmarks/methods.py [--only NAME] [--json]
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from statistics import median
from typing import Any

import torch

from common import arguments, interleaved, peak_mb, show
from imgcl.balance import BalanceSettings
from imgcl.data import load_graph
from imgcl.methods import METHODS
from imgcl.training import Trainer
from imgcl.training.batches import WholeGraph
from imgcl.training.distributed.group import ALONE
from imgcl.training.hardware import reuse_freed_memory
from imgcl.training.optimiser import make_optimiser
from imgcl.training.presets import find_preset
from imgcl.training.settings import TrainingSettings
from reference_methods import REFERENCES, Epoch
from references import WAYS
from sides import in_turn

GRAPH = "amazon-computers"
FRACTION = 0.1  # l, the share of selected rows
EPOCHS, LABELLINGS = 500, 8  # T and T/B of the amortised comparison


def ours(name: str, graph_name: str, fraction: float | None = None) -> Epoch:
    """One epoch with the published widths and views, on all rows or on a random fraction of them."""
    graph = load_graph(graph_name)
    settings = find_preset(name, graph_name, "paper").config().build_settings()
    method, training = METHODS[name](graph.n_features, settings), TrainingSettings(lr=5e-4, weight_decay=1e-5)
    block = WholeGraph(graph, training, torch.device("cpu"), ALONE).block
    optimiser = make_optimiser(method, training)
    generator = torch.Generator().manual_seed(0)
    rows = None
    if fraction is not None:
        rows = torch.randperm(graph.n_nodes, generator=generator)[: round(fraction * graph.n_nodes)].sort().values

    def epoch() -> None:
        optimiser.zero_grad(set_to_none=True)
        method.loss(block, rows, generator).backward()
        optimiser.step()
        method.after_step(0.5)

    return epoch


def run_ours(name: str, graph_name: str) -> None:
    with reuse_freed_memory():
        epoch = ours(name, graph_name)
        epoch()
        epoch()


@contextmanager
def our_side(name: str, graph: str, fraction: float | None = None) -> Iterator[Epoch]:
    with reuse_freed_memory():  # as in training
        yield ours(name, graph, fraction)


@contextmanager
def reference_side(name: str, graph: str, way: str, our_memory: bool = False) -> Iterator[Epoch]:
    """A script as it comes, or with the memory settings of our training."""
    with reuse_freed_memory() if our_memory else nullcontext():
        yield REFERENCES[name](WAYS[way], graph)


def against_references(
    name: str, graph: str = GRAPH, bar: float | None = None, symmetric_bar: float | None = None
) -> Callable[[int], dict[str, Any]]:
    """Our epoch on all rows, and on selected ones, against the three references."""

    def measure(repeats: int) -> dict[str, Any]:
        sides = {
            "ours": (our_side, name, graph),
            "selected": (our_side, name, graph, FRACTION),
            **{way: (reference_side, name, graph, way) for way in WAYS},
            "memory": (reference_side, name, graph, "csr", True),
        }
        found = in_turn(sides, min(repeats, 2) if name == "grace" else repeats)  # its epochs take many seconds
        seconds = {side: measured.seconds for side, measured in found.items()}
        bars = {"bar": bar, "symmetric_bar": symmetric_bar}
        return {
            "ours_s": seconds["ours"],
            "reference_s": seconds["csr"],
            "ratio": seconds["csr"] / seconds["ours"],
            "symmetric_s": seconds["symmetric"],
            "symmetric_ratio": seconds["symmetric"] / seconds["ours"],
            "stock_s": seconds["stock"],
            "stock_ratio": seconds["stock"] / seconds["ours"],
            "selected_rows_s": seconds["selected"],
            "selected_rows_ratio": seconds["csr"] / seconds["selected"],
            "reference_with_our_memory_settings_s": seconds["memory"],
            "peak_mb": found["ours"].peak_mb,
            "reference_peak_mb": found["csr"].peak_mb,
            **{key: value for key, value in bars.items() if value is not None},
        }

    return measure


def grace(repeats: int) -> dict[str, Any]:
    """All nodes as negatives, and how near the loss comes to the machine's own matrix products."""
    result = against_references("grace")(repeats)
    n, width = load_graph(GRAPH).n_nodes, find_preset("grace", GRAPH, "paper").method_settings["dim"]
    # C C^T above the diagonal twice (forward and backward), then both products of the gradient: 2 n x 2 n x d each.
    operations = (2 + 2 + 4) * 2 * n * n * width
    return {
        **result,
        "peak_mb_bar": 1500,
        "selected_rows_bar": 5,
        "share_of_matrix_product_speed": operations / result["ours_s"] / gemm_speed(),
    }


def gemm_speed(size: int = 2048) -> float:
    """Floating-point operations per second of torch's matrix product."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    return 2 * size**3 / interleaved({"product": lambda: a @ b}, 9)["product"]


def imgcl_overhead(repeats: int) -> dict[str, Any]:
    """An ImGCL epoch, labelling amortised over B, as a multiple of the plain epoch, for every method."""
    graph = load_graph(GRAPH)
    result: dict[str, Any] = {"bar": 1.05}
    for name in METHODS:
        preset = find_preset(name, GRAPH, "fast").config()
        training = preset.training.model_copy(update={"epochs": EPOCHS, "patience": None})
        balance = BalanceSettings(fraction=FRACTION, labellings=LABELLINGS)
        plain = Trainer(preset.model_copy(update={"training": training}), graph)
        balanced = Trainer(preset.model_copy(update={"training": training, "balance": balance}), graph)
        seconds = interleaved({"plain": plain.step, "imgcl": balanced.step}, repeats)
        labelling = median(_labelling_seconds(balanced, k) for k in range(1, 4)) - seconds["imgcl"]
        amortised = seconds["imgcl"] + max(labelling, 0.0) / (EPOCHS / LABELLINGS)
        result[f"{name}_plain_s"] = seconds["plain"]
        result[f"{name}_imgcl_s"] = amortised
        result[f"{name}_labelling_s"] = labelling
        result[f"{name}_ratio"] = amortised / seconds["plain"]
    return result


def _labelling_seconds(trainer: Trainer, labelling: int) -> float:
    """One step at whose start the labels are made anew."""
    trainer.epoch = math.ceil(labelling * EPOCHS / LABELLINGS)
    before = len(trainer.selector.history) if trainer.selector is not None else 0
    start = time.perf_counter()
    trainer.step()
    seconds = time.perf_counter() - start
    if trainer.selector is None or len(trainer.selector.history) == before:
        raise RuntimeError(f"epoch {trainer.epoch - 1} made no labels: the amortised time would be wrong")
    return seconds


def mvgrl_memory(_: int) -> dict[str, Any]:
    """Diffusion and two epochs on DBLP."""
    n = load_graph("dblp").n_nodes
    return {
        "peak_mb": peak_mb(run_ours, "mvgrl", "dblp"),
        "bar_mb": 1500,
        "dense_inverse_alone_mb": 2 * n * n * 4 / 2**20,  # a float32 matrix and its inverse
    }


BENCHMARKS: dict[str, Callable[[int], dict[str, Any]]] = {
    "gbt": against_references("gbt", bar=3, symmetric_bar=2),
    "bgrl": against_references("bgrl", bar=3, symmetric_bar=2),
    "dgi": against_references("dgi"),
    "grace": grace,
    "mvgrl": against_references("mvgrl"),
    "infograph": against_references("infograph"),
    **{f"{name}-dblp": against_references(name, "dblp") for name in REFERENCES},
    "imgcl-overhead": imgcl_overhead,
    "mvgrl-memory": mvgrl_memory,
}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--only", choices=BENCHMARKS, action="append", help="run this part alone (may be repeated)")
    options = parser.parse_args()
    results = {}
    for name in options.only or BENCHMARKS:
        with reuse_freed_memory():  # as in training
            results[name] = BENCHMARKS[name](options.repeats)
        if not options.json:
            show(name, results[name], False)
    if options.json:
        show("methods", results, True)


if __name__ == "__main__":
    main()
