"""The cells of a study: what is computed, and the key under which its result is kept.

A cell's key is a hash of everything that decides its result and of nothing else: a finished cell is never computed
twice, whichever study asks for it. Versions of libraries are recorded with the result but are not part of the key.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from imgcl.training.settings import RunConfig

RESULT_VERSION = 1  # raised when the code gives other results, not by rounding alone: all cells become new
PRETRAIN_VERSION = 2  # the same for pre-trainings and what starts from them (2: other random views of large graphs)
ORDINARY = "random:10/10/80"  # in the place of an imbalance: ordinary random splits of all labelled nodes
CLASSIFIERS = ("plain", "reweight", "pbs", "logit-adjust")
# Settings that came after the first published keys, and what stood in their place: left out where they say the same.
NEWER_BALANCE: dict[str, Any] = {
    "clusters_per_class": 1,
    "statistics": "rows",
    "negatives": "all",
    "prototypes": 0.0,
    "augmentation": "uniform",
}
NEWER_PROTOCOL: dict[str, Any] = {"measure": "test"}


class GraphRef(BaseModel):
    """A graph by what the user called it; only the fingerprint of its content decides results."""

    model_config = ConfigDict(frozen=True)

    source: str
    name: str
    fingerprint: str
    n_classes: int = 0


class Protocol(BaseModel):
    """How an embedding is evaluated, see :func:`imgcl.evaluation.evaluate`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    imbalance: str = "exp:100"
    classifiers: tuple[str, ...] = CLASSIFIERS
    splits: int = Field(20, ge=1)
    seed: int = 0
    probe: str = "batched"
    ceiling: int = Field(1, ge=0)
    measure: Literal["test", "validation"] = "test"  # validation: one half chooses settings, the other half measures


class _Cell(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def identity(self) -> dict[str, Any]:
        """Everything that decides the result, as plain values."""
        raise NotImplementedError

    @cached_property
    def key(self) -> str:
        """Hash of the identity."""
        facts = {"result_version": RESULT_VERSION, "kind": getattr(self, "kind"), **self.identity()}  # noqa: B009
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def needs(self) -> PretrainCell | None:
        """The cell whose result this one starts from."""
        return None


def _without_defaults(facts: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in newer or value != newer[name]}


class PretrainCell(_Cell):
    """One pre-training: graph and full settings, the preset already written out."""

    kind: Literal["pretrain"] = "pretrain"
    graph: GraphRef
    config: RunConfig

    def identity(self) -> dict[str, Any]:
        config = self.config
        facts = config.model_dump(mode="json", exclude={"preset": True, "training": {"checkpoint_every"}})
        facts["method_settings"] = config.build_settings().model_dump(mode="json")  # defaults written out
        if config.balance is not None and config.balance.n_clusters is None:
            facts["balance"]["n_clusters"] = self.graph.n_classes or "auto"  # as the trainer reads it
        if config.balance is not None:
            facts["balance"] = _without_defaults(facts["balance"], NEWER_BALANCE)
        if config.scope.scope == "train":
            facts["scope"] = {"scope": "train"}  # law and split are not read there
        return {"pretrain_version": PRETRAIN_VERSION, "graph": self.graph.fingerprint, **facts}

    @property
    def tied(self) -> bool:
        """Whether the pre-training belongs to one split, so that nothing else can use its embedding."""
        return self.config.scope.scope != "train"


class EvaluateCell(_Cell):
    """Linear evaluation of an embedding on many splits."""

    kind: Literal["evaluate"] = "evaluate"
    pretrain: PretrainCell
    protocol: Protocol = Protocol()

    def identity(self) -> dict[str, Any]:
        protocol = _without_defaults(self.protocol.model_dump(mode="json"), NEWER_PROTOCOL)
        if self.pretrain.tied:  # its split came with the pre-training
            protocol = {name: protocol[name] for name in ("classifiers", "probe")}
        return {"pretrain": self.pretrain.key, "protocol": protocol}

    @property
    def needs(self) -> PretrainCell:
        return self.pretrain


class TrialCell(EvaluateCell):
    """A small pre-training and its evaluation at once: nothing is kept of it but the figures."""

    kind: Literal["trial"] = "trial"  # type: ignore[assignment]

    @property
    def graph(self) -> GraphRef:
        return self.pretrain.graph

    @property
    def needs(self) -> None:  # type: ignore[override]
        return None


class BaselineCell(_Cell):
    """A baseline through the same splits, classifiers and metrics."""

    kind: Literal["baseline"] = "baseline"
    graph: GraphRef
    baseline: str
    protocol: Protocol = Protocol()

    def identity(self) -> dict[str, Any]:
        protocol = self.protocol.model_dump(mode="json", exclude={"probe", "ceiling"})
        protocol = _without_defaults(protocol, NEWER_PROTOCOL)
        return {"graph": self.graph.fingerprint, "baseline": self.baseline, "protocol": protocol}


class MapCell(_Cell):
    """t-SNE of the test nodes of one split: of the embedding, or of a classifier's scores on it."""

    kind: Literal["map"] = "map"
    pretrain: PretrainCell
    protocol: Protocol = Protocol()
    classifier: str | None = None

    def identity(self) -> dict[str, Any]:
        protocol = self.protocol.model_dump(mode="json", include={"imbalance", "seed", "probe"})
        return {"pretrain": self.pretrain.key, "classifier": self.classifier, "protocol": protocol}

    @property
    def needs(self) -> PretrainCell:
        return self.pretrain


class TheoryCell(_Cell):
    """Proposition 1 simulated."""

    kind: Literal["theory"] = "theory"
    samples: int = 100_000
    repeats: int = 20
    seed: int = 0

    def identity(self) -> dict[str, Any]:
        return {"samples": self.samples, "repeats": self.repeats, "seed": self.seed}


Cell = PretrainCell | EvaluateCell | TrialCell | BaselineCell | MapCell | TheoryCell
WITH_GRAPH = (PretrainCell, TrialCell, BaselineCell)  # cells that are computed from a graph
