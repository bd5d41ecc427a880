"""How a study evaluates: the protocol, and what it gives for an embedding or a baseline, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from imgcl._core.errors import InputError
from imgcl.baselines import resolve_baseline, run_baseline
from imgcl.evaluation import EvaluationResult, evaluate
from imgcl.graph import Graph
from imgcl.imbalance import Split, make_splits, random_splits
from imgcl.studies.packing import pack_result, rounded
from imgcl.training import Run

ORDINARY = "random:10/10/80"  # in the place of an imbalance: ordinary random splits of all labelled nodes
CLASSIFIERS = ("plain", "reweight", "pbs", "logit-adjust")


class Protocol(BaseModel):
    """How an embedding is evaluated, see :func:`imgcl.evaluation.evaluate`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    imbalance: str = "exp:100"
    classifiers: tuple[str, ...] = CLASSIFIERS
    splits: int = Field(20, ge=1)
    seed: int = 0
    probe: str = "batched"
    ceiling: int = Field(1, ge=0)

    def draw(self, labels: NDArray[np.int64], number: int | None = None) -> list[Split]:
        """The protocol's splits of these labels, or the first ``number`` of them."""
        if self.imbalance == ORDINARY:
            return random_splits(labels, splits=number or self.splits, random_state=self.seed)
        return make_splits(labels, self.imbalance, number or self.splits, self.seed)


@dataclass(frozen=True)
class Embedded:
    """What evaluation needs of a finished pre-training; ``split`` is set when it belongs to one split."""

    embedding: NDArray[np.float32]
    labels: NDArray[np.int64]
    class_names: list[str] | None = None
    split: Split | None = None

    @classmethod
    def of(cls, run: Run) -> Embedded:
        """Read it from a run directory."""
        return cls(run.embedding, run.labels, run.class_names, run.split)

    def splits(self, protocol: Protocol, number: int | None = None) -> list[Split]:
        """The splits to evaluate on: its own, or those of the protocol."""
        return [self.split] if self.split is not None else protocol.draw(self.labels, number)


def evaluate_embedded(embedded: Embedded, protocol: Protocol) -> dict[str, Any]:
    """The evaluation of a pre-training; one that belongs to a split has no ceiling."""
    splits = embedded.splits(protocol)
    result = evaluate(
        embedded.embedding,
        embedded.labels,
        protocol.imbalance,
        protocol.classifiers,
        splits,
        protocol.seed,
        protocol.probe,
        ceiling=0 if embedded.split is not None else protocol.ceiling,
        class_names=embedded.class_names,
    )
    return _packed(result, embedded.labels, splits)


def evaluate_baseline(name: str, graph: Graph, protocol: Protocol) -> dict[str, Any]:
    """The evaluation of a baseline, with those of the protocol's classifiers that it knows."""
    if graph.y is None:
        raise InputError(f"graph {graph.name!r} has no labels: a baseline cannot be evaluated without them")
    known, splits = resolve_baseline(name).classifiers, protocol.draw(graph.y)
    classifiers = [classifier for classifier in protocol.classifiers if classifier in known]
    result = run_baseline(name, graph, protocol.imbalance, classifiers, splits, protocol.seed)
    return _packed(result, graph.y, splits)


def _packed(result: EvaluationResult, labels: NDArray[np.int64], splits: list[Split]) -> dict[str, Any]:
    known = labels[labels >= 0]
    n_classes = int(known.max()) + 1
    train = np.mean([np.bincount(labels[split.train], minlength=n_classes) for split in splits], axis=0)
    sizes = {"class_sizes": np.bincount(known, minlength=n_classes).tolist(), "train_sizes": rounded(train.tolist(), 2)}
    return {**pack_result(result), **sizes}
