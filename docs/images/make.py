"""The figures of the documentation that are computed: ``python docs/images/make.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from imgcl import load_graph, plots
from imgcl.balance import trace_figure
from imgcl.estimator import ImGCL
from imgcl.theory import contraction, simulate

HERE = Path(__file__).parent


def main() -> None:
    """Write the SVG files beside this one."""
    model = ImGCL(n_clusters=10, epochs=100).fit(load_graph("digits"))
    plots.save(trace_figure(model.history_["labellings"]), HERE / "trace.svg")
    rows = simulate()
    grid = np.linspace(0, 2.2, 100)
    measured = ([row[key] for row in rows] for key in ("x", "measured", "standard_error"))
    plots.save(plots.contraction((grid, [contraction(x) for x in grid]), *measured), HERE / "contraction.svg")


if __name__ == "__main__":
    main()
