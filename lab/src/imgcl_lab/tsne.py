"""Figure 3: t-SNE of the test nodes for GBT, for GBT with a balanced classifier, and for GBT with ImGCL."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors

from imgcl._core import seeding
from imgcl.evaluation.labels import encode_labels, normalise_rows
from imgcl.evaluation.names import CLASSIFIERS, resolve_probe
from imgcl.evaluation.tasks import PooledBench, Task
from imgcl.studies.cells import Cell, Context, PretrainCell
from imgcl.studies.grid import Graphs, Point, StudySpec, pretrain_cell, protocol_of
from imgcl.studies.packing import rounded
from imgcl.studies.protocol import Embedded, Protocol
from imgcl.studies.report import Report, Table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Panel, balance setting, classifier whose scores are drawn (none: the embedding itself).
PANELS: tuple[tuple[str, str, str | None], ...] = (
    ("plain", "none", None),
    ("pbs classifier", "none", "pbs"),
    ("ImGCL", "imgcl", None),
)
NEIGHBOURS = 10
TEXT = (
    "t-SNE (perplexity 30, PCA start) of the test nodes of the first split: the embedding of the plain method, the "
    "class scores of a `pbs` classifier on that embedding (a classifier cannot move a frozen embedding, so its scores "
    "are what it changes), and the embedding with ImGCL. The table counts, for each map, how many of a point's "
    f"{NEIGHBOURS} nearest points are of its class, in percent."
)


class MapCell(Cell):
    """t-SNE of the test nodes of one split: of the embedding, or of a classifier's scores on it."""

    kind = "map"
    pretrain: PretrainCell
    protocol: Protocol = Protocol()
    classifier: str | None = None

    def identity(self) -> dict[str, Any]:
        protocol = self.protocol.model_dump(mode="json", include={"imbalance", "seed", "probe"})
        return {"pretrain": self.pretrain.key, "classifier": self.classifier, "protocol": protocol}

    @property
    def needs(self) -> PretrainCell:
        return self.pretrain

    def compute(self, context: Context) -> dict[str, Any]:
        embedded = context.embedded()
        test = embedded.splits(self.protocol, 1)[0].test
        seed = seeding.derive(self.protocol.seed, "t-SNE") % 2**32
        tsne = TSNE(n_components=2, random_state=seed, init="pca", perplexity=30)
        return {
            "points": rounded(tsne.fit_transform(self._rows(embedded)[test]).astype(float).tolist(), 2),
            "classes": embedded.labels[test].tolist(),
            "class_names": embedded.class_names,
        }

    def _rows(self, embedded: Embedded) -> NDArray[Any]:
        """What is drawn of every node: a classifier cannot move a frozen embedding, what it changes are its scores."""
        rows = normalise_rows(np.asarray(embedded.embedding))
        if self.classifier is None:
            return rows
        split, labels = embedded.splits(self.protocol, 1)[0], encode_labels(embedded.labels)
        x, codes = torch.from_numpy(rows), torch.from_numpy(labels.codes)
        train, val = np.array(split.train), np.array(split.val)
        task = Task(x[train], codes[train], x[val], codes[val], labels.n_classes)
        bench = PooledBench([task], resolve_probe(self.protocol.probe))
        return CLASSIFIERS[self.classifier](bench)[0].logits(x).numpy()


def points(spec: StudySpec, graphs: Graphs) -> list[Point]:
    """One map per graph, method and panel, of the first seed."""
    found = []
    for ref in graphs.refs:
        for method in spec.methods:
            for panel, balance, classifier in PANELS:
                for imbalance in spec.imbalances:
                    cell = MapCell(
                        pretrain=pretrain_cell(spec, ref, method, balance, 0),
                        protocol=protocol_of(spec, imbalance),
                        classifier=classifier,
                    )
                    labels: dict[str, Any] = {"dataset": ref.name, "method": method, "balance": balance}
                    found.append(Point({**labels, "imbalance": imbalance, "panel": panel, "seed": 0}, cell))
    return found


def report(results: Results) -> Report:
    """A figure and a table of neighbourhoods per graph and method."""
    tables, figures, data = [], {}, []
    for dataset in results.values("dataset"):
        for method in results.values("method"):
            maps = {
                point["panel"]: result
                for point in results.find(dataset=dataset, method=method)
                if (result := results.result(point)) is not None
            }
            if not maps:
                continue
            classes = np.asarray(next(iter(maps.values()))["classes"])
            names = next(iter(maps.values()))["class_names"] or [str(k) for k in range(int(classes.max()) + 1)]
            pure = {panel: _purity(np.asarray(each["points"]), classes) for panel, each in maps.items()}
            rows = [[names[k], *(f"{100 * by_class[k]:.1f}" for by_class in pure.values())] for k in np.unique(classes)]
            rows.append(["mean", *(f"{100 * np.nanmean(by_class):.1f}" for by_class in pure.values())])
            tables.append(Table(f"{titled(method)} on {titled(dataset)}", ["class", *pure], rows))
            figures[f"tsne-{dataset}-{method}"] = partial(_figure, maps, classes, names, titled(method))
            data += [
                {"dataset": dataset, "method": method, "panel": panel, "class": names[k], "same": float(by_class[k])}
                for panel, by_class in pure.items()
                for k in np.unique(classes)
            ]
    return Report("Maps of the test nodes", [TEXT], tables, figures, data)


def _purity(drawn: Any, classes: Any) -> Any:
    """Per class: share of the nearest points that are of the same class."""
    neighbours = NearestNeighbors(n_neighbors=min(NEIGHBOURS + 1, len(drawn))).fit(drawn)
    near = neighbours.kneighbors(return_distance=False)  # the point itself is left out
    same = (classes[near] == classes[:, None]).mean(axis=1)
    return np.array([same[classes == k].mean() if (classes == k).any() else np.nan for k in range(classes.max() + 1)])


def _figure(maps: dict[str, Any], classes: Any, names: list[str], method: str) -> Figure:
    from imgcl.plots import embedding_map

    titles = {"plain": method, "pbs classifier": f"{method}, scores of pbs", "ImGCL": f"{method} + ImGCL"}
    panels = {titles[panel]: each["points"] for panel, each in maps.items()}
    return embedding_map(panels, classes, class_names=names)


STUDY = Study(StudySpec(name="tsne", datasets=("amazon-computers",)), report, points, figures=True)
