"""Table 2: laws of imbalance, GBT without and with ImGCL on Amazon-Computers, by head, middle and tail classes."""

from __future__ import annotations

from imgcl.studies.grid import StudySpec
from imgcl.studies.report import Report, Table, evaluation_rows, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.paper import GROUPS, IMBALANCE

TEXT = (
    "Recall in percent on balanced test nodes, mean ± standard deviation over splits x seeds; `all` is the accuracy. "
    "In brackets: the paper's figure, which stands with the plain classifier for GBT and with `pbs` for GBT + ImGCL."
)
PAPER_CLASSIFIER = {"none": "plain", "imgcl": "pbs"}


def report(results: Results) -> Report:
    """One table per graph and method."""
    tables = []
    for dataset in results.values("dataset"):
        for method in results.values("method"):
            rows = []
            for law in results.values("imbalance"):
                for balance in results.values("balance"):
                    rows += _rows(results, dataset, method, law, balance)
            title = f"{titled(method)} on {titled(dataset)}"
            tables.append(Table(title, ["law", "pre-training", "classifier", "head", "middle", "tail", "all"], rows))
    return Report("Types of imbalance", [TEXT], tables, {}, evaluation_rows(results))


def _rows(results: Results, dataset: str, method: str, law: str, balance: str) -> list[list[str]]:
    evaluation = results.evaluation(dataset=dataset, method=method, imbalance=law, balance=balance)
    rows = []
    for classifier in ("plain", "pbs"):
        cells = ["open" if evaluation is None else evaluation[classifier, metric].percent() for metric in GROUPS]
        same = (dataset, method) == ("amazon-computers", "gbt") and PAPER_CLASSIFIER.get(balance) == classifier
        paper = IMBALANCE.get(law, {}).get(balance) if same else None
        if paper is not None:
            cells = [f"{cell} ({value:.1f})" for cell, value in zip(cells, paper, strict=True)]
        rows.append([law, titled(balance), classifier, *cells])
    return rows


STUDY = Study(StudySpec(name="imbalance", datasets=("amazon-computers",), imbalances=tuple(IMBALANCE)), report)
