"""The real graphs on the map: their knobs, and what other studies measured on them."""

from __future__ import annotations

from dataclasses import dataclass

from imgcl.evaluation import compare
from imgcl.evaluation.intervals import Estimate
from imgcl.studies.results import Results
from imgcl_lab.when.effects import METRICS

# The classifier that comes nearest to ``best`` among those of the older studies: its tau = 0 is ``plain``.
CLASSIFIER = "logit-adjust"
STUDIES = ("main", "long-tail")

# Of the raw files: homophily, nodes of the smallest class, class-size ratio, exponent of the degrees (Hill's estimate
# from the largest tenth), slope of log mean degree over log class size; then labels per class (a tenth of the nodes),
# and width, layers and epochs of the preset ``fast`` of GBT. A test computes them again.
GRAPHS: dict[str, dict[str, float]] = {
    "amazon-photo": {
        "homophily": 0.827,
        "tail": 331,
        "ratio": 5.86,
        "exponent": 2.97,
        "by_class": -0.15,
        "labels": 96,
        "width": 256,
        "layers": 2,
        "epochs": 300,
    },
    "amazon-computers": {
        "homophily": 0.777,
        "tail": 291,
        "ratio": 17.73,
        "exponent": 2.98,
        "by_class": 0.12,
        "labels": 138,
        "width": 128,
        "layers": 2,
        "epochs": 200,
    },
    "dblp": {
        "homophily": 0.828,
        "tail": 1982,
        "ratio": 4.0,
        "exponent": 3.21,
        "by_class": 0.32,
        "labels": 443,
        "width": 128,
        "layers": 2,
        "epochs": 200,
    },
}


@dataclass(frozen=True)
class RealEffect:
    """What ImGCL's pre-training did on a real graph."""

    study: str
    dataset: str
    knobs: dict[str, float]
    effects: dict[str, Estimate]


def real_effects(results: Results) -> list[RealEffect]:
    """GBT with ImGCL minus without, of the studies whose journals lie beside this one."""
    found = []
    for study in STUDIES:
        other = results.beside(study)
        for dataset in () if other is None else other.values("dataset"):
            labels = {"dataset": dataset, "method": "gbt", "balance": "imgcl"}
            pair = None if other is None else other.against_plain(labels)
            if pair is None or dataset not in GRAPHS or CLASSIFIER not in pair[0].classifiers:
                continue
            effects = compare(*pair, classifiers=(CLASSIFIER,), metrics=METRICS)
            unseen = {"unseen": float(study == "long-tail")}
            estimates = {metric: effects[CLASSIFIER, metric] for metric in METRICS}
            found.append(RealEffect(study, dataset, {**GRAPHS[dataset], **unseen}, estimates))
    return found
