"""The demonstration: plain contrastive learning against ImGCL on a real graph that needs no download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from imgcl.data import load_graph
from imgcl.errors import InputError
from imgcl.estimator import IMGCL, make_config
from imgcl.evaluate import Effects, Estimate, EvaluationResult, attribution, combine, evaluate
from imgcl.train import EpochReport, Trainer

CLASSIFIERS = ("plain", "pbs")
PLAIN, BALANCED = "GBT", "GBT + ImGCL"
METRICS = ("accuracy", "head", "middle", "tail")
IMBALANCE = "exp:100"


@dataclass(frozen=True)
class Demo:
    """The 2 x 2 of the demonstration: pre-training without and with ImGCL, a plain and a balanced classifier."""

    results: dict[str, EvaluationResult]
    effects: Effects

    def conclusion(self) -> str:
        """What the table shows, in words that follow the numbers."""
        classifier, pretraining = (self.effects[name, "tail"] for name in ("classifier", "pre-training"))
        first = (
            f"Recall of the rare classes: balancing the classifier (pbs) {_moved(classifier)}; "
            f"balancing the pre-training (ImGCL) {_moved(pretraining)}."
        )
        second = (
            "Try next: `imgcl pretrain YOUR_GRAPH --out runs/mine`, then "
            "`imgcl evaluate runs/mine --classifier plain,reweight,pbs,logit-adjust`."
        )
        return f"{first}\n{second}"


def run_demo(
    graph: str = "digits",
    *,
    epochs: int | None = None,
    splits: int = 20,
    seeds: int = 2,
    on_start: Callable[[str], Callable[[EpochReport], None] | None] = lambda title: None,
) -> Demo:
    """Pre-train GBT without and with ImGCL and evaluate both on the same long-tailed labels.

    Args:
        graph: name or path of a labelled graph.
        epochs: of each pre-training; by default the preset's.
        splits: number of splits.
        seeds: number of pre-trainings of each kind.
        on_start: called with a title before each pre-training; returns what to call after each epoch.
    """
    loaded = load_graph(graph)
    if loaded.y is None:
        raise InputError(f"{graph} has no labels: the comparison needs some")
    overrides = {} if epochs is None else {"epochs": epochs}
    results = {}
    for name, balance in ((PLAIN, None), (BALANCED, IMGCL)):
        parts = []
        for seed in range(seeds):
            config = make_config(loaded.name, balance=balance, overrides=overrides, seed=seed)
            trainer = Trainer(config, loaded)
            trainer.train(on_start(f"{name}, seed {seed}"))
            parts.append(
                evaluate(
                    trainer.embed(),
                    loaded.y,
                    imbalance=IMBALANCE,
                    classifier=CLASSIFIERS,
                    splits=splits,
                    class_names=loaded.class_names,
                )
            )
        results[name] = combine(parts)
    effects = attribution(results[PLAIN], results[BALANCED], classifiers=CLASSIFIERS, metrics=METRICS)
    return Demo(results, effects)


def _moved(effect: Estimate) -> str:
    points = f"{effect.points()} points"
    if effect.mean is None or effect.ci95 is None or effect.ci95[0] <= 0 <= effect.ci95[1]:
        return f"made no clear difference ({points})"
    return f"{'raised' if effect.mean > 0 else 'lowered'} it by {points}"
