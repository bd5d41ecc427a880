"""Accuracy after training in mini-batches against training on the whole graph: every method on Photo and Computers.

IMGCL_DATA=<directory with the raw files> python benchmarks/mini_batches.py
    [--method NAME …] [--graph NAME …] [--fanout 10,10] [--json] [--write]

Both sides: preset ``fast``, ImGCL, seed 0, the same number of steps; a batch has 512 anchors.
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
from imgcl._core.files import write_json, write_text
from imgcl.data import load_graph
from imgcl.evaluation import evaluate
from imgcl.graph import Graph
from imgcl.methods import METHODS
from imgcl.training import Trainer
from imgcl.training.estimator import make_config

GRAPHS = ("amazon-photo", "amazon-computers")
BATCH, BAR = 512, 1.5  # anchors of a step; points of accuracy that mini-batches may cost
FANOUT = "10,10"
DOCS = Path(__file__).parent.parent / "docs"
JOURNAL = DOCS / "results" / "mini_batches.json"
BEGIN, END = "<!-- table: made by benchmarks/mini_batches.py -->", "<!-- end of the table of mini-batches -->"


def accuracy(graph: Graph, method: str, batch_size: int, fanout: str) -> tuple[float, float]:
    """Percent of the balanced test set, and seconds of training."""
    settings = {"batch_size": batch_size, "fanout": fanout}
    trainer = Trainer(make_config(graph.name, method=method, overrides=settings), graph)
    begun = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - begun
    assert graph.y is not None
    result = evaluate(trainer.embed(), graph.y, imbalance="natural", classifier="reweight", ceiling=0)
    return 100 * result["reweight", "accuracy"].mean, seconds


def compared(graph: Graph, method: str, fanout: str) -> dict[str, Any]:
    whole, whole_s = accuracy(graph, method, 0, fanout)
    batches, batches_s = accuracy(graph, method, BATCH, fanout)
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
    parser.add_argument("--graph", action="append", choices=GRAPHS, help="only this one; repeatable")
    parser.add_argument("--fanout", default=FANOUT, help="sampled neighbours of an anchor, of its neighbours")
    parser.add_argument("--write", action="store_true", help="put the table into docs/scaling.md")
    options = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    for method in options.method or METHODS:
        for name in options.graph or GRAPHS:
            line = f"{method}, {name}" + ("" if options.fanout == FANOUT else f", fan-out {options.fanout}")
            results[line] = compared(load_graph(name), method, options.fanout)
            print(f"{line}: {results[line]}", file=sys.stderr, flush=True)
            if options.write:
                write(results)
    print(json.dumps({"benchmark": "mini-batches", **results}) if options.json else table(results))


def write(results: dict[str, dict[str, Any]]) -> None:
    """Into the journal of all lines, and from there into the page."""
    known = json.loads(JOURNAL.read_text(encoding="utf-8")) if JOURNAL.exists() else {}
    order = list(METHODS)
    lines = dict(sorted((known | results).items(), key=lambda line: order.index(line[0].partition(",")[0])))
    write_json(JOURNAL, lines)
    page = DOCS / "scaling.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    write_text(page, f"{before}{BEGIN}\n{table(lines)}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
