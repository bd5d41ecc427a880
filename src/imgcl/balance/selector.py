"""Progressively balanced selection for any training loop (Algorithm 1 without the encoder)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core import seeding
from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl.balance.centrality import centrality
from imgcl.balance.clusters import CLUSTERERS, ClusterTask, as_points, choose_n_clusters, match
from imgcl.balance.clusters.points import Points
from imgcl.balance.history import Labelling, record
from imgcl.balance.inputs import as_graph, as_labels
from imgcl.balance.schedules import schedule
from imgcl.balance.selection import draw as draw_rows
from imgcl.balance.settings import GIVEN, BalanceSettings
from imgcl.graph import Graph


class BalancedSelector:
    """Selects at every epoch the rows of the embeddings to contrast.

    Every B epochs it clusters the current embeddings into pseudo-classes and draws a fraction of the nodes: at first as
    the classes are, towards the end nearly the same number from each, and inside a class central nodes more often. The
    same seed and the same embeddings give the same rows; there is no hidden random state.

    Args:
        graph: a Graph, an ``edge_index``, a torch_geometric Data or a scipy matrix.
        n_clusters: number of pseudo-classes K, usually the number of classes of the task, or ``"auto"``.
        epochs: number of training epochs T.
        settings: all other choices; see :class:`BalanceSettings`.
        random_state: seed of the clustering and of the draws, or a numpy generator that gives one.
        features: rows to cluster in one-stage mode; by default the features of a Graph or Data.
        labels: the labels of ``clusters="given"``.
        diagnose: true labels (-1 where unknown) that are compared with in the history and used nowhere else.
        n_nodes: number of nodes, for an ``edge_index`` whose last nodes have no edge.
        **overrides: single settings by name; ``alpha`` may be a function of t/T, ``centrality`` an array of scores.

    Attributes:
        settings: the settings in force.
        history: one record per labelling.
        labels: the current pseudo-labels, or ``None`` before the first call.
        rows: the current selection, a LongTensor.
        weights: importance weights 1/pi of ``rows``: a sum over rows times these estimates the sum over all nodes.
        n_clusters: K; with ``"auto"`` it is ``None`` until the first call.

    Example:
        >>> ring = torch.stack([torch.arange(40), (torch.arange(40) + 1) % 40])
        >>> selector = BalancedSelector(ring, n_clusters=2, epochs=10)
        >>> rows = selector(0, embed=lambda: torch.arange(40.0)[:, None])
        >>> len(rows), selector.history[0]["alpha"]
        (4, 1.0)
    """

    def __init__(
        self,
        graph: Any,
        n_clusters: int | Literal["auto"] | None = None,
        *,
        epochs: int,
        settings: BalanceSettings | None = None,
        random_state: seeding.RandomState = 0,
        features: Any = None,
        labels: Any = None,
        diagnose: Any = None,
        n_nodes: int | None = None,
        **overrides: Any,
    ) -> None:
        if n_clusters is not None:
            overrides["n_clusters"] = n_clusters
        alpha, scores = overrides.get("alpha"), overrides.get("centrality")
        if callable(alpha):
            overrides["alpha"] = GIVEN
        if scores is not None and not isinstance(scores, str):
            overrides["centrality"] = GIVEN
        self.settings = (settings or BalanceSettings()).updated(**overrides)
        if epochs < 1:
            raise InputError(f"epochs is {epochs}: it must be at least 1")
        if self.settings.clusters == "communities":
            need("communities", "clusters=communities")
        self.epochs, self.seed = int(epochs), seeding.as_seed(random_state)
        self._graph = as_graph(graph, n_nodes)
        n = self._graph.n_nodes
        if self.settings.fraction * n < 1:
            raise InputError(
                f"fraction {self.settings.fraction} of {n} nodes selects none: use a fraction of at least {1 / n:.3g}"
            )
        self._features = _features(graph, features, self._graph)
        self._given = None if labels is None else as_labels(labels, n)
        self._truth = None if diagnose is None else _truth(diagnose, n)
        self._alpha = alpha if callable(alpha) else schedule(_named(self.settings.alpha, "alpha", "a function of t/T"))
        if isinstance(scores, str) or scores is None:
            scores = _named(self.settings.centrality, "centrality", "an array of scores")
        damping, stream = self.settings.damping, seeding.derive(self.seed, "centrality")
        self._centrality = centrality(self._graph, scores, damping=damping, seed=stream)
        self.n_clusters = self._number_of_clusters()
        self.history: list[Labelling] = []
        self.labels: NDArray[np.int64] | None = None
        self.rows = torch.empty(0, dtype=torch.long)
        self.weights = torch.empty(0, dtype=torch.float32)
        self._period: tuple[int, int] | None = None

    def __call__(self, epoch: int, embed: Callable[[], Any] | None = None) -> torch.Tensor:
        """The rows to contrast at ``epoch``, ascending.

        Args:
            epoch: 0..T-1; later epochs are treated as the end of training (alpha of t/T = 1).
            embed: gives the embeddings of all nodes (no augmentation, eval mode); called only when labels are made.
        """
        if epoch < 0:
            raise InputError(f"epoch is {epoch}: epochs count from 0")
        labelling, draw = self.settings.period(epoch, self.epochs)
        if self._period == (labelling, draw):
            return self.rows
        relabel = self._period is None or self._period[0] != labelling
        previous = self.labels
        if previous is None or (relabel and not self.settings.one_stage):
            self.labels = self._make_labels(epoch, embed)
        assert self.labels is not None
        assert self.n_clusters is not None
        alpha = min(1.0, max(0.0, float(self._alpha(min(1.0, epoch / self.epochs)))))
        stream = seeding.generator(self.seed, "draw", epoch)
        rows, weights = draw_rows(self.labels, self._centrality, self.n_clusters, alpha, self.settings, stream)
        self.rows, self.weights = torch.from_numpy(rows), torch.from_numpy(weights.astype(np.float32))
        if relabel:
            self.history.append(record(epoch, alpha, self.labels, rows, self.n_clusters, previous, self._truth))
        self._period = (labelling, draw)
        return self.rows

    # ------------------------------------------------------------------ resume

    def state_dict(self) -> dict[str, Any]:
        """What a resumed training needs to go on bit for bit: tensors and JSON-able values.

        ``torch.save`` stores it, and ``torch.load`` reads it by its default, ``weights_only=True``.
        """
        return {
            "settings": self.settings.model_dump(),
            "epochs": self.epochs,
            "seed": self.seed,
            "n_clusters": self.n_clusters,
            "period": None if self._period is None else list(self._period),
            "history": [dict(entry) for entry in self.history],
            "labels": torch.empty(0, dtype=torch.long) if self.labels is None else torch.tensor(self.labels),
            "rows": self.rows.clone(),
            "weights": self.weights.clone(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from ``state``; the selector must have been built with the same settings, epochs and seed."""
        settings = {**BalanceSettings().model_dump(), **state["settings"]}  # those that are newer than the state, too
        stored = {"settings": settings, "epochs": state["epochs"], "seed": state["seed"]}
        for key, mine in (("settings", self.settings.model_dump()), ("epochs", self.epochs), ("seed", self.seed)):
            if stored[key] != mine:
                raise InputError(f"cannot resume: the stored selection has {key} {stored[key]}, this one has {mine}")
        labels, rows = (np.asarray(state[key], dtype=np.int64).copy() for key in ("labels", "rows"))
        weights, n = np.asarray(state["weights"], dtype=np.float32).copy(), self._graph.n_nodes
        if len(labels) not in (0, n):
            raise InputError(f"cannot resume: the stored selection labels {len(labels)} nodes, the graph has {n}")
        clusters = state["n_clusters"]
        if not (isinstance(clusters, int) and 1 <= clusters <= n) and (clusters is not None or len(labels)):
            raise InputError(f"cannot resume: the stored selection has {clusters} clusters, the graph {n} nodes")
        for what, values, end in (("labels", labels, clusters or 0), ("rows", rows, n)):
            inside = values.ndim == 1 and (not len(values) or 0 <= values.min() <= values.max() < end)
            if not inside:
                raise InputError(f"cannot resume: the {what} of the stored selection are not all 0..{end - 1}")
        if len(weights) != len(rows):
            raise InputError(f"cannot resume: the stored selection has {len(rows)} rows and {len(weights)} weights")
        self.n_clusters = clusters
        self._period = None if state["period"] is None else (int(state["period"][0]), int(state["period"][1]))
        self.history = [cast(Labelling, dict(entry)) for entry in state["history"]]
        self.labels = labels if len(labels) else None
        self.rows, self.weights = torch.from_numpy(rows), torch.from_numpy(weights)

    # ------------------------------------------------------------------ pseudo-labels

    def _make_labels(self, epoch: int, embed: Callable[[], Any] | None) -> NDArray[np.int64]:
        n = self._graph.n_nodes
        seed = seeding.derive(self.seed, "labels", epoch)
        points = cache(lambda: self._points(embed))
        if self.n_clusters is None:
            fraction = self.settings.min_cluster_fraction
            self.n_clusters = choose_n_clusters(points(), self._graph, min_fraction=fraction, seed=seed)
        least, most = self.settings.cluster_bounds(n, self.n_clusters)
        clusters = CLUSTERERS[self.settings.clusters]
        labels = as_labels(
            clusters(ClusterTask(self._graph, points, self.n_clusters, least, most, self.labels, self._given, seed)),
            n,
            "pseudo-labels",
        )
        if labels.max() >= self.n_clusters:
            name, top = self.settings.clusters, self.n_clusters - 1
            raise InputError(f"clusters={name} made the label {labels.max()}: labels must be 0..{top}")
        return labels if self.labels is None else match(labels, self.labels, self.n_clusters)

    def _points(self, embed: Callable[[], Any] | None) -> Points:
        n = self._graph.n_nodes
        if self.settings.stage == "one":
            if self._features is None:
                raise InputError("stage='one' clusters the raw features: pass features=, or a Graph that has them")
            points = as_points(self._features, "features")
        elif embed is None:
            raise InputError("labels are due: call the selector with embed=, a function that returns the embeddings")
        else:
            points = as_points(embed(), "embeddings")
        if points.shape[0] != n:
            raise InputError(
                f"there are {points.shape[0]} rows to cluster but {n} nodes in the graph: "
                "pass n_nodes= when the last nodes of an edge_index have no edge"
            )
        return points

    def _number_of_clusters(self) -> int | None:
        """K, or ``None`` until the first labelling chooses it."""
        k, n = self.settings.n_clusters, self._graph.n_nodes
        if self.settings.clusters == GIVEN:
            if self._given is None:
                raise InputError("clusters='given' needs labels: pass labels=, one class 0..K-1 per node")
            return int(self._given.max()) + 1
        if k is None:
            raise InputError("n_clusters is missing: pass the number of classes of the task, or 'auto'")
        if k == "auto":
            return None
        if k > n:
            raise InputError(f"n_clusters is {k}, but the graph has {n} nodes: choose at most {n}")
        return k


def _named(name: str, key: str, what: str) -> str:
    if name == GIVEN:
        raise InputError(f"{key}={GIVEN!r} stands for {what}: pass it as {key}=")
    return name


def _features(source: Any, features: Any, graph: Graph) -> Any:
    if features is not None:
        return features
    return graph.x if isinstance(source, Graph) else getattr(source, "x", None)


def _truth(labels: Any, n: int) -> NDArray[np.int64]:
    array = np.asarray(labels.detach().cpu() if isinstance(labels, torch.Tensor) else labels)
    return np.where(array < 0, -1, as_labels(np.maximum(array, 0), n, "diagnose"))
