"""What larger graphs would take, from what was measured: the tables of docs/scaling_limits.md.

python benchmarks/scaling_model.py [--json] [--write]

The model has one rate per stage, measured on 2.4 million nodes (docs/results/scale.json, made by benchmarks/scale.py
--write), and the sizes of arrays. It is checked against a run at 10^6 nodes (--share 0.416667), which is 1 % of the
smaller graph it is then applied to, and against one at 10^7 (--share 4.16667) where that has been made.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common import arguments
from imgcl._core.files import write_text

DOCS = Path(__file__).parent.parent / "docs"
FEATURES, WIDTH, CLUSTERS, DEGREE = 100, 128, 47, 51.7  # of the benchmark's graph and encoder
LABELLINGS, ANCHORS = 8, 500 * 1024  # of a run with ImGCL
CORES, EFFICIENCY = 64, 0.5  # of the machine on paper, and what is left of its cores when memory is shared
MARKS = {
    "checked": ("<!-- table: scaling model, checked -->", "<!-- end of the model's check -->"),
    "on paper": ("<!-- table: scaling model, on paper -->", "<!-- end of the model on paper -->"),
}
Results = dict[str, dict[str, Any]]


class Model:
    """Time and space for any number of nodes, as the benchmark's graph grows: the same degrees, features and widths."""

    def __init__(self, measured: Results) -> None:
        edges = measured["generate and store"]["edges"]
        self.rank = measured["PageRank"]["seconds_to_1e-10"] / edges
        self.embed = measured["embed all nodes"]["seconds"] / edges
        self.cluster = measured["constrained k-means"]["seconds"] / measured["generate and store"]["nodes"]
        self.anchors_per_second = measured["pre-training"]["anchors_per_second"]

    def seconds(self, nodes: float) -> dict[str, float]:
        """Of the stages that look at every node, on two cores with all arrays in the page cache."""
        edges = nodes * DEGREE / 2
        return {
            "PageRank": self.rank * edges,
            "embed all nodes": self.embed * edges,
            "constrained k-means": self.cluster * nodes,
        }

    def run_hours(self, nodes: float, cores: int = 2, efficiency: float = 1.0) -> float:
        """Of ``imgcl pretrain --balance imgcl``; PageRank uses one core, everything else all of them."""
        times, speed = self.seconds(nodes), cores / 2 * efficiency
        labelling = times["embed all nodes"] + times["constrained k-means"]
        shared = LABELLINGS * labelling + times["embed all nodes"] + ANCHORS / self.anchors_per_second
        return (times["PageRank"] + shared / speed) / 3600

    @staticmethod
    def bytes(nodes: float) -> dict[str, float]:
        """Of the store, of the scratch files while embedding, and of the vectors in the memory of rank 0."""
        store = (8 * DEGREE / 2 + 16 + 4 * FEATURES) * nodes
        return {"store": store, "scratch": 2 * 4 * WIDTH * nodes, "memory": (4 * CLUSTERS + 32) * nodes}


def checked(sizes: dict[str, Results]) -> str:
    """Predictions beside measurements."""
    model = Model(sizes["1"])
    runs = [(nodes, sizes[share]) for nodes, share in ((1e6, "0.416667"), (1e7, "4.16667")) if share in sizes]
    names = " | ".join(f"{nodes:,.0f} nodes: model | measured" for nodes, _ in runs)
    lines = [f"| | {names} |", "|---" * (1 + 2 * len(runs)) + "|"]
    rows: dict[str, list[str]] = {}

    def add(name: str, predicted: float, found: float, form: str) -> None:
        rows.setdefault(name, []).extend([form.format(predicted), form.format(found)])

    for nodes, found in runs:
        space = model.bytes(nodes)
        add("store, GB", space["store"] / 1e9, found["generate and store"]["store_mb"] * 2**20 / 1e9, "{:.2f}")
        for stage, seconds in model.seconds(nodes).items():
            key = "seconds_to_1e-10" if stage == "PageRank" else "seconds"
            add(f"{stage}, s", seconds, found[stage][key], "{:.1f}")
        add("anchors/s", model.anchors_per_second, found["pre-training"]["anchors_per_second"], "{:,.0f}")
        base = sizes["1"]["constrained k-means"]["peak_mb"] * 2**20 / 1e9 - model.bytes(2.4e6)["memory"] / 1e9
        memory = found["constrained k-means"]["peak_mb"] * 2**20 / 1e9
        add("memory of k-means, GB", base + space["memory"] / 1e9, memory, "{:.2f}")
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())])


def on_paper(sizes: dict[str, Results]) -> str:
    model, columns = Model(sizes["1"]), (1e8, 1e9)
    rows: dict[str, list[str]] = {}
    for nodes in columns:
        space, times = model.bytes(nodes), model.seconds(nodes)
        for name, cell in {
            "store": shown_bytes(space["store"]),
            "scratch files while embedding": shown_bytes(space["scratch"]),
            "memory of every process, page cache apart": shown_bytes(0.6e9 + 4 * nodes),
            "memory of rank 0": shown_bytes(0.6e9 + space["memory"]),
            "PageRank, one core": shown_hours(times["PageRank"] / 3600),
            "one labelling, two cores": shown_hours((times["embed all nodes"] + times["constrained k-means"]) / 3600),
            "an ImGCL run, two cores": shown_hours(model.run_hours(nodes)),
            f"an ImGCL run, {CORES} cores at {EFFICIENCY:.0%}": shown_hours(model.run_hours(nodes, CORES, EFFICIENCY)),
        }.items():
            rows.setdefault(name, []).append(cell)
    head = ["| | 10^8 nodes | 10^9 nodes |", "|---|---|---|"]
    return "\n".join([*head, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())])


def shown_bytes(size: float) -> str:
    return f"{size / 1e12:.1f} TB" if size >= 1e12 else f"{size / 1e9:.0f} GB"


def shown_hours(hours: float) -> str:
    return f"{hours:.0f} h" if hours >= 10 else f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.0f} min"


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scaling_limits.md")
    options = parser.parse_args()
    sizes = json.loads((DOCS / "results" / "scale.json").read_text(encoding="utf-8"))
    tables = {"checked": checked(sizes), "on paper": on_paper(sizes)}
    print(json.dumps({"benchmark": "scaling-model", **tables}) if options.json else "\n\n".join(tables.values()))
    if options.write:
        page = DOCS / "scaling_limits.md"
        text = page.read_text(encoding="utf-8")
        for name, (begin, end) in MARKS.items():
            before, _, rest = text.partition(begin)
            text = f"{before}{begin}\n{tables[name]}\n{end}{rest.partition(end)[2]}"
        write_text(page, text)


if __name__ == "__main__":
    main()
