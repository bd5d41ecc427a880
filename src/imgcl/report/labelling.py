"""What the labelling page shows: a card for every node that waits for its label."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError
from imgcl._core.seeding import RandomState, as_seed, generator
from imgcl._core.unlabelled import FILE_WORDS, INFINITE
from imgcl._core.words import did_you_mean
from imgcl.evaluation.blocks import Blocks
from imgcl.evaluation.labels import Labels
from imgcl.graph import Graph
from imgcl.labelling import LabelFile, Progress
from imgcl.labelling.inputs import Source, read_source
from imgcl.labelling.reasons import COLUMNS, cosines
from imgcl.report.encoding import classes, coordinates
from imgcl.report.projection import check_map, project

FEATURES = 8  # shown of each node, where none are named
NEIGHBOURS = 8
NEAREST = 3
SAMPLE = 4096  # nodes that tell what is unusual
POINTS = 3_000  # of the map: it says where a node is, not what every node is
OURS = frozenset({"node", "label", "batch", *COLUMNS})


@dataclass(frozen=True, eq=False)
class _Batch:
    """Everything that cards are made of."""

    source: Source
    file: LabelFile
    labels: Labels
    rows: NDArray[np.float32]
    graph: Graph | None
    shown: _Shown | None
    scales: Mapping[str, tuple[float, float]]
    logarithms: Collection[str]

    def name(self, node: int) -> str:
        return str(self.source.names(np.array([node]))[0])

    def label(self, node: int) -> str | None:
        code = int(self.labels.codes[node])
        return None if code < 0 else self.labels.names[code]


def labelling_content(
    embedding: Any,
    file: LabelFile,
    *,
    graph: Graph | None = None,
    node_names: Sequence[str] | None = None,
    name: str = "graph",
    file_name: str = "to_label.csv",
    show: Sequence[str] = (),
    scales: Mapping[str, tuple[float, float]] | None = None,
    logarithms: Collection[str] = (),
    progress: Progress | None = None,
    projection: str = "tsne",
    points: int = POINTS,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """The content of a labelling page, see :func:`imgcl.report.write_report`.

    Args:
        embedding: as in :func:`imgcl.suggest`.
        file: the batches so far; every row without a label becomes a card.
        graph: for features and neighbours on the cards; without it they are left out.
        node_names: names of the nodes, where the embedding is not a run that knows them.
        name: of the graph.
        file_name: what the page's download is called.
        show: names of features to show; by default the eight in which a node differs most from the others.
        scales: mean and deviation that were taken out of features, by name; the page shows values as they were.
        logarithms: names of features that are logarithms of 1 more; the page shows them as they were, too.
        progress: how far the labelling is.
        projection: a name of ``imgcl.report.PROJECTIONS``.
        points: most nodes on the map, beside those suggested.
        random_state: seed of the map.

    Raises:
        InputError: when no row waits for a label, or a feature to show does not exist.
    """
    source = read_source(embedding, node_names=node_names)
    labels, asked = source.read_labels(file.labels)
    blocks = Blocks.of(source.embedding, source.n_nodes)
    batch = _Batch(source, file, labels, blocks.rows, graph, _shown(graph, show), scales or {}, logarithms)
    listed = _nodes(file, source)
    waiting = np.flatnonzero(labels.codes[listed] < 0).tolist() if len(listed) else []
    if not waiting:
        raise InputError("every node of the file has a label: a page needs nodes to label; suggest a batch first")
    nodes = listed[waiting]
    return {
        "kind": "labelling",
        "graph": {"name": name},
        "key": _storage_key(name, file, waiting),
        "file": file_name,
        "columns": list(file.columns),
        "rows": [list(row) for row in file.rows],
        "cards": [_card(batch, node, row) for node, row in zip(nodes.tolist(), waiting, strict=True)],
        "classes": {name: int(size) for name, size in zip(labels.names, labels.sizes, strict=True)},
        "reserved": sorted(FILE_WORDS | INFINITE),
        "progress": [] if progress is None else progress.sentences(),
        "map": _map(batch, asked, nodes, projection, points, as_seed(random_state)),
    }


def check_page(graph: Graph | None, show: Sequence[str], projection: str, n_nodes: int) -> None:
    """Refuse, before nodes are chosen, what a page cannot show.

    Raises:
        InputError: for a feature that does not exist, or an unknown map.
    """
    check_map(projection, n_nodes)
    _check_shown(graph, show)


def _nodes(file: LabelFile, source: Source) -> NDArray[np.int64]:
    """The node of each row of the file."""
    cells = [row[0] for row in file.rows]
    if source.node_names is None:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    place = {str(name): i for i, name in enumerate(source.node_names)}
    return np.array([place[cell if cell in place else cell.strip()] for cell in cells], dtype=np.int64)


def _storage_key(name: str, file: LabelFile, waiting: Sequence[int]) -> str:
    """The same batch has the same key, so that a page that is made again finds what was entered."""
    text = "\n".join([name, *(file.rows[i][0] for i in waiting)])
    return f"imgcl-labels-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, eq=False)
class _Shown:
    """Which features of a node are worth showing: those that are named, or those in which it differs most."""

    graph: Graph
    named: NDArray[np.int64] | None
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    def of(self, values: NDArray[np.float32]) -> NDArray[np.int64]:
        if self.named is not None:
            return self.named
        unusual = np.abs(values - self.mean) / np.where(self.deviation > 0, self.deviation, np.inf)
        if not isinstance(self.graph.x, np.ndarray):
            unusual *= values != 0  # of thousands of words those that a node has, the rarest first
        order = np.argsort(-unusual, kind="stable")[:FEATURES]
        return order[unusual[order] > 0]


def _shown(graph: Graph | None, names: Sequence[str]) -> _Shown | None:
    _check_shown(graph, names)
    if graph is None or not graph.n_features:
        return None
    sample = graph.x[:: max(1, graph.n_nodes // SAMPLE)]
    mean = np.asarray(sample.mean(axis=0), dtype=np.float64).ravel()
    squares = sample.power(2) if hasattr(sample, "power") else np.square(sample, dtype=np.float64)
    variance = np.asarray(squares.mean(axis=0), dtype=np.float64).ravel() - mean**2
    return _Shown(graph, _columns(graph, names) if names else None, mean, np.sqrt(np.maximum(variance, 0.0)))


def _check_shown(graph: Graph | None, names: Sequence[str]) -> None:
    if not names:
        return
    if graph is None or not graph.n_features:
        raise InputError(f"`show` names the feature {names[0]!r}, but the graph has none: leave it out")
    known = list(dict.fromkeys(map(str, graph.feature_names or ())))
    for each in names:
        if each not in known:
            hint = did_you_mean(each, known[:1000]) if known else ": the graph's features have no names"
            raise InputError(f"`show`: there is no feature {each!r}{hint}")


def _columns(graph: Graph, names: Sequence[str]) -> NDArray[np.int64]:
    """Numbers of the named features."""
    place = {str(name): i for i, name in enumerate(graph.feature_names or ())}
    return np.array([place[each] for each in names], dtype=np.int64)


def _card(batch: _Batch, node: int, row: int) -> dict[str, Any]:
    values = dict(zip(batch.file.columns, batch.file.rows[row], strict=False))
    own = [[name, value] for name, value in values.items() if name not in OURS and value]
    return {
        "row": row,
        "node": batch.name(node),
        "why": {name: values.get(name, "") for name in COLUMNS},
        "facts": own + _features(batch, node),
        "neighbours": _neighbours(batch, node),
        "nearest": _nearest(batch, node),
    }


def _features(batch: _Batch, node: int) -> list[list[str]]:
    """Names and values of the features worth showing."""
    if batch.shown is None:
        return []
    values, names = _row(batch.shown.graph, node), batch.shown.graph.feature_names
    picked = batch.shown.of(values).tolist()
    titles = [f"feature {i}" if names is None else str(names[i]) for i in picked]
    scales = [batch.scales.get(title, (0.0, 1.0)) for title in titles]
    raw = [float(values[i]) * deviation + mean for i, (mean, deviation) in zip(picked, scales, strict=True)]
    pairs = zip(titles, raw, strict=True)
    shown = [np.copysign(np.expm1(abs(each)), each) if title in batch.logarithms else each for title, each in pairs]
    return [[title, f"{value:.6g}"] for title, value in zip(titles, shown, strict=True)]


def _row(graph: Graph, node: int) -> NDArray[np.float32]:
    row = graph.x[node : node + 1]
    dense = row.toarray() if hasattr(row, "toarray") else np.asarray(row)
    return np.asarray(dense, dtype=np.float32).ravel()


def _neighbours(batch: _Batch, node: int) -> dict[str, Any] | None:
    """How many, and some of them: labelled ones first, then those with the most neighbours."""
    if batch.graph is None:
        return None
    every = batch.graph.indices[batch.graph.indptr[node] : batch.graph.indptr[node + 1]].astype(np.int64)
    order = np.lexsort((-batch.graph.degree[every], batch.labels.codes[every] < 0))
    return {"count": len(every), "some": [_named(batch, int(each)) for each in every[order][:NEIGHBOURS]]}


def _nearest(batch: _Batch, node: int) -> list[dict[str, Any]]:
    labelled = np.flatnonzero(batch.labels.codes >= 0)
    if not len(labelled):
        return []
    cosine = cosines(batch.rows[[node]], batch.rows[labelled])[0]
    best = np.argsort(-cosine, kind="stable")[:NEAREST]
    return [_named(batch, int(labelled[i])) | {"similarity": round(float(cosine[i]), 3)} for i in best]


def _named(batch: _Batch, node: int) -> dict[str, Any]:
    return {"node": batch.name(node), "label": batch.label(node)}


def _map(
    batch: _Batch, asked: NDArray[np.bool_], nodes: NDArray[np.int64], projection: str, points: int, seed: int
) -> dict[str, Any] | None:
    """Points of a sample of the nodes, with every suggested one; ``None`` where there are too few."""
    if len(asked) < 3:
        return None
    others = np.flatnonzero(~asked)
    if len(others) > points:
        others = np.sort(generator(seed, "labelling page").choice(others, points, replace=False))
    shown = np.concatenate([np.flatnonzero(asked), others])
    (plane,) = project([batch.rows[shown]], projection, seed=seed)
    place = {int(node): i for i, node in enumerate(shown)}
    return {
        "x": coordinates(plane[:, 0]),
        "y": coordinates(plane[:, 1]),
        "class": classes(batch.labels.codes[shown]),
        "names": list(batch.labels.names),
        "cards": [place[int(node)] for node in nodes],
    }
