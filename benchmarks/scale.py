"""Graphs larger than memory: generate, PageRank, pre-train, embed, cluster, import; one run each.

python benchmarks/scale.py [--share 0.01] [--folder DIR] [--skip STAGE …] [--json] [--write]

At full size the graph has 2.4 million nodes and 62 million undirected edges; the folder needs 12 GB of space. With
``--folder`` all files are kept, and a run that was interrupted goes on: stages in its results.json are not run again.
``--write`` puts what was measured into docs/results/scale.json, and at full size the table into docs/performance.md.
Memory is what the process itself holds, page cache apart.
"""

from __future__ import annotations

import json
import operator
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import scale_stages as stages
from common import arguments
from imgcl._core.files import write_json, write_text
from isolated import alone

NODES, EDGES, IMPORTED = 2_400_000, 62_000_000, 10_000_000
GB = 1e9 / 2**20  # in the MB of the table
DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- table: made by benchmarks/scale.py -->", "<!-- end of the table of scale -->"
# The bars of every line at full size: more is better for anchors per second, less for everything else.
BARS = {
    "generate and store": {"peak_mb": 8 * GB},
    "PageRank": {"seconds": 90},
    "pre-training, a tenth of the nodes": {},
    "pre-training": {"anchors_per_second": 1500, "cost_per_anchor_against_a_tenth": 1.25, "peak_mb": 6 * GB},
    "embed all nodes": {"seconds": 600, "peak_mb": 6 * GB},
    "constrained k-means": {"seconds": 600},
    "imgcl pretrain": {"peak_mb": 6 * GB},
    "import": {"seconds": 60, "peak_mb": 3 * GB},
}
SHOWN = {
    "seconds": "{:,.0f} s",
    "anchors_per_second": "{:,.0f} anchors/s",
    "cost_per_anchor_against_a_tenth": "{:.2f} x",
}


class Measurement:
    """Runs stages and remembers what they measured in a file."""

    def __init__(self, folder: Path, skip: list[str]) -> None:
        self.path, self.skip = folder / "results.json", skip
        self.results: dict[str, dict[str, Any]] = json.loads(self.path.read_text()) if self.path.exists() else {}

    def __call__(self, name: str, function: Callable[..., dict[str, float]], *args: Any) -> None:
        if name in self.results or name in self.skip:
            return
        print(f"{name} …", file=sys.stderr, flush=True)
        self.results[name] = alone(function, *args)
        write_json(self.path, self.results)


def measure(folder: Path, share: float, skip: list[str]) -> dict[str, dict[str, Any]]:
    """All stages, each in a process of its own."""
    large, small, tables = str(folder / "large.store"), str(folder / "small.store"), str(folder / "tables")
    nodes, edges, rows = (round(share * size) for size in (NODES, EDGES, IMPORTED))
    stage = Measurement(folder, skip)
    stage("generate and store", stages.generate, large, nodes, edges)
    stage("generate a tenth", stages.generate, small, nodes // 10, edges // 10)
    stage("PageRank", stages.rank, large)
    stage("pre-training, a tenth of the nodes", stages.train, small)
    stage("pre-training", stages.train, large)
    stage("embed all nodes", stages.embed, large)
    stage("constrained k-means", stages.cluster, large)
    stage("write tables", stages.write_tables, tables, rows)
    stage("import", stages.import_edges, tables)
    stage("imgcl pretrain", stages.pretrain, large)
    found = {name: stage.results[name] for name in BARS if name in stage.results}
    if {"pre-training", "pre-training, a tenth of the nodes"} <= set(found):
        many, few = found["pre-training"], found["pre-training, a tenth of the nodes"]
        many["cost_per_anchor_against_a_tenth"] = few["anchors_per_second"] / many["anchors_per_second"]
    return found


def table(results: dict[str, dict[str, Any]], share: float) -> str:
    size = f"{share:.3g} of the size" if share != 1 else "full size"
    head = [f"Measured at {size}, {torch.get_num_threads()} threads.", ""]
    lines = [*head, "| stage | s | MB | bar | met | more |", "|---|---|---|---|---|---|"]
    for name, result in results.items():
        bars = BARS[name]
        kept = ("seconds", "peak_mb")
        more = ", ".join(f"{key.replace('_', ' ')} {shown(value)}" for key, value in result.items() if key not in kept)
        bar = ", ".join(
            f"{bar / GB:.0f} GB" if key == "peak_mb" else SHOWN[key].format(bar) for key, bar in bars.items()
        )
        met = " and ".join("yes" if is_met(key, result[key], value) else "NO" for key, value in bars.items())
        lines.append(f"| {name} | {result['seconds']:.1f} | {result['peak_mb']:.0f} | {bar} | {met} | {more} |")
    return "\n".join(lines)


def is_met(key: str, value: float, bar: float) -> bool:
    return bool((operator.ge if key == "anchors_per_second" else operator.le)(value, bar))


def shown(value: float) -> str:
    return f"{value:,.4g}" if isinstance(value, float) and value < 1000 else f"{value:,.0f}"


def write(results: dict[str, dict[str, Any]], share: float) -> None:
    """Into the journal of all sizes, and at full size into the page."""
    journal = DOCS / "results" / "scale.json"
    sizes = json.loads(journal.read_text(encoding="utf-8")) if journal.exists() else {}
    write_json(journal, {**sizes, f"{share:g}": results})
    if share == 1:
        page = DOCS / "performance.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        write_text(page, f"{before}{BEGIN}\n{table(results, share)}\n{END}{rest.partition(END)[2]}")


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--share", type=float, default=1.0, help="of the full size")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where to put the stores (kept); default: a scratch one"
    )
    parser.add_argument("--skip", action="append", default=[], help="leave out this stage; repeatable")
    parser.add_argument("--write", action="store_true", help="put what was measured into the documents")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="imgcl-scale-", dir="."))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        results = measure(folder, options.share, options.skip)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({"benchmark": "scale", **results}) if options.json else table(results, options.share))
    if options.write:
        write(results, options.share)


if __name__ == "__main__":
    main()
