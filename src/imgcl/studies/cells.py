"""The cells of a study: what is computed, and the key under which its result is kept.

A cell's key is a hash of everything that decides its result and of nothing else: a finished cell is never computed
twice, whichever study asks for it. Versions of libraries are recorded with the result but are not part of the key.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from imgcl._core.errors import InputError, RunError
from imgcl.graph import Graph
from imgcl.studies.packing import rounded
from imgcl.studies.protocol import Embedded, Protocol, evaluate_baseline, evaluate_embedded
from imgcl.training import Run, RunConfig, Trainer
from imgcl.training.pretrain import pretrain, scoped_graph

RESULT_VERSION = 1  # raised when the code gives other results, not by rounding alone: all cells become new
PRETRAIN_VERSION = 2  # the same for pre-trainings and what starts from them (2: other random views of large graphs)
LABELLING_FACTS = ("epoch", "alpha", "sizes", "drawn", "agreement", "ari", "nmi", "true_drawn")


class GraphRef(BaseModel):
    """A graph by what the user called it; only the fingerprint of its content decides results."""

    model_config = ConfigDict(frozen=True)

    source: str
    name: str
    fingerprint: str
    n_classes: int = 0


@dataclass(frozen=True)
class Context:
    """What a cell is given to be computed with, wherever it runs.

    Attributes:
        graph: loads the graph of :attr:`Cell.loads`.
        embeddings: reads the pre-trainings of :attr:`Cell.all_needs`, in their order.
        directory: the cell's own, for what it keeps beside its result.
    """

    graph: Callable[[], Graph]
    embeddings: Callable[[], list[Embedded]]
    directory: Path

    def embedded(self) -> Embedded:
        """The pre-training of :attr:`Cell.needs`, which is the first."""
        return self.embeddings()[0]


class Cell(BaseModel, ABC):
    """One thing that a study computes, as an immutable value that can be sent to another process.

    A study with a computation of its own derives a class with its settings as fields, a ``kind`` that no other class
    has, :meth:`identity` and :meth:`compute`.

    Example:
        >>> class SquareCell(Cell):
        ...     kind = "square"
        ...     number: int
        ...
        ...     def identity(self):
        ...         return {"number": self.number}
        ...
        ...     def compute(self, context):
        ...         return {"square": self.number**2}
        >>> SquareCell(number=2).key == SquareCell(number=3).key
        False
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything that decides the result, as plain values."""

    @abstractmethod
    def compute(self, context: Context) -> dict[str, Any]:
        """The result, as plain values."""

    @cached_property
    def key(self) -> str:
        """Hash of the identity."""
        facts = {"result_version": RESULT_VERSION, "kind": self.kind, **self.identity()}
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def loads(self) -> GraphRef | None:
        """The graph that is loaded to compute the cell."""
        return None

    @property
    def needs(self) -> PretrainCell | None:
        """The pre-training that this cell starts from."""
        return None

    @property
    def all_needs(self) -> tuple[PretrainCell, ...]:
        """All pre-trainings that this cell starts from, :attr:`needs` first; most cells have no other."""
        return () if self.needs is None else (self.needs,)


class PretrainCell(Cell):
    """One pre-training: graph and full settings, the preset already written out."""

    kind = "pretrain"
    graph: GraphRef
    config: RunConfig

    def identity(self) -> dict[str, Any]:
        config = self.config
        facts = config.model_dump(mode="json", exclude={"preset": True, "training": {"checkpoint_every"}})
        facts["method_settings"] = config.build_settings().model_dump(mode="json")  # defaults written out
        if facts["method_settings"].get("views") is None:
            facts["method_settings"].pop("views", None)  # the method's own, as before there was a choice
        if config.balance is not None and config.balance.n_clusters is None:
            facts["balance"]["n_clusters"] = self.graph.n_classes or "auto"  # as the trainer reads it
        if config.scope.scope == "train":
            facts["scope"] = {"scope": "train"}  # law and split are not read there
        return {"pretrain_version": PRETRAIN_VERSION, "graph": self.graph.fingerprint, **facts}

    @property
    def loads(self) -> GraphRef:
        return self.graph

    @property
    def tied(self) -> bool:
        """Whether the pre-training belongs to one split, so that nothing else can use its embedding."""
        return self.config.scope.scope != "train"

    def compute(self, context: Context) -> dict[str, Any]:
        graph = self.unchanged(context.graph())
        source, diagnose = self.graph.name, graph.y is not None
        run = pretrain(graph, self.config, context.directory, source=source, resume=True, diagnose=diagnose)
        return _summary(run)

    def unchanged(self, graph: Graph) -> Graph:
        """The graph, if it is still the one that the study was planned with."""
        if graph.fingerprint != self.graph.fingerprint:
            raise RunError(f"graph {self.graph.source!r} changed while the study was running: start the study again")
        return graph


def _summary(run: Run) -> dict[str, Any]:
    history = run.history
    facts = {
        "epochs": len(history["loss"]),
        "loss": history["loss"][-1],
        "width": run.embedding.shape[1],
        "labellings": [{name: entry.get(name) for name in LABELLING_FACTS} for entry in history["labellings"]],
    }
    return rounded(facts, 6)  # type: ignore[no-any-return]


class _Evaluation(Cell):
    pretrain: PretrainCell
    protocol: Protocol = Protocol()

    def identity(self) -> dict[str, Any]:
        protocol = self.protocol.model_dump(mode="json")
        if self.pretrain.tied:  # its split came with the pre-training
            protocol = {name: protocol[name] for name in ("classifiers", "probe")}
        return {"pretrain": self.pretrain.key, "protocol": protocol}


class EvaluateCell(_Evaluation):
    """Linear evaluation of an embedding on many splits."""

    kind = "evaluate"

    @property
    def needs(self) -> PretrainCell:
        return self.pretrain

    def compute(self, context: Context) -> dict[str, Any]:
        return evaluate_embedded(context.embedded(), self.protocol)


class TrialCell(_Evaluation):
    """A small pre-training and its evaluation at once: nothing is kept of it but the figures."""

    kind = "trial"

    @property
    def loads(self) -> GraphRef:
        return self.pretrain.graph

    def compute(self, context: Context) -> dict[str, Any]:
        return evaluate_embedded(self._embedded(context.graph()), self.protocol)

    def _embedded(self, graph: Graph) -> Embedded:
        """The embedding, which is never written."""
        self.pretrain.unchanged(graph)
        if graph.y is None:
            raise InputError(f"graph {graph.name!r} has no labels: a trial cannot be evaluated without them")
        scoped = scoped_graph(graph, self.pretrain.config)
        trainer = Trainer(self.pretrain.config, graph if scoped is None else scoped.pretrain)
        trainer.train()
        if scoped is None:
            return Embedded(trainer.embed(), graph.y, split=None)
        assert scoped.embed.y is not None
        return Embedded(trainer.embed(scoped.embed), scoped.embed.y, split=scoped.embed_split)


class BaselineCell(Cell):
    """A baseline through the same splits, classifiers and metrics."""

    kind = "baseline"
    graph: GraphRef
    baseline: str
    protocol: Protocol = Protocol()

    def identity(self) -> dict[str, Any]:
        protocol = self.protocol.model_dump(mode="json", exclude={"probe", "ceiling"})
        return {"graph": self.graph.fingerprint, "baseline": self.baseline, "protocol": protocol}

    @property
    def loads(self) -> GraphRef:
        return self.graph

    def compute(self, context: Context) -> dict[str, Any]:
        return evaluate_baseline(self.baseline, context.graph(), self.protocol)
