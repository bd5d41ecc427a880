"""Ours: finding one rare class by own features, neighbours' means and embeddings, with linear models and trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.seeding import generator
from imgcl.baselines import neighbour_features, neighbour_means, own_features, trees, trees_neighbours
from imgcl.evaluation import estimate, evaluate
from imgcl.evaluation.labels import encode_labels
from imgcl.evaluation.protocol import score_predictions
from imgcl.evaluation.results import Scores
from imgcl.graph import Graph
from imgcl.imbalance import Split
from imgcl.studies.cells import Cell, Context, GraphRef, PretrainCell
from imgcl.studies.grid import Graphs, Point, StudySpec, pretrain_cell
from imgcl.studies.packing import rounded
from imgcl.studies.report import Report, Table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study

LEAST = 100  # nodes of a class that can be sought: twenty to learn from, twenty to choose with, some to test on
FEW = {1: 20, 0: 80}  # training labels of the first regime, rare and others; as many validate
REGIMES = {"100 labels": "20 rare, 80 others", "40/20/40": "40 % of the nodes, stratified"}
DEFAULT = "embedding, own, neighbours"
ROWS = ("own", "own, means", "embedding", "embedding, own", DEFAULT)
CLASSIFIERS = {"linear": "reweight", "trees": "trees", "ensemble": "ensemble"}
USUAL = "ensemble"  # of `imgcl predict`
VERSION = 2  # of the ensemble: raised when it gives other results
METRICS = {"auroc": "AUROC", "auprc": "AUPRC", "recall_at_k": "recall@k"}
BASELINES = {"own": trees, "own, means": trees_neighbours}  # of trees, which do not need rows of length 1
MARGIN = 0.01  # of AUPRC: what the default may be below the better tree baseline
PUBLISHED = {
    "tolokers": "GADBench, Tolokers, AUPRC: XGBGraph 57.3, RFGraph 58.2, XGBoost without the graph 38.6.",
    "amazon-fraud": "The features of amazon-fraud are said to contain the votes that define its classes: trees without "
    "the graph read the label off them, and no method can be judged by this graph.",
}
TEXT = (
    "One class is sought: the rarest of the graph that has at least 100 nodes, against all others, on test nodes in "
    "their natural shares. Two regimes: 100 labels, 20 of them of the rare class, and as many to validate; and 40 % of "
    "the nodes to learn from, 20 % to validate. AUROC, AUPRC (chance: the share of the class) and recall among the k "
    "highest scores, k the number of rare test nodes; percent, mean ± standard deviation over splits. Linear: logistic "
    "regression with classes weighted alike, a weight for each block chosen on validation nodes. Trees: boosting or a "
    "random forest, chosen on validation nodes; on own features they are the baseline `trees`, with the means over 1 "
    "and 2 hops `trees-neighbours`. Ensemble: the mean of a linear model, boosted trees, and a forest "
    "that sees the features alone. "
    f"`{DEFAULT}` with the ensemble is the default of `imgcl predict`, on a run of `imgcl pretrain` with its defaults."
)


class RareCell(Cell):
    """One way of finding the rare class, on every split of a regime."""

    kind = "rare"
    pretrain: PretrainCell
    rows: str
    classifier: str
    regime: str
    splits: int = 10

    def identity(self) -> dict[str, Any]:
        facts = self.model_dump(mode="json", exclude={"pretrain"})
        learned = "embedding" in self.rows
        version = {"version": VERSION} if self.classifier == USUAL else {}
        on = {"pretrain": self.pretrain.key} if learned else {"graph": self.loads.fingerprint}
        return {**facts, **version, **on}

    @property
    def loads(self) -> GraphRef:
        return self.pretrain.graph

    @property
    def needs(self) -> PretrainCell | None:
        return self.pretrain if "embedding" in self.rows else None

    def compute(self, context: Context) -> dict[str, Any]:
        graph = self.pretrain.unchanged(context.graph())
        rare = rare_class(graph)
        y = (np.asarray(graph.y) == rare).astype(np.int64)
        drawn = [draw_split(y, self.regime, i) for i in range(self.splits)]
        ranking = self._scores(graph, y, drawn, context).ranking
        facts = {"class": rare if graph.class_names is None else graph.class_names[rare], "nodes": graph.n_nodes}
        facts["rare_nodes"] = int(y.sum())
        return {**facts, **{metric: rounded(ranking[metric][:, 1].tolist(), 6) for metric in METRICS}}

    def _scores(self, graph: Graph, y: NDArray[np.int64], drawn: list[Split], context: Context) -> Scores:
        if self.classifier == "trees" and self.rows in BASELINES:
            labels = encode_labels(y)
            made = BASELINES[self.rows](graph, labels, drawn, "reweight")
            return score_predictions([each.probabilities for each in made], labels, drawn, [e.setting for e in made])
        name = CLASSIFIERS[self.classifier]
        return evaluate(self._blocks(graph, context), y, classifier=name, splits=drawn, ceiling=0).of(name)

    def _blocks(self, graph: Graph, context: Context) -> dict[str, NDArray[np.float32]]:
        wanted, blocks = self.rows.split(", "), dict[str, NDArray[np.float32]]()
        if "embedding" in wanted:
            blocks["learned"] = context.embedded().embedding
        if "own" in wanted:
            blocks["own"] = own_features(graph)
        if "neighbours" in wanted:
            blocks["neighbours"] = neighbour_features(graph)
        if "means" in wanted:
            means = neighbour_means(graph, blocks["own"])
            blocks |= {f"neighbours:means {hops}": x for hops, x in enumerate(means, start=1)}
        return blocks


def rare_class(graph: Graph) -> int:
    """The rarest class with at least 100 nodes, or the largest but one where none has so many.

    Example:
        >>> rare_class(Graph.from_edges([[0], [1]], x=np.eye(400), y=np.repeat([0, 1, 2], [250, 120, 30])))
        1
    """
    sizes = np.asarray(graph.class_sizes)
    enough = np.flatnonzero(sizes >= LEAST)
    if len(enough) > 1:
        return int(enough[sizes[enough].argmin()])
    return int(np.argsort(-sizes, kind="stable")[1])


def draw_split(y: NDArray[np.int64], regime: str, number: int) -> Split:
    """Split ``number`` of a regime; ``y`` is 1 for the rare class, 0 for others."""
    rng = generator(0, "rare", regime, number)
    parts = [_cut(rng.permutation(np.flatnonzero(y == k)), FEW[k], regime) for k in (0, 1)]
    train, val, test = (np.concatenate(both) for both in zip(*parts, strict=True))
    return Split(train, val, test)


def _cut(nodes: NDArray[np.int64], few: int, regime: str) -> list[NDArray[np.int64]]:
    """Nodes of one class that train, validate and test."""
    ends = (few, 2 * few) if regime == "100 labels" else (2 * len(nodes) // 5, 3 * len(nodes) // 5)
    return np.split(nodes, ends)


def points(spec: StudySpec, graphs: Graphs) -> list[Point]:
    """Every graph, regime, set of rows and classifier."""
    return [
        Point({"dataset": ref.name, "regime": regime, "rows": rows, "classifier": classifier, "seed": 0}, cell)
        for ref in graphs.refs
        for regime in REGIMES
        for rows in ROWS
        for classifier in CLASSIFIERS
        for cell in [_cell(spec, ref, rows, classifier, regime)]
    ]


def _cell(spec: StudySpec, ref: GraphRef, rows: str, classifier: str, regime: str) -> RareCell:
    trained = pretrain_cell(spec, ref, spec.methods[0], next(iter(spec.balances)), 0)
    return RareCell(pretrain=trained, rows=rows, classifier=classifier, regime=regime, splits=spec.splits)


def report(results: Results) -> Report:
    """The default against the better trees, then one table per graph and regime."""
    tables, data = [_summary(results)], []
    for dataset in results.values("dataset"):
        for regime in REGIMES:
            found = _found(results, dataset, regime)
            if found:
                tables.append(_table(dataset, regime, found))
                data += _data(dataset, regime, found)
    return Report("Finding a rare class", [TEXT], tables, data=data)


Found = dict[tuple[str, str], Mapping[str, Any]]


def _found(results: Results, dataset: str, regime: str) -> Found:
    pairs = ((point, results.result(point)) for point in results.find(dataset=dataset, regime=regime))
    return {(point["rows"], point["classifier"]): result for point, result in pairs if result is not None}


def _table(dataset: str, regime: str, found: Found) -> Table:
    facts = next(iter(found.values()))
    header = ["rows", *(f"{name}: {title}" for name in CLASSIFIERS for title in METRICS.values())]
    lines = [[rows, *_cells(found, rows)] for rows in ROWS]
    share = 100 * facts["rare_nodes"] / facts["nodes"]
    said = f"Sought: class {facts['class']}, {facts['rare_nodes']:,} of {facts['nodes']:,} nodes ({share:.1f} %)."
    note = " ".join([said, *([PUBLISHED[dataset]] if dataset in PUBLISHED else [])])
    return Table(f"{titled(dataset)}, {regime} ({REGIMES[regime]})", header, lines, note)


def _cells(found: Found, rows: str) -> list[str]:
    return [
        estimate(found[rows, name][metric]).percent() if (rows, name) in found else "open"
        for name in CLASSIFIERS
        for metric in METRICS
    ]


def _summary(results: Results) -> Table:
    """AUPRC of the default, of the better tree baseline, and their difference on the same splits."""
    lines = []
    for dataset in results.values("dataset"):
        for regime in REGIMES:
            found = _found(results, dataset, regime)
            wanted = [(DEFAULT, USUAL), *((rows, "trees") for rows in BASELINES)]
            if all(pair in found for pair in wanted):
                lines.append([titled(dataset), regime, *_against_trees(found)])
    header = ["data set", "regime", "default", "better trees", "which", "default - trees", "within a point"]
    return Table("AUPRC of the default against trees", header, lines, "Differences in points, 95 % interval.")


def _against_trees(found: Found) -> list[str]:
    default = np.asarray(found[DEFAULT, USUAL]["auprc"])
    best = max(BASELINES, key=lambda rows: float(np.mean(found[rows, "trees"]["auprc"])))
    other = np.asarray(found[best, "trees"]["auprc"])
    difference = estimate(default - other)
    within = "yes" if (difference.mean or 0.0) >= -MARGIN else "no"
    figures = [estimate(default).percent(), estimate(other).percent()]
    return [*figures, best, difference.points(), within]


def _data(dataset: str, regime: str, found: Found) -> list[dict[str, Any]]:
    return [
        {"dataset": dataset, "regime": regime, "rows": rows, "classifier": name, "metric": metric, "split": i}
        | {"value": value}
        for (rows, name), result in found.items()
        for metric in METRICS
        for i, value in enumerate(result[metric])
    ]


STUDY = Study(
    StudySpec(
        name="rare",
        datasets=("tolokers", "amazon-fraud", "johns-hopkins", "uai2010"),
        balances={"none": "none"},
        preset="auto",
        seeds=1,
        splits=10,
    ),
    report,
    points,
)
