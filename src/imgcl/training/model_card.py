"""The model card of a scorer: data, labels, quality, decision and limits, from what was measured and nothing else.

It begins with the metadata that Hugging Face's hub reads (YAML front matter). The licence is for the user to choose.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from imgcl._core.version import __version__
from imgcl._core.words import percent
from imgcl.evaluation import FittedScorer
from imgcl.evaluation.render import markdown_table
from imgcl.training.record import GraphRecord
from imgcl.training.settings import RunConfig

CARD = "MODEL_CARD.md"
FEW = 5  # labels of a class below which its figures say little
FEW_TO_CHOOSE = 50  # labels of a class below which a threshold that just reaches a rate on them will miss it on others
SOURCES = {
    "labels": "the class shares of the given labels, taken for a random draw",
    "estimated": "estimated from the unlabelled nodes (EM, Saerens et al. 2002), not taken from the labels",
    "balanced": "all classes alike, as asked for",
    "given": "as given by the user",
}
TAGS = ("imgcl", "graph-machine-learning", "node-classification", "class-imbalance")
METRICS = {"auroc": ("roc_auc", "AUROC"), "auprc": ("average_precision", "AUPRC"), "brier": ("brier_score", "Brier")}


def model_card(scorer: FittedScorer, config: RunConfig, record: GraphRecord) -> str:
    """Markdown for the person who gets the scorer."""
    parts = [
        _front_matter(scorer, config, record),
        f"# Model card: nodes of {record.name} by class",
        _purpose(scorer, config, record),
        f"## Labels and prior\n\n{_labels(scorer)}",
        f"## Quality\n\n{_quality(scorer)}",
        f"## Decision\n\n{_decision(scorer)}",
        f"## Limits\n\n{_limits(scorer, record)}",
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(scorer: FittedScorer, config: RunConfig, record: GraphRecord) -> str:
    """Metadata of the hub; JSON is YAML, so that any name of a class or a graph is quoted as it must be."""
    lines = [
        "# license: choose one before you publish, for example mit",
        "library_name: imgcl",
        "pipeline_tag: graph-ml",
        f"tags: {json.dumps([*TAGS, config.method])}",
    ]
    results = _results(scorer, record)
    if results:
        index = [{"name": f"{scorer.classifier} on {record.name}", "results": results}]
        lines.append(f"model-index: {json.dumps(index, ensure_ascii=False)}")
    return "\n".join(["---", *lines, "---"])


def _results(scorer: FittedScorer, record: GraphRecord) -> list[dict[str, Any]]:
    """What was measured, as the hub lists it; nothing where nothing was."""
    metrics = [
        {"type": kind, "name": f"{title}, class {name}", "value": values[metric]}
        for name, values in scorer.quality.get("classes", {}).items()
        for metric, (kind, title) in METRICS.items()
        if values[metric] is not None
    ]
    if not metrics:
        return []
    task = {"type": "graph-ml", "name": "node classification, cross-validated over the labels"}
    return [{"task": task, "dataset": {"type": "graph", "name": record.name}, "metrics": metrics}]


def _purpose(scorer: FittedScorer, config: RunConfig, record: GraphRecord) -> str:
    features = "no" if not record.n_features else f"{record.n_features:,}"
    return (
        f"It gives every node of a graph with the same {features} features the probability of each of "
        f"{len(scorer.class_names)} classes, and a class. Encoder: {config.method}, pre-trained on {record.name} "
        f"(fingerprint {record.fingerprint[:12]}, seed {config.seed}). Classifier: {scorer.classifier} on "
        f"{', '.join(name or 'the embedding' for name in scorer.widths)}. Made by imgcl {__version__}."
    )


def _labels(scorer: FittedScorer) -> str:
    rows = [
        [name, f"{n:,}", percent(n / sum(scorer.labels)), percent(share)]
        for name, n, share in zip(scorer.class_names, scorer.labels, scorer.prior.shares, strict=True)
    ]
    table = markdown_table(["class", "labels", "of the labels", "of the scored nodes"], rows)
    return f"{table}\n\nShares of the scored nodes: {SOURCES[scorer.prior.source]}."


def _quality(scorer: FittedScorer) -> str:
    found = scorer.quality
    if not found:
        return "Not measured: the classifier gives no probabilities, or no class has two labels."
    rows = [
        [name, *(_number(values[metric]) for metric in ("auroc", "auprc", "recall_at_k", "lift", "brier"))]
        for name, values in found["classes"].items()
    ]
    table = markdown_table(["class", "AUROC", "AUPRC", "recall@k", "lift", "Brier"], rows)
    return (
        f"Measured on {found['nodes']:,} labelled nodes, each scored by a model that was not trained on it, with "
        "classes as common as among the labels; k is the number of labels of the class. Calibration: "
        f"{found['calibration']}, expected calibration error {_number(found['ece'])}.\n\n{table}"
    )


def _decision(scorer: FittedScorer) -> str:
    rows = [
        [name, *(_rate(values[rate]) for rate in ("precision", "recall", "flag_rate"))]
        for name, values in scorer.decision.expected.items()
    ]
    table = markdown_table(["class", "precision", "recall", "share of the nodes"], rows)
    said = "What it will give at the shares of the scored nodes, with 95 % intervals:"
    return f"Rule: `{scorer.decision.rule}`. {said}\n\n{table}" if rows else f"Rule: `{scorer.decision.rule}`."


def _limits(scorer: FittedScorer, record: GraphRecord) -> str:
    few = [name for name, n in zip(scorer.class_names, scorer.labels, strict=True) if n < FEW]
    lines = [
        "Probabilities hold for nodes whose classes are as common as the table of labels says; elsewhere fit again, or "
        "give the prior.",
        f"Figures come from labelled nodes of {record.name}; other graphs, and later times, were not measured.",
    ]
    if few:
        lines.append(
            f"Fewer than {FEW} labels: {', '.join(few)}. What is said about these classes is hardly more than chance."
        )
    if remark := hopeful(scorer):
        lines.append(f"{remark[0].upper()}{remark[1:]}.")
    return "\n".join(f"- {line}" for line in lines)


def hopeful(scorer: FittedScorer) -> str:
    """Why a decision promises too much: few labels, on which its threshold is the luckiest one; else nothing."""
    reached = scorer.decision.rule.partition(":")[0].removeprefix("min-")
    name, labels = scorer.class_names[scorer.target], scorer.labels[scorer.target]
    if reached not in ("precision", "recall") or labels >= FEW_TO_CHOOSE:
        return ""
    chosen = f"the threshold was chosen on the {labels} labels of {name} that the rates to expect are measured on"
    return f"{chosen}: the {reached} of other nodes will probably be lower"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _rate(values: Mapping[str, Any]) -> str:
    ends: Sequence[float] = values["ci95"]
    return f"{_number(values['value'])} [{ends[0]:.3f}, {ends[1]:.3f}]"
