"""The report of a user's own study: every group under every classifier, and the 2 x 2 where it has both halves."""

from __future__ import annotations

from imgcl.studies.report import Report, Table, attribution_rows, evaluation_rows, grid_table, titled
from imgcl.studies.results import Results

TEXT = "Percent on balanced test nodes, mean ± standard deviation over splits x seeds."
EFFECTS = ("pre-training", "classifier", "interaction", "both")


def report(results: Results) -> Report:
    """Two tables: figures and attribution."""
    groups = results.groups()
    first = next((found for labels in groups if (found := results.evaluation(**labels)) is not None), None)
    classifiers = () if first is None else first.classifiers
    columns = [(classifier, metric) for classifier in classifiers for metric in ("accuracy", "tail")]
    header = ["data set", "method", "balance", "imbalance"]
    tables = [
        grid_table(
            results,
            groups,
            columns,
            "Results",
            lambda g: [titled(g["dataset"]), titled(g["method"]), g["balance"], g["imbalance"]],
            header,
        )
    ]
    rows = []
    for labels in groups:
        effects = attribution_rows(results, **labels) if labels["balance"] == "imgcl" else None
        if effects is not None:
            cells = [effects[name]["accuracy"].points() for name in EFFECTS]
            rows.append([titled(labels["dataset"]), titled(labels["method"]), labels["imbalance"], *cells])
    if rows:
        note = "Differences of the accuracy in percentage points with 95 % interval."
        tables.append(Table("Who earned the gain", ["data set", "method", "imbalance", *EFFECTS], rows, note))
    return Report(f"Study {results.name}", [TEXT], tables, {}, evaluation_rows(results))
