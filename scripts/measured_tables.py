"""Write the measured figures of README.md and docs/choosing.md from the published results: run it without arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from imgcl._core.files import write_text
from imgcl.studies.report import titled

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
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


DEFAULT = "gbt + own + neighbours"


def graphs() -> str:
    """The default on every graph beside its features alone; the classifier is the one that validation nodes prefer."""
    rows = pd.read_csv(DOCS / "results" / "graphs.csv", keep_default_na=False)
    rows = rows[(rows["classifier"] == "best") & rows["metric"].isin(["accuracy", "tail"])]
    found = 100 * rows.assign(mean=rows["mean"].astype(float)).pivot(
        index=["dataset", "row"], columns="metric", values="mean"
    )
    columns = {"own": "own features", "neighbours": "propagated", "gbt": "embedding", DEFAULT: "default: all three"}
    lines = [
        [titled(graph), *(shown(found, graph, row) for row in columns)]
        for graph in rows["dataset"].drop_duplicates()
        if (graph, DEFAULT) in found.index
    ]
    return markdown(["graph", *columns.values()], lines)


RARE_COLUMNS = {
    ("own", "trees"): "trees, own features",
    ("own, means", "trees"): "trees, neighbours' means too",
    ("embedding, own, neighbours", "linear"): "imgcl, linear",
    ("embedding, own, neighbours", "ensemble"): "imgcl, default",
}


def rare() -> str:
    """AUPRC of one rare class, beside trees."""
    found = pd.read_csv(DOCS / "results" / "rare.csv")
    found = found[found["metric"] == "auprc"]
    means = 100 * found.groupby(["dataset", "regime", "rows", "classifier"])["value"].mean()
    cases = found[["dataset", "regime"]].drop_duplicates().itertuples(index=False)
    lines = [
        [titled(graph), regime, *(f"{means[graph, regime, rows, name]:.1f}" for rows, name in RARE_COLUMNS)]
        for graph, regime in cases
    ]
    return markdown(["graph", "labels", *RARE_COLUMNS.values()], lines)


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES: dict[Path, dict[str, Callable[[], str]]] = {
    ROOT / "README.md": {"graphs": graphs, "rare": rare},
    DOCS / "choosing.md": {"classifiers": classifiers, "methods": methods},
}


def updated(page: Path) -> str:
    """The page with its tables made anew."""
    text = page.read_text(encoding="utf-8")
    for name, make in TABLES[page].items():
        mark = f"<!-- measured: {name} -->"
        block = rf"{re.escape(mark)}\n.*?<!-- end of {name} -->"
        new = f"{mark}\n{make()}\n<!-- end of {name} -->"
        text, n_found = re.subn(block, lambda _, new=new: new, text, flags=re.DOTALL)  # type: ignore[misc]
        if n_found != 1:
            raise SystemExit(f"{page.name} has no table {mark}")
    return text


if __name__ == "__main__":
    for page in TABLES:
        write_text(page, updated(page))
