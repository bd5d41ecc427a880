"""Write the measured figures of docs/choosing.md from the published results: ``python scripts/measured_tables.py``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from imgcl._core.files import write_text
from imgcl.studies.report import titled

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "choosing.md"
CLASSIFIERS = ("plain", "reweight", "pbs", "logit-adjust")
UNTRAINED = "propagated"


def results(study: str) -> pd.DataFrame:
    """Accuracy and tail recall in percent, by what was measured, with training labels ``exp:100``."""
    rows = pd.read_csv(DOCS / "results" / f"{study}.csv", keep_default_na=False)
    rows = rows[(rows["imbalance"] == "exp:100") & rows["metric"].isin(["accuracy", "tail"])]
    labels = ["dataset", "method", "balance", "classifier"]
    return 100 * rows.assign(mean=rows["mean"].astype(float)).pivot(index=labels, columns="metric", values="mean")


def shown(found: pd.DataFrame, *labels: str) -> str:
    """Accuracy and, in brackets, tail recall; a dash where nothing was measured."""
    if labels not in found.index:
        return "-"
    return "{accuracy:.1f} ({tail:.1f})".format(**found.loc[labels])


def classifiers() -> str:
    """How the classifier meets the imbalance, on embeddings that need no training."""
    found = results("baselines")
    rows = [
        [titled(graph), *(shown(found, graph, UNTRAINED, "none", classifier) for classifier in CLASSIFIERS)]
        for graph in found.index.unique("dataset")
    ]
    return markdown(["graph", *(f"`{classifier}`" for classifier in CLASSIFIERS)], rows)


def methods() -> str:
    """Methods and baselines on the same splits, without and with ImGCL."""
    found, baselines = results("methods"), results("baselines")
    header, rows = ["graph", "method", "plain classifier", "`pbs`", "ImGCL, `pbs`"], []
    for graph in found.index.unique("dataset"):
        for method in found.index.unique("method"):
            cells = (("none", "plain"), ("none", "pbs"), ("imgcl", "pbs"))
            rows.append([titled(graph), titled(method), *(shown(found, graph, method, *cell) for cell in cells)])
        for method in (UNTRAINED, "deepwalk", "gcn"):
            cells = (("none", "plain"), ("none", "pbs"))
            measured = [shown(baselines, graph, method, *cell) for cell in cells]
            rows.append([titled(graph), titled(method), *measured, "-"])
    return markdown(header, rows)


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES: dict[str, Callable[[], str]] = {"classifiers": classifiers, "methods": methods}


def updated(page: str) -> str:
    """The page with its tables made anew."""
    for name, make in TABLES.items():
        mark = f"<!-- measured: {name} -->"
        block = rf"{re.escape(mark)}\n.*?<!-- end of {name} -->"
        new = f"{mark}\n{make()}\n<!-- end of {name} -->"
        page, n_found = re.subn(block, lambda _, new=new: new, page, flags=re.DOTALL)  # type: ignore[misc]
        if n_found != 1:
            raise SystemExit(f"{PAGE.name} has no table {mark}")
    return page


if __name__ == "__main__":
    write_text(PAGE, updated(PAGE.read_text(encoding="utf-8")))
