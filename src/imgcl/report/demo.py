"""The demonstration: plain contrastive learning against ImGCL on a real graph that needs no download."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.progress import stage
from imgcl._core.seeding import generator
from imgcl.data import about, load_graph
from imgcl.evaluation import Effects, EvaluationResult, attribution, combine, evaluate
from imgcl.evaluation.labels import normalise_rows
from imgcl.graph import Graph
from imgcl.labelling import suggest
from imgcl.labelling.expected import fit
from imgcl.report.content import Nodes, ReportRun, build_content
from imgcl.report.directories import graph_nodes, run_settings
from imgcl.report.words import tail_conclusion
from imgcl.training import Trainer
from imgcl.training.blocks import apply_reductions, fit_reductions
from imgcl.training.estimator import IMGCL, make_config
from imgcl.training.run import versions
from imgcl.training.settings import BLOCKS, LEARNED

CLASSIFIERS = ("plain", "pbs")
PLAIN, BALANCED = "GBT", "GBT + ImGCL"
METRICS = ("accuracy", "head", "middle", "tail")
IMBALANCE = "exp:100"
COST_OF_TRAINING = 4  # in units of one evaluation, roughly
LABELS, DRAWS = 20, 10  # of the last step: nodes to label, and random choices to compare with


@dataclass(frozen=True)
class Labelled:
    """A few labels, random or chosen: recall over all other nodes (mean over classes), and classes among the labels."""

    recall: float
    classes: float

    def __str__(self) -> str:
        return f"{100 * self.recall:.0f} % recall over the other nodes, {self.classes:g} classes found"


@dataclass(frozen=True)
class Demo:
    """The 2 x 2 of the demonstration: pre-training without and with ImGCL, a plain and a balanced classifier."""

    results: dict[str, EvaluationResult]
    effects: Effects
    runs: Sequence[ReportRun]
    nodes: Nodes
    labelled: dict[str, Labelled]

    def conclusion(self) -> str:
        """What the table shows, in words that follow the numbers, and what to do next."""
        second = (
            "Try next: `imgcl pretrain YOUR_GRAPH --out runs/mine`, then "
            "`imgcl evaluate runs/mine --classifier plain,reweight,pbs,logit-adjust`."
        )
        return f"{tail_conclusion(self.effects)}\n{self.labelling()}\n{second}"

    def labelling(self) -> str:
        """What a few labels are worth, random and chosen."""
        random, chosen = (self.labelled[name] for name in ("random", "chosen"))
        return (
            f"If nobody had labelled any node: {LABELS} random labels, {random}; "
            f"{LABELS} labels of nodes that `imgcl suggest` chooses, {chosen}."
        )

    def report(self) -> dict[str, Any]:
        """The content of the report, see :func:`imgcl.report.write_report`."""
        splits = len(set(self.results[PLAIN].of(CLASSIFIERS[0]).splits.tolist()))
        return build_content(self.runs, self.nodes, imbalance=IMBALANCE, classifiers=CLASSIFIERS, splits=splits)


def run_demo(
    graph: str = "digits",
    *,
    epochs: int | None = None,
    splits: int = 20,
    seeds: int = 2,
) -> Demo:
    """Pre-train GBT without and with ImGCL and evaluate both on the same long-tailed labels.

    Args:
        graph: name or path of a labelled graph.
        epochs: of each pre-training; by default the preset's.
        splits: number of splits.
        seeds: number of pre-trainings of each kind.
    """
    loaded = load_graph(graph)
    if loaded.y is None:
        raise InputError(f"{graph} has no labels: the comparison needs some")
    with stage("", 2 * seeds * (COST_OF_TRAINING + 1) + 1):
        return _run(graph, loaded, {} if epochs is None else {"epochs": epochs}, splits, seeds)


def _run(graph: str, loaded: Graph, overrides: dict[str, Any], splits: int, seeds: int) -> Demo:
    assert loaded.y is not None
    results, runs = {}, []
    for name, balance in ((PLAIN, None), (BALANCED, IMGCL)):
        trainers = []
        for seed in range(seeds):
            config = make_config(loaded.name, balance=balance, overrides=overrides, seed=seed)
            trainer = Trainer(config, loaded)
            with stage(f"{name}, seed {seed}", weight=COST_OF_TRAINING):
                trainer.train()
            trainers.append(trainer)
        embeddings = [trainer.embed() for trainer in trainers]
        with stage(f"evaluation of {name}", seeds, weight=seeds):
            results[name] = combine([_evaluate(Z, loaded, splits) for Z in embeddings])
        first = trainers[0]
        settings = run_settings(first.config, versions=versions())
        settings["run"] |= {"seed": ", ".join(map(str, range(seeds))), "blocks": LEARNED}
        runs.append(
            ReportRun(
                name=name,
                balanced=balance is not None,
                embeddings=embeddings,
                history=first.history(),
                pseudo_labels=None if first.selector is None else first.selector.labels,
                settings=settings,
                result=results[name],
            )
        )
    effects = attribution(results[PLAIN], results[BALANCED], classifiers=CLASSIFIERS, metrics=METRICS)
    features = apply_reductions(fit_reductions(loaded, BLOCKS), loaded)
    nodes = replace(graph_nodes(loaded), about=about(graph), features=features)
    with stage("a few labels"):
        return Demo(results, effects, runs, nodes, few_labels(runs[0].embeddings[0], loaded.y))


def _evaluate(Z: NDArray[np.float32], graph: Graph, splits: int) -> EvaluationResult:
    labels: Any = graph.y
    return evaluate(
        Z, labels, imbalance=IMBALANCE, classifier=CLASSIFIERS, splits=splits, class_names=graph.class_names
    )


def few_labels(Z: NDArray[np.float32], y: NDArray[np.int64]) -> dict[str, Labelled]:
    """What twenty labels are worth: of random nodes (the mean of ten draws), and of chosen ones.

    Example:
        >>> y = np.repeat([0, 1, 2], [80, 30, 10])
        >>> Z = (np.eye(3)[y] + 0.1 * np.random.default_rng(0).standard_normal((120, 3))).astype(np.float32)
        >>> few_labels(Z, y)["chosen"].classes
        3
    """
    rows, known = normalise_rows(Z), np.flatnonzero(y >= 0)
    budget = min(LABELS, len(known) // 2)
    random = [_labelled(rows, y, generator(i, "demo").choice(known, budget, replace=False)) for i in range(DRAWS)]
    asked = None if len(known) == len(y) else {int(node): None for node in np.flatnonzero(y < 0)}  # nobody could answer
    chosen = suggest(Z, budget, asked, strategy="cover")["node"].to_numpy()
    mean = Labelled(*(float(np.mean([getattr(each, part) for each in random])) for part in ("recall", "classes")))
    return {"random": mean, "chosen": _labelled(rows, y, chosen)}


def _labelled(rows: NDArray[np.float32], y: NDArray[np.int64], nodes: NDArray[np.int64]) -> Labelled:
    """Train on some nodes and classify the others."""
    others = y >= 0
    others[nodes] = False
    classes = np.unique(y[nodes])
    predicted = fit(rows[nodes], y[nodes]).predict(rows[others]) if len(classes) > 1 else classes[0]
    right = np.bincount(y[others], predicted == y[others])
    total = np.bincount(y[others])
    return Labelled(float((right[total > 0] / total[total > 0]).mean()), len(classes))
