"""Table 3: where the pseudo-labels come from and what centrality adds, GBT on Amazon-Computers."""

from __future__ import annotations

from imgcl.evaluation import compare
from imgcl.studies.grid import StudySpec
from imgcl.studies.report import Report, Table, evaluation_rows, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.paper import ABLATION, GROUPS

BALANCES = {
    "none": "none",
    "k-means": "clusters=kmeans,stage=one,centrality=none",
    "communities": "clusters=communities,centrality=none",
    "no centrality": "centrality=none",
    "imgcl": "imgcl",
    "true labels": "clusters=given",
}
TEXT = (
    "Recall in percent on balanced test nodes, mean ± standard deviation over splits x seeds; `all` is the accuracy. "
    "In brackets: the paper's figure, which stands with the plain classifier for GBT alone, with `pbs` for the rest. "
    "`k-means` and `communities` label once, on features or on the topology, without centrality (the paper does not "
    "say whether its one-stage variants had it)."
)


def report(results: Results) -> Report:
    """Two tables per graph and method: the figures, and the gains over the plain pre-training."""
    tables = []
    for dataset in results.values("dataset"):
        for method in results.values("method"):
            name = f"{titled(method)} on {titled(dataset)}"
            rows, gains = [], []
            for balance in results.values("balance"):
                rows += _rows(results, dataset, method, balance)
                gains += _gains(results, dataset, method, balance)
            header = ["pre-training", "classifier", "head", "middle", "tail", "all"]
            tables.append(Table(name, header, rows))
            note = "Differences in percentage points on the same splits and seeds, with 95 % interval."
            tables.append(Table(f"{name}: gain over the plain pre-training", header, gains, note))
    return Report("Ablation", [TEXT], tables, {}, evaluation_rows(results))


def _rows(results: Results, dataset: str, method: str, balance: str) -> list[list[str]]:
    evaluation = results.evaluation(dataset=dataset, method=method, balance=balance)
    rows = []
    for classifier in ("plain", "pbs"):
        cells = ["open" if evaluation is None else evaluation[classifier, metric].percent() for metric in GROUPS]
        theirs = classifier == ("plain" if balance == "none" else "pbs") and balance in ABLATION
        if theirs and (dataset, method) == ("amazon-computers", "gbt"):
            cells = [f"{cell} ({value:.1f})" for cell, value in zip(cells, ABLATION[balance], strict=True)]
        rows.append([titled(balance), classifier, *cells])
    return rows


def _gains(results: Results, dataset: str, method: str, balance: str) -> list[list[str]]:
    pair = results.against_plain({"dataset": dataset, "method": method, "balance": balance})
    if pair is None:
        return []
    names = ("plain", "pbs")
    effects = compare(*pair, classifiers=names, metrics=GROUPS)
    return [[titled(balance), name, *(effects[name, metric].points() for metric in GROUPS)] for name in names]


STUDY = Study(StudySpec(name="ablation", datasets=("amazon-computers",), balances=BALANCES), report)
