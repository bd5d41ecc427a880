"""The grid: which blocks stand side by side in a row, the cell that evaluates a row, and what is computed first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl.baselines import BASELINES
from imgcl.evaluation import EvaluationResult, evaluate
from imgcl.evaluation.blocks import WEIGHT
from imgcl.graph import Graph
from imgcl.graph.structure import is_structural
from imgcl.studies.cells import Cell, Context, GraphRef, PretrainCell
from imgcl.studies.grid import NONE, Graphs, Point, StudySpec, protocol_of
from imgcl.studies.packing import rounded
from imgcl.studies.protocol import Protocol
from imgcl.studies.report import CSV_METRICS
from imgcl.training.estimator import make_config

Row = tuple[str, ...]
"""Names of the blocks of a row: of methods, and of baselines that give an embedding."""

OWN: Row = ("own",)
PROPAGATED: Row = ("neighbours",)
FEATURES = OWN + PROPAGATED
ALONE: Row = ("gbt",)
DEFAULT: Row = ALONE + FEATURES
PAIR: Row = ("gbt", "dgi", *FEATURES)
METHODS = ("gbt", "dgi", "mvgrl", "infograph", "cca-ssg", "vicreg", "bgrl", "graphmae", "grace")
"""The default's first, then from the fastest to the slowest."""

WALKS = ("deepwalk", "node2vec")
WALKED = ("wiki-cs-structure",)  # the graph of the paper whose features are not at hand: walks are evaluated beside it
LAWS = {
    "amazon-photo": "exp:100",
    "amazon-computers": "exp:100",
    "dblp": "exp:100",
    "cora": "exp:20",
    "citeseer": "exp:20",
}
"""Laws of the training labels; of all other graphs that of the study, ``natural``."""

DEVELOPMENT = ("amazon-photo", "cora", "pubmed", "tolokers", "johns-hopkins", "facebook-pages")
VERSIONS = {"natural": 3}  # by law, of splits and of the evaluation of blocks: raised when they give other results
GRAPHS = (
    *("amazon-photo", "amazon-computers", "dblp", "cora", "citeseer", "pubmed", "facebook-pages", "tolokers"),
    *("amazon-fraud", "uai2010", "johns-hopkins", "lastfm-asia", "wiki-cs-structure"),
)


class RowCell(Cell):
    """Blocks side by side, evaluated on many splits; of every split the metrics are kept, not the confusions.

    Attributes:
        graph: the graph.
        row: its blocks.
        pretrained: the pre-trainings of those blocks that are learned, in their order.
        protocol: how it is evaluated.
        seed: of the blocks that are made from features or walks.
    """

    kind = "row"
    graph: GraphRef
    row: Row
    pretrained: tuple[PretrainCell, ...] = ()
    protocol: Protocol = Protocol()
    seed: int = 0

    def identity(self) -> dict[str, Any]:
        protocol = self.protocol.model_dump(mode="json", exclude={"ceiling"})
        facts = {"graph": self.graph.fingerprint, "row": list(self.row), "seed": self.seed, "protocol": protocol}
        version = VERSIONS.get(self.protocol.imbalance, 2)
        return {**facts, "version": version, "pretrained": [each.key for each in self.pretrained]}

    @property
    def loads(self) -> GraphRef:
        return self.graph

    @property
    def needs(self) -> PretrainCell | None:
        return self.pretrained[0] if self.pretrained else None

    @property
    def all_needs(self) -> tuple[PretrainCell, ...]:
        return self.pretrained

    def compute(self, context: Context) -> dict[str, Any]:
        graph, protocol = context.graph(), self.protocol
        blocks = self._blocks(graph, context)
        assert graph.y is not None
        result = evaluate(
            blocks,
            graph.y,
            protocol.imbalance,
            protocol.classifiers,
            protocol.draw(graph.y),
            protocol.seed,
            protocol.probe,
            ceiling=0,
            class_names=graph.class_names,
        )
        return {"graph": _facts(graph), "values": _values(result), "weights": _weights(result, self.row)}

    def _blocks(self, graph: Graph, context: Context) -> dict[str, NDArray[np.float32]]:
        embeddings = iter(context.embeddings())
        return {
            name: BASELINES[name].make(graph, seed=self.seed) if name in BASELINES else next(embeddings).embedding
            for name in self.row
        }


def _facts(graph: Graph) -> dict[str, int]:
    features = 0 if is_structural(graph.feature_names) else graph.n_features
    sizes = {"nodes": graph.n_nodes, "edges": graph.n_edges, "features": features}
    return {**sizes, "classes": graph.n_occurring_classes}


def _values(result: EvaluationResult) -> dict[str, Any]:
    """The value of every metric in every split, by classifier."""
    return {
        name: {metric: rounded(result.values(name, metric).tolist(), 5) for metric in CSV_METRICS}
        for name in result.classifiers
    }


def _weights(result: EvaluationResult, row: Row) -> dict[str, dict[str, float]]:
    """The weight that validation gave each block, mean over the splits, by classifier; nothing of a single block."""
    if len(row) == 1:
        return {}
    return {
        name: {block: rounded(float(np.mean([s[f"{WEIGHT}{block}"] for s in scores.settings])), 3) for block in row}
        for name, scores in result.scores.items()
    }


def points(spec: StudySpec, graphs: Graphs) -> list[Point]:
    """The default and its references on all graphs first, then the other rows; every stage has one seed."""
    return [
        Point(_labels(ref, row, seed, spec), _cell(spec, ref, row, seed), stage)
        for stage, (rows, seed) in enumerate(stages(spec))
        for ref in graphs.refs
        for row in rows
        if _is_run(row, ref.name)
    ]


def stages(spec: StudySpec) -> Iterator[tuple[list[Row], int]]:
    """Rows and seed of every stage, the most useful first."""
    for seed in range(spec.seeds):
        yield [OWN, PROPAGATED, ALONE, DEFAULT], seed
    for seed in range(spec.seeds):
        yield [(walk,) for walk in WALKS], seed
        for method in spec.methods[1:]:
            yield [(method,), (method, *FEATURES)], seed
            if method in PAIR:
                yield [PAIR], seed


def _is_run(row: Row, dataset: str) -> bool:
    return row[0] not in WALKS or dataset in WALKED


def law_of(spec: StudySpec, dataset: str) -> str:
    """The law of a graph's training labels."""
    return LAWS.get(dataset, spec.imbalances[0])


def label(row: Row) -> str:
    """A row as a label of the journal.

    Example:
        >>> label(DEFAULT)
        'gbt + own + neighbours'
    """
    return " + ".join(row)


def _labels(ref: GraphRef, row: Row, seed: int, spec: StudySpec) -> dict[str, Any]:
    learned = [name for name in row if name not in BASELINES] or row
    facts = {"dataset": ref.name, "method": "+".join(learned), "balance": NONE, "imbalance": law_of(spec, ref.name)}
    return {**facts, "row": label(row), "seed": seed}


def _cell(spec: StudySpec, ref: GraphRef, row: Row, seed: int) -> RowCell:
    pretrained = tuple(_pretrain(spec, ref, name, seed) for name in row if name not in BASELINES)
    protocol = protocol_of(spec, law_of(spec, ref.name))
    return RowCell(graph=ref, row=row, pretrained=pretrained, protocol=protocol, seed=seed)


def _pretrain(spec: StudySpec, ref: GraphRef, method: str, seed: int) -> PretrainCell:
    """A pre-training without ImGCL's balance: the default's setting for any graph, that of the study for others."""
    preset = "auto" if method in ALONE else spec.preset
    config = make_config(ref.name, method=method, preset=preset, balance=None, overrides=spec.settings, seed=seed)
    return PretrainCell(graph=ref, config=config)
