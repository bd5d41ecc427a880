"""Every method with and without ImGCL: long-tailed labels beside the paper, ordinary splits beside its own paper."""

from __future__ import annotations

from imgcl.studies.grid import StudySpec
from imgcl.studies.protocol import ORDINARY
from imgcl.studies.report import Report, Table, accuracy_and_tail, evaluation_rows, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.main import METHODS
from imgcl_lab.paper import paper_accuracy, published_accuracy

CLASSIFIERS = ("plain", "reweight", "pbs")
TEXT = (
    "Accuracy in percent, mean ± standard deviation over splits x seeds. Columns `plain`, `reweight`, `pbs`: training "
    "labels `exp:100`, balanced test nodes, by the classifier of that name; in brackets: tail recall. "
    "The paper's GCL figures are plain pre-training with a plain classifier, its ImGCL figures ImGCL pre-training with "
    "a classifier on balanced data: compare those with `reweight` and `pbs`. `10/10/80`: ordinary random splits with "
    "the plain classifier, beside what the method's own paper reports for them."
)


def report(results: Results) -> Report:
    """One table per graph."""
    tables = [_table(results, dataset) for dataset in results.values("dataset")]
    return Report("Six methods with and without ImGCL", [TEXT], tables, data=evaluation_rows(results))


def _table(results: Results, dataset: str) -> Table:
    rows = []
    methods = results.values("method")
    for method in [*(name for name in METHODS if name in methods), *(name for name in methods if name not in METHODS)]:
        for balance in results.values("balance"):
            labels = {"dataset": dataset, "method": method, "balance": balance}
            tailed = results.evaluation(**labels, imbalance="exp:100")
            ordinary = results.evaluation(**labels, imbalance=ORDINARY)
            cells = ["open" if tailed is None else accuracy_and_tail(tailed, name) for name in CLASSIFIERS]
            figures = [
                paper_accuracy(method, dataset, balanced=balance != "none"),
                published_accuracy(method, dataset) if balance == "none" else None,
            ]
            paper, published = ("-" if figure is None else f"{figure:.1f}" for figure in figures)
            plain = "open" if ordinary is None else ordinary["plain", "accuracy"].percent()
            name = titled(method) + ("" if balance == "none" else f" + {titled(balance)}")
            rows.append([name, *cells, paper, plain, published])
    header = ["method", *CLASSIFIERS, "paper", "10/10/80", "published 10/10/80"]
    return Table(titled(dataset), header, rows)


STUDY = Study(
    StudySpec(name="methods", datasets=("amazon-photo",), methods=METHODS, imbalances=("exp:100", ORDINARY), seeds=1),
    report,
)
