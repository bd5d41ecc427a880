"""Pre-training with the default (preset ``auto``) against the fixed number of epochs of the preset ``fast``.

GBT as each preset has it (``fast`` with the balanced selection), in turn, each in a process of its own; reading the
graph and compiling kernels are not timed.

IMGCL_DATA=<directory with the raw files> python benchmarks/default.py [--graphs NAME …] [--json]
"""

from __future__ import annotations

import time
from typing import Any

from common import arguments, show
from isolated import alone

GRAPHS = ("amazon-photo", "amazon-computers", "dblp")
BAR = 2  # times faster, all graphs together


def pretrain(name: str, preset: str) -> dict[str, Any]:
    import imgcl

    graph = imgcl.load_graph(name)
    imgcl.ImGCL(preset=preset, epochs=1, random_state=0).fit(graph)
    start = time.perf_counter()
    model = imgcl.ImGCL(preset=preset, random_state=0).fit(graph)
    return {"seconds": time.perf_counter() - start, "epochs": len(model.history_["loss"])}


def measure(graphs: tuple[str, ...]) -> dict[str, Any]:
    found = {(name, preset): alone(pretrain, name, preset) for name in graphs for preset in ("fast", "auto")}
    total = {preset: sum(found[name, preset]["seconds"] for name in graphs) for preset in ("fast", "auto")}
    epochs = {f"{preset} {name}, epochs": each["epochs"] for (name, preset), each in found.items()}
    ratio = total["fast"] / total["auto"]
    return {"ours_s": total["auto"], "reference_s": total["fast"], "ratio": ratio, "bar": BAR, **epochs}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--graphs", nargs="*", default=GRAPHS, help="names of graphs")
    options = parser.parse_args()
    show("default", measure(tuple(options.graphs)), options.json)


if __name__ == "__main__":
    main()
