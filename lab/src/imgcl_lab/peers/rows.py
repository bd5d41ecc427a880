"""The grid: which methods are compared, the cell that runs one, and what is computed first."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imgcl.baselines import neighbour_features, own_features, run_baseline
from imgcl.evaluation import EvaluationResult, evaluate
from imgcl.graph import Graph
from imgcl.studies.cells import Cell, Context, GraphRef, PretrainCell
from imgcl.studies.grid import Graphs, Point, StudySpec, pretrain_cell
from imgcl.studies.packing import rounded
from imgcl.studies.results import Results

CITATION = ("cora", "citeseer", "pubmed")
GRAPHS = (*CITATION, "amazon-photo", "amazon-computers", "dblp", "uai2010", "johns-hopkins")
METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "tail")
EMBEDDING = "embedding"
PEAK, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True, eq=False)
class Row:
    """A method: a baseline with one of its classifiers, or blocks of an embedding with one.

    Attributes:
        title: in tables.
        name: of the baseline; ``embedding``: that of `imgcl pretrain` with own and propagated features beside it.
        classifier: the loss, or the classifier on the embedding.
        options: of the baseline.
        family: what it is compared with in the published figures.
        version: raised when the row gives other results, which are then computed again.
    """

    title: str
    name: str
    classifier: str
    options: dict[str, Any] = field(default_factory=dict)
    family: str = ""
    version: int = 1

    @property
    def label(self) -> str:
        """In journals."""
        return "+".join([self.name, self.classifier, *(f"{key}={value}" for key, value in self.options.items())])


ROWS = (
    Row("embedding, `best`", EMBEDDING, "best"),
    Row("embedding, `ensemble`", EMBEDDING, "ensemble"),
    Row("embedding, `pooled` (transductive)", EMBEDDING, "pooled"),
    Row("embedding, `self-train` (transductive)", EMBEDDING, "self-train"),
    Row("GCN", "gcn", "plain", family="base"),
    Row("GCN, re-weighting", "gcn", "reweight", family="base"),
    Row("GCN, balanced softmax", "gcn", "balanced-softmax", family="balanced softmax"),
    Row("GCN, logit adjustment", "gcn", "logit-adjust", family="base"),
    Row("GCN, PC softmax", "gcn", "pc-softmax", family="base"),
    Row("GCN, focal loss", "gcn", "focal", family="base"),
    Row("GCN, class-balanced loss", "gcn", "class-balanced", family="base"),
    Row("GraphSAGE, balanced softmax", "sage", "balanced-softmax"),
    Row("ReNode, balanced softmax", "renode", "balanced-softmax", family="base"),
    Row("TAM, balanced softmax", "gcn", "balanced-softmax", {"tam": 1}, "TAM", version=2),
    Row("GraphSMOTE", "graphsmote", "plain", family="base", version=2),
    Row("ImGAGN", "imgagn", "plain"),
    Row("DPGNN prototypes", "dpgnn", "reweight"),
    Row("GraphENS", "graphens", "plain", family="base", version=2),
    Row("GraphSHA", "graphsha", "plain", family="base", version=2),
    Row("BAT, balanced softmax", "bat", "balanced-softmax", family="BAT", version=2),
    Row("double balancing, balanced softmax", "double-balance", "balanced-softmax", {}, "double balancing", version=2),
    Row("IceBerg, balanced softmax", "iceberg", "balanced-softmax", family="IceBerg", version=2),
)
BY_LABEL = {row.label: row for row in ROWS}


class PeerCell(Cell):
    """One method on the splits of a protocol: metrics of every split, processor time and memory."""

    kind = "peer"
    graph: GraphRef
    row: str
    protocol: str
    splits: int
    pretrained: PretrainCell | None = None

    def identity(self) -> dict[str, Any]:
        facts = {"graph": self.graph.fingerprint, "row": self.row, "protocol": self.protocol, "splits": self.splits}
        trained = {} if self.pretrained is None else {"pretrain": self.pretrained.key}
        return {**facts, **trained, "version": BY_LABEL[self.row].version}

    @property
    def loads(self) -> GraphRef:
        return self.graph

    @property
    def needs(self) -> PretrainCell | None:
        return self.pretrained

    def compute(self, context: Context) -> dict[str, Any]:
        graph, row = context.graph(), BY_LABEL[self.row]
        before, start = reset_peak(), time.process_time()
        result = self._run(row, graph, context)
        seconds, peak = time.process_time() - start, peak_memory()
        values = {metric: rounded(result.values(row.classifier, metric).tolist(), 5) for metric in METRICS}
        memory = None if before is None or peak is None else round(max(0.0, peak - before), 1)
        return {"values": values, "seconds": round(seconds, 2), "megabytes": memory}

    def _run(self, row: Row, graph: Graph, context: Context) -> EvaluationResult:
        if row.name != EMBEDDING:
            how: dict[str, Any] = {"classifier": row.classifier, "splits": self.splits, "protocol": self.protocol}
            return run_baseline(row.name, graph, **how, **row.options)
        assert graph.y is not None  # a study's graphs have labels
        blocks = {"learned": context.embedded().embedding}
        if graph.n_features:
            blocks |= {"own": own_features(graph), "neighbours": neighbour_features(graph)}
        how = {"splits": self.splits, "protocol": self.protocol, "ceiling": 0, "graph": graph}
        return evaluate(blocks, graph.y, classifier=row.classifier, **how)


def reset_peak() -> float | None:
    """Memory in use, in MB, after forgetting the largest value so far; ``None`` where the system does not say."""
    try:
        RESET.write_text("5")
    except OSError:
        return None
    return _status("VmRSS:")


def peak_memory() -> float | None:
    """The largest memory in use since :func:`reset_peak`, in MB."""
    return _status("VmHWM:")


def _status(name: str) -> float | None:
    try:
        line = next(line for line in PEAK.read_text().splitlines() if line.startswith(name))
    except (OSError, StopIteration):
        return None
    return int(line.split()[1]) / 1024


def stages() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Protocol and graphs of every stage: each regime on graphs that take minutes, then on those that take an hour."""
    yield "step:10", ("cora", "citeseer")
    yield "step:100", ("cora", "citeseer")
    yield "imgcl", ("cora", "citeseer")
    yield "imgcl", ("uai2010", "johns-hopkins", "dblp")
    yield "step:10", ("pubmed",)
    yield "imgcl", ("amazon-photo", "amazon-computers", "pubmed")
    yield "igl:100", ("dblp", "uai2010", "amazon-photo")
    yield "step:100", ("pubmed",)


def points(spec: StudySpec, graphs: Graphs) -> list[Point]:
    """Every row on every graph and protocol."""
    refs = {ref.name: ref for ref in graphs.refs}
    return [
        Point(_labels(name, row, protocol), _cell(spec, refs[name], row, protocol), stage)
        for stage, (protocol, names) in enumerate(stages())
        for name in names
        if name in refs
        for row in ROWS
    ]


def _labels(dataset: str, row: Row, protocol: str) -> dict[str, Any]:
    return {"dataset": dataset, "method": row.label, "balance": "none", "imbalance": protocol, "seed": 0}


def _cell(spec: StudySpec, ref: GraphRef, row: Row, protocol: str) -> PeerCell:
    trained = pretrain_cell(spec, ref, spec.methods[0], next(iter(spec.balances)), 0)
    facts: dict[str, Any] = {"graph": ref, "row": row.label, "protocol": protocol, "splits": spec.splits}
    return PeerCell(**facts, pretrained=trained if row.name == EMBEDDING else None)


def found(results: Results, dataset: str, row: Row, protocol: str) -> Mapping[str, Any] | None:
    """What a cell gave, if it is finished."""
    matches = results.find(dataset=dataset, method=row.label, imbalance=protocol)
    return results.result(matches[0]) if matches else None
