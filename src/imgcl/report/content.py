"""Everything a report shows, computed once and turned into plain values for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.background import Background
from imgcl._core.errors import InputError
from imgcl._core.progress import stage
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl.evaluation import Estimate, EvaluationResult, attribution, class_groups, combine, evaluate
from imgcl.evaluation.labels import Labels, encode_labels, without_few
from imgcl.evaluation.metrics import precision, recall
from imgcl.evaluation.protocol import draw_splits, test_entry, with_test
from imgcl.evaluation.references import evaluate_references
from imgcl.evaluation.render import COLUMNS
from imgcl.imbalance import Split
from imgcl.report.encoding import array, classes, coordinates, number, numbers
from imgcl.report.predictions import node_predictions
from imgcl.report.projection import check_map, project
from imgcl.report.ranking import ranking_entry
from imgcl.report.words import run_conclusion, tail_conclusion

POINTS = 20_000  # what WebGL draws smoothly on a laptop
# Time of the parts of a report in units of the predictions of one run, roughly: for estimates of the time left.
COST_OF_MAP, COST_OF_EVALUATION, COST_OF_RANKING, COST_OF_REFERENCES = 1, 12, 6, 6
COST_OF_RUN = COST_OF_EVALUATION + COST_OF_RANKING + 1
FACTORS = ("accuracy", "head", "middle", "tail")


@dataclass(frozen=True, eq=False)
class Nodes:
    """What is known about the nodes, whatever the run.

    Attributes:
        graph: name of the graph.
        n_nodes: how many.
        labels: class of each node, -1 where unknown; ``None`` without labels.
        class_names: one per class.
        node_names: one per node.
        n_edges: undirected edges.
        degree: of each node; ``None`` when the graph could not be read.
        centrality: its name and the score of each node, likewise.
        about: what its nodes, edges and classes are, in a few words.
        features: blocks of features by name, which an embedding has to beat.
        features_note: why there are none, or what they are made of.
        progress: how far the labelling is, a sentence each, where the labels are the user's.
    """

    graph: str
    n_nodes: int
    labels: NDArray[Any] | None = None
    class_names: Sequence[str] | None = None
    node_names: Sequence[str] | None = None
    n_edges: int | None = None
    degree: NDArray[np.int64] | None = None
    centrality: tuple[str, NDArray[np.float64]] | None = None
    about: str | None = None
    features: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    features_note: str | None = None
    progress: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class ReportRun:
    """A pre-training, with one or several seeds; the map and the history are those of the first.

    Attributes:
        name: what to call it.
        balanced: whether it was made with ImGCL.
        embeddings: one (N, d) array per seed: the learned block, which the map shows.
        history: losses and labellings.
        pseudo_labels: of the last labelling.
        split: the only split it may be evaluated on, when its scope fixes one.
        settings: for the table of settings, by section.
        result: its evaluation, when it has been made already.
        blocks: all blocks of the embedding per seed, which classifiers are trained on; by default the learned one.
    """

    name: str
    balanced: bool
    embeddings: Sequence[NDArray[np.float32]]
    history: Mapping[str, Any] = field(default_factory=dict)
    pseudo_labels: NDArray[np.int64] | None = None
    split: Split | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    result: EvaluationResult | None = None
    blocks: Sequence[Mapping[str, NDArray[np.float32]]] = ()

    @property
    def evaluated(self) -> Sequence[Any]:
        """What classifiers are trained on, per seed."""
        return self.blocks or self.embeddings


def build_content(
    runs: Sequence[ReportRun],
    nodes: Nodes,
    *,
    imbalance: Any = "exp:100",
    classifiers: Sequence[str] = ("plain", "pbs"),
    splits: int = 20,
    test: str = "balanced",
    random_state: RandomState = 0,
    projection: str = "tsne",
    points: int = POINTS,
    decision: str = "argmax",
) -> dict[str, Any]:
    """Evaluate the runs, draw their maps, and put everything into one value that JSON can hold.

    Args:
        runs: one or more runs on the same graph.
        nodes: its nodes.
        imbalance: law of the training labels, see :func:`imgcl.evaluation.evaluate`.
        classifiers: names of classifiers.
        splits: number of splits.
        test: ``balanced`` or ``natural`` test nodes, see :func:`imgcl.evaluation.evaluate`; the split of a run keeps
            its own.
        random_state: seed of the splits and of the map, or a numpy generator that gives one.
        projection: a name of ``imgcl.report.PROJECTIONS``.
        points: most nodes on a map; beyond that a random sample is drawn.
        decision: how probabilities become classes in the ranking, a rule of :mod:`imgcl.evaluation.decisions`.
    """
    if not runs:
        raise InputError("a report needs at least one run")
    for run in runs:
        rows = len(run.embeddings[0])
        if rows != nodes.n_nodes:
            raise InputError(f"{run.name} has {rows} embeddings but the graph has {nodes.n_nodes} nodes")
        if not _same_split(run.split, runs[0].split):
            raise InputError(f"{run.name} and {runs[0].name} were made for different splits: report them one by one")
    labels = None if nodes.labels is None else encode_labels(nodes.labels, nodes.class_names)
    left_out = None
    if labels is not None and runs[0].split is None and not any(run.result for run in runs):
        labels, left_out = without_few(labels)
        nodes = nodes if left_out is None else replace(nodes, labels=labels.codes, class_names=labels.names)
    check_map(projection, nodes.n_nodes)
    shown, seed = np.arange(nodes.n_nodes), as_seed(random_state)
    if nodes.n_nodes > points:
        shown = np.sort(generator(seed, "report").choice(nodes.n_nodes, points, replace=False))
    content: dict[str, Any] = {
        "kind": "runs",
        "graph": {"name": nodes.graph, "about": nodes.about, "nodes": nodes.n_nodes, "edges": nodes.n_edges},
        "map": projection,
        "shown": len(shown),
        "nodes": _nodes(nodes, shown),
        "classes": [],
        "classifiers": [],
        "conclusion": None,
        "progress": list(nodes.progress),
        "references": None,
        "effects": None,
        "runs": [_run(run, shown) for run in runs],
    }
    with stage("", COST_OF_MAP + (len(runs) * COST_OF_RUN + COST_OF_REFERENCES) * (labels is not None)):
        draw = partial(project, [run.embeddings[0][shown] for run in runs], projection, seed=seed)
        title = f"map of {', '.join(run.name for run in runs)} ({projection}, {len(shown):,} nodes)"
        if labels is not None:
            drawn = Background(draw)  # meanwhile: most of the map and of the trees is work for one processor
            _add_evaluation(content, runs, nodes, labels, shown, imbalance, tuple(classifiers), splits, test, seed)
            content["protocol"]["notes"] += [] if left_out is None else [left_out]
            _add_rankings(content, runs, labels, shown, decision, seed)
            with stage(title, weight=COST_OF_MAP):
                planes = drawn.result()
        else:
            with stage(title, len(runs), weight=COST_OF_MAP):
                planes = draw()
        for entry, plane in zip(content["runs"], planes, strict=True):
            entry["x"], entry["y"] = coordinates(plane[:, 0]), coordinates(plane[:, 1])
    return content


def _nodes(nodes: Nodes, shown: NDArray[np.int64]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": array(shown, "int32"),
        "name": None if nodes.node_names is None else [str(nodes.node_names[i]) for i in shown],
        "degree": None if nodes.degree is None else array(nodes.degree[shown], "int32"),
        "centrality": None,
        "centralityName": None,
    }
    if nodes.centrality is not None:
        name, scores = nodes.centrality
        # PageRank is heavy-tailed: by its value all nodes but a few would have one colour, by its rank they differ.
        rank = np.searchsorted(np.sort(scores), scores, side="right") / len(scores)
        entry |= {"centrality": array(rank[shown], "float32"), "centralityName": name}
    return entry


def _run(run: ReportRun, shown: NDArray[np.int64]) -> dict[str, Any]:
    labellings = [
        {key: numbers(entry[key]) for key in ("epoch", "alpha", "sizes", "drawn")} | {"agreement": entry["agreement"]}
        for entry in run.history.get("labellings", [])
    ]
    pseudo = run.pseudo_labels
    return {
        "name": run.name,
        "balanced": run.balanced,
        "seeds": len(run.embeddings),
        "pseudo": None if pseudo is None or len(pseudo) <= shown.max() else classes(pseudo[shown]),
        "loss": numbers(run.history.get("loss", [])),
        "labellings": labellings,
        "settings": run.settings,
        "results": {},
        "predicted": {},
        "confidence": {},
        "ranking": None,
    }


def _add_evaluation(
    content: dict[str, Any],
    runs: Sequence[ReportRun],
    nodes: Nodes,
    labels: Labels,
    shown: NDArray[np.int64],
    imbalance: Any,
    classifiers: tuple[str, ...],
    splits: int,
    test: str,
    seed: int,
) -> None:
    fixed = runs[0].split
    drawn = draw_splits(labels, imbalance, splits if fixed is None else [fixed], seed)
    drawn = drawn if fixed is not None else with_test(drawn, labels, test, seed)
    results = [run.result or _evaluate(run, nodes, drawn, classifiers) for run in runs]
    content["nodes"]["class"] = classes(labels.codes[shown])
    content["nodes"]["role"] = classes(_roles(drawn[0], nodes.n_nodes)[shown])
    content["classes"] = _classes(labels, results[0].class_names, drawn[0])
    content["classifiers"] = list(results[0].classifiers)
    content["protocol"] = {**results[0].protocol, "splits": len(drawn), "notes": list(results[0].notes)}
    content["protocol"] |= test_entry(test) if fixed is None else {}
    if fixed is None and results[0].protocol.get("imbalance") == "as given":
        content["protocol"]["imbalance"] = str(imbalance)
    for entry, run, result in zip(content["runs"], runs, results, strict=True):
        entry["results"] = _entries(result)
        with stage(f"predictions of {run.name} for every node", len(result.classifiers)):
            predicted = node_predictions(run.evaluated[0], labels, drawn[0], result.classifiers)
        entry["predicted"] = {name: classes(found.classes[shown]) for name, found in predicted.items()}
        percent = {name: np.round(100 * found.confidence[shown]) for name, found in predicted.items()}
        entry["confidence"] = {name: array(values, "int8") for name, values in percent.items()}
    with stage(f"evaluation of own and propagated features ({len(drawn)} splits)", weight=COST_OF_REFERENCES):
        _add_references(content, runs, results, nodes, drawn)
    _add_effects(content, runs, results)


def _add_references(
    content: dict[str, Any],
    runs: Sequence[ReportRun],
    results: Sequence[EvaluationResult],
    nodes: Nodes,
    drawn: list[Split],
) -> None:
    """What the runs have to beat, and a sentence for every run that does not."""
    chosen = {"classifier": results[0].classifiers, "splits": drawn, "class_names": nodes.class_names}
    found = evaluate_references(nodes.features, nodes.labels, note=nodes.features_note, **chosen)  # type: ignore[arg-type]
    verdicts = (found.verdict(result, run.name) for run, result in zip(runs, results, strict=True))
    content["references"] = {
        "rows": {title: _entries(each) for title, each in found.results.items()},
        "note": found.note,
        "verdicts": [verdict for verdict in verdicts if verdict is not None],
    }


def _add_rankings(
    content: dict[str, Any],
    runs: Sequence[ReportRun],
    labels: Labels,
    shown: NDArray[np.int64],
    decision: str,
    seed: int,
) -> None:
    for entry, run in zip(content["runs"], runs, strict=True):
        with stage(f"ranking of the nodes by {run.name}", weight=COST_OF_RANKING):
            entry["ranking"] = ranking_entry(run.evaluated[0], labels, shown, decision, seed)


def _evaluate(
    run: ReportRun,
    nodes: Nodes,
    drawn: list[Split],
    classifiers: tuple[str, ...],
) -> EvaluationResult:
    title = f"evaluation of {run.name} ({', '.join(classifiers)}; {len(drawn)} splits)"
    with stage(title, len(run.evaluated), weight=COST_OF_EVALUATION):
        parts = [
            evaluate(Z, nodes.labels, classifier=classifiers, splits=drawn, ceiling=0, class_names=nodes.class_names)  # type: ignore[arg-type]
            for Z in run.evaluated
        ]
    return combine(parts)


def _same_split(a: Split | None, b: Split | None) -> bool:
    if a is None or b is None:
        return a is b
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("train", "val", "test"))


def _roles(split: Split, n_nodes: int) -> NDArray[np.int8]:
    """What the split of the map's predictions did with each node: 0 nothing, 1 train, 2 validation, 3 test."""
    roles = np.zeros(n_nodes, dtype=np.int8)
    for role, part in enumerate((split.train, split.val, split.test), start=1):
        roles[part] = role
    return roles


def _classes(labels: Labels, names: Sequence[str], split: Split) -> list[dict[str, Any]]:
    group = class_groups(labels.sizes).of_class()
    taught = np.bincount(labels.codes[split.train], minlength=labels.n_classes)
    return [
        {"name": str(names[k]), "size": int(labels.sizes[k]), "train": int(taught[k]), "group": group[k]}
        for k in range(labels.n_classes)
    ]


def _add_effects(content: dict[str, Any], runs: Sequence[ReportRun], results: Sequence[EvaluationResult]) -> None:
    """The 2 x 2 needs a run without ImGCL, one with it, and two classifiers; the first of each are taken."""
    pair = [next((i for i, run in enumerate(runs) if run.balanced is balanced), None) for balanced in (False, True)]
    if len(runs) == 1:
        content["conclusion"] = run_conclusion(results[0])
    if pair[0] is None or pair[1] is None or len(results[0].classifiers) < 2:
        return
    low, high = results[0].classifiers[:2]
    if len(results[pair[0]].of(low).seeds) != len(results[pair[1]].of(low).seeds):
        return  # not the same number of seeds: there are no pairs
    metrics = tuple(metric for metric in FACTORS if metric != "middle" or results[0].groups.middle)
    effects = attribution(results[pair[0]], results[pair[1]], classifiers=(low, high), metrics=metrics)
    content["conclusion"] = tail_conclusion(effects, (low, high))
    content["effects"] = {
        "runs": pair,
        "classifiers": [low, high],
        "rows": {
            name: {
                metric: {"mean": number(e.mean), "ci95": None if e.ci95 is None else numbers(e.ci95)}
                for metric, e in row.items()
            }
            for name, row in effects.effects.items()
        },
    }


def _entries(result: EvaluationResult) -> dict[str, Any]:
    return {name: result_entry(result, name) for name in result.classifiers}


def result_entry(result: EvaluationResult, classifier: str) -> dict[str, Any]:
    """Metrics with deviation and interval, recall and precision of every class, and the confusion matrix in counts."""
    scores = result.of(classifier)
    per_class = {}
    for name, metric in (("recall", recall), ("precision", precision)):
        per_class[name] = [_estimate(scores.estimate(values)) for values in metric(scores.confusion).T]
    return {
        "metrics": {metric: _estimate(result[classifier, metric]) for metric in COLUMNS},
        **per_class,
        "confusion": np.asarray(scores.confusion.sum(axis=0)).tolist(),
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "mean": number(found.mean),
        "sd": number(found.sd),
        "ci95": None if found.ci95 is None else numbers(found.ci95),
    }
