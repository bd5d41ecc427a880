"""``imgcl.ImGCL``: pre-training with scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from imgcl.balance import BalanceSettings
from imgcl.data import load_graph
from imgcl.training.presets import find_preset
from imgcl.training.settings import RunConfig, ScopeSettings, apply_overrides
from imgcl.training.trainer import Trainer

IMGCL = "imgcl"  # balance="imgcl": the paper's method with its defaults

Balance = str | Mapping[str, Any] | BalanceSettings | None


class ImGCL(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Node embeddings by contrastive learning, with or without ImGCL's balanced selection.

    Args:
        method: name of the base method.
        n_clusters: number of pseudo-classes K; by default the number of classes that occur in the graph's labels
            (only their number is used), or ``"auto"`` when it has none.
        balance: ``"imgcl"`` for the paper's selection, ``None`` for the plain method, or settings: a
            ``BalanceSettings``, a mapping, or a string such as ``"clusters=kmeans,centrality=none"``.
        preset: ``"fast"`` or ``"paper"``, see ``imgcl presets``.
        epochs: number of epochs, if not the preset's.
        settings: other settings of the method or the training to replace, by name.
        random_state: the seed of everything.
        device: ``"auto"``, ``"cpu"``, ``"cuda"``.

    Attributes:
        embedding_: (N, d) float32 array, one row per node of the fitted graph.
        history_: loss of every epoch and what happened at every labelling.
        config_: the full settings of the fit.
        n_features_in_: width of the features.

    Example:
        >>> import imgcl
        >>> graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
        >>> model = imgcl.ImGCL(n_clusters=2, epochs=5, settings={"dim": 8}).fit(graph)
        >>> model.embedding_.shape
        (80, 8)
    """

    def __init__(
        self,
        method: str = "gbt",
        *,
        n_clusters: int | str | None = None,
        balance: Balance = IMGCL,
        preset: str = "fast",
        epochs: int | None = None,
        settings: Mapping[str, Any] | None = None,
        random_state: int = 0,
        device: str = "auto",
    ) -> None:
        self.method = method
        self.n_clusters = n_clusters
        self.balance = balance
        self.preset = preset
        self.epochs = epochs
        self.settings = settings
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any = None) -> ImGCL:
        """Pre-train on a graph (a :class:`~imgcl.graph.Graph` or anything ``load_graph`` takes); ``y`` is ignored."""
        graph = load_graph(X)
        self.config_ = make_config(
            graph.name,
            method=self.method,
            preset=self.preset,
            balance=self.balance,
            n_clusters=self.n_clusters,
            overrides={**(self.settings or {}), **({} if self.epochs is None else {"epochs": self.epochs})},
            seed=self.random_state,
            device=self.device,
        )
        self._trainer = Trainer(self.config_, graph)
        self._trainer.train()
        self.embedding_: NDArray[np.float32] = self._trainer.embed()
        self.history_ = self._trainer.history()
        self.n_features_in_ = graph.n_features
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Embed a graph with the same features by the fitted encoder."""
        if not hasattr(self, "_trainer"):
            raise NotFittedError("this ImGCL is not fitted yet: call fit(graph) first")
        return self._trainer.embed(load_graph(X))

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> NDArray[np.float32]:
        """Pre-train on a graph and return its embedding."""
        return self.fit(X).embedding_


def make_config(
    graph_name: str,
    *,
    method: str = "gbt",
    preset: str = "fast",
    balance: Balance = IMGCL,
    n_clusters: int | str | None = None,
    overrides: Mapping[str, Any] | None = None,
    scope: ScopeSettings | None = None,
    seed: int = 0,
    device: str = "auto",
) -> RunConfig:
    """The full settings of a run: the preset of this method and graph, then what the caller changed."""
    config = apply_overrides(find_preset(method, graph_name, preset).config(), overrides or {})
    changes: dict[str, Any] = {"balance": make_balance(balance, n_clusters), "seed": int(seed), "device": device}
    return config.model_copy(update=changes if scope is None else {**changes, "scope": scope})


def make_balance(balance: Balance, n_clusters: int | str | None = None) -> BalanceSettings | None:
    """Balance settings from any of the forms that users may write them in."""
    if balance is None:
        return None
    if isinstance(balance, BalanceSettings):
        settings = balance
    elif isinstance(balance, str):
        settings = BalanceSettings() if balance == IMGCL else BalanceSettings.parse(balance)
    else:
        settings = BalanceSettings.make(balance)
    return settings if n_clusters is None else settings.updated(n_clusters=n_clusters)
