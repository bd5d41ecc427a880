"""Every baseline through the same evaluation, beside the paper's figures."""

from __future__ import annotations

from imgcl.studies.grid import StudySpec
from imgcl.studies.protocol import CLASSIFIERS
from imgcl.studies.report import Report, Table, accuracy_and_tail, ceiling_accuracy, evaluation_rows, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.paper import PAPER_GRAPHS, paper_accuracy

BASELINES = ("features", "propagated", "deepwalk", "node2vec", "deepwalk-features", "gcn", "label-propagation")
TEXT = (
    "Accuracy on balanced test nodes in percent, mean ± standard deviation over splits; training labels `exp:100`. In "
    "brackets: recall of the tail classes. The ceiling is the same embedding with the probe trained on every label "
    "outside the test set. The paper does not say which classifier its walk and feature baselines had; for the GCN its "
    "plain and its PBS row are given. Propagated features need no training at all: they are the yardstick for what "
    "contrastive learning adds."
)


def report(results: Results) -> Report:
    """One table per graph."""
    tables = [_table(results, dataset) for dataset in results.values("dataset")]
    return Report("Baselines", [TEXT], tables, data=evaluation_rows(results))


def _table(results: Results, dataset: str) -> Table:
    rows = []
    run = results.values("method")
    for name in [baseline for baseline in BASELINES if baseline in run]:
        evaluation = results.evaluation(dataset=dataset, method=name)
        figures = [paper_accuracy(name, dataset), paper_accuracy(name, dataset, balanced=True)]
        paper = " -> ".join(f"{figure:.2f}" for figure in figures if figure is not None) or "-"
        if evaluation is None:
            rows.append([titled(name), *("open" for _ in CLASSIFIERS), "open", paper])
            continue
        cells = [accuracy_and_tail(evaluation, classifier) for classifier in CLASSIFIERS]
        rows.append([titled(name), *cells, ceiling_accuracy(evaluation), paper])
    return Table(titled(dataset), ["baseline", *CLASSIFIERS, "ceiling", "paper"], rows)


STUDY = Study(StudySpec(name="baselines", datasets=PAPER_GRAPHS, methods=(), baselines=BASELINES, seeds=1), report)
