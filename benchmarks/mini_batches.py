"""Accuracy after training in mini-batches against training on the whole graph: every method on Photo and Computers.

IMGCL_DATA=<directory with the raw files> python benchmarks/mini_batches.py [--method NAME …] [--json] [--write]

Both sides: preset ``fast``, ImGCL, seed 0, the same number of steps; a batch has 512 anchors and a fan-out of 10,10.
Accuracy is that of the linear probe (reweighted, natural imbalance, balanced test set), mean over 20 splits.
``--write`` adds the lines to docs/results/mini_batches.json as they come; their table goes into docs/scaling.md.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from common import arguments
from imgcl.data import load_graph
from imgcl.estimator import make_config
from imgcl.evaluate import evaluate
from imgcl.files import write_json, write_text
from imgcl.graph import Graph
from imgcl.methods import METHODS
from imgcl.train import Trainer

GRAPHS = ("amazon-photo", "amazon-computers")
BATCH, BAR = 512, 1.5  # anchors of a step; points of accuracy that mini-batches may cost
DOCS = Path(__file__).parent.parent / "docs"
JOURNAL = DOCS / "results" / "mini_batches.json"
BEGIN, END = "<!-- table: made by benchmarks/mini_batches.py -->", "<!-- end of the table of mini-batches -->"


def accuracy(graph: Graph, method: str, batch_size: int) -> tuple[float, float]:
    """Percent of the balanced test set, and seconds of training."""
    settings = {"batch_size": batch_size, "fanout": (10, 10)}
    trainer = Trainer(make_config(graph.name, method=method, overrides=settings), graph)
    begun = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - begun
    assert graph.y is not None
    result = evaluate(trainer.embed(), graph.y, imbalance="natural", classifier="reweight", ceiling=0)
    return 100 * result["reweight", "accuracy"].mean, seconds


def compared(graph: Graph, method: str) -> dict[str, Any]:
    whole, whole_s = accuracy(graph, method, 0)
    batches, batches_s = accuracy(graph, method, BATCH)
    return {
        "whole_graph": whole,
        "mini_batches": batches,
        "difference": batches - whole,
        "bar": -BAR,
        "whole_graph_s": whole_s,
        "mini_batches_s": batches_s,
    }


def table(results: dict[str, dict[str, Any]]) -> str:
    lines = ["| method and graph | whole graph | mini-batches | difference |", "|---|---|---|---|"]
    for name, found in results.items():
        lines.append(
            f"| {name} | {found['whole_graph']:.1f} | {found['mini_batches']:.1f} | {found['difference']:+.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--method", action="append", choices=list(METHODS), help="only this one; repeatable")
    parser.add_argument("--write", action="store_true", help="put the table into docs/scaling.md")
    options = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    for method in options.method or METHODS:
        for name in GRAPHS:
            results[f"{method}, {name}"] = compared(load_graph(name), method)
            print(f"{method}, {name}: {results[f'{method}, {name}']}", file=sys.stderr, flush=True)
            if options.write:
                write(results)
    print(json.dumps({"benchmark": "mini-batches", **results}) if options.json else table(results))


def write(results: dict[str, dict[str, Any]]) -> None:
    """Into the journal of all lines, and from there into the page."""
    known = json.loads(JOURNAL.read_text(encoding="utf-8")) if JOURNAL.exists() else {}
    write_json(JOURNAL, known | results)
    page = DOCS / "scaling.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    write_text(page, f"{before}{BEGIN}\n{table(known | results)}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
