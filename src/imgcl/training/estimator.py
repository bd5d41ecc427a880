"""``imgcl.ImGCL``: pre-training with scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from torch import nn

from imgcl._core.errors import InputError
from imgcl._core.progress import verbose as shown
from imgcl._core.seeding import RandomState, as_seed
from imgcl._core.unlabelled import check_all_labelled
from imgcl.balance import BalanceSettings
from imgcl.data import load_graph
from imgcl.methods import Method
from imgcl.training.blocks import apply_reductions, check_blocks, fit_reductions, with_relations
from imgcl.training.encoder import TrainedEncoder
from imgcl.training.hardware import device_name
from imgcl.training.loading import encoder_checkpoint, load_encoder
from imgcl.training.presets import find_preset
from imgcl.training.record import GraphRecord
from imgcl.training.run import Run
from imgcl.training.settings import (
    BLOCKS,
    LEARNED,
    RunConfig,
    ScopeSettings,
    apply_overrides,
    block_names,
    with_objects,
)
from imgcl.training.trainer import Trainer
from imgcl.views import Views

IMGCL = "imgcl"  # balance="imgcl": the paper's method with its defaults
AUTO = "auto"  # balance="auto": the paper's method where the paper's settings or its pseudo-classes are asked for

Balance = str | bool | Mapping[str, Any] | BalanceSettings | None


class ImGCL(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Node embeddings by contrastive learning, with or without ImGCL's balanced selection.

    Args:
        method: the base method: a name, ``package.module:Class``, or a subclass of :class:`imgcl.methods.Method`.
        encoder: the encoder, if not the preset's: a name (``gcn``, ``sage``, ``gin``, ``gat``), a module called as
            ``module(x, edge_index)`` (it is copied, and training starts from its weights), a function of
            ``(in_features, out_features)`` that makes one, or ``package.module:function``.
        views: the two views, if not the preset's, for methods with two random views: a text such as
            ``"edge-drop:0.4,feature-mask:0.1"``, a view for both, or a pair of views; see :mod:`imgcl.views`.
        n_clusters: number of pseudo-classes K of the balanced selection; by default the number of classes that occur in
            the graph's labels (only their number is used), or ``"auto"`` when it has none.
        balance: ``"imgcl"`` or ``True`` for the paper's selection, ``None`` or ``False`` for the plain method, or
            settings: a ``BalanceSettings``, a mapping, or a string such as ``"clusters=kmeans,centrality=none"``.
            ``"auto"``: the paper's selection with the presets ``fast`` and ``paper`` and where ``n_clusters`` is given;
            else plain, because the selection was measured to gain nothing in pre-training.
        preset: ``"auto"``, ``"fast"`` or ``"paper"``, see ``imgcl presets``; methods of your own start from their
            defaults.
        epochs: number of epochs, if not the preset's; ``"auto"``: until nearest neighbours hardly change any more, see
            :mod:`imgcl.training.settling`.
        settings: other settings of the method or the training to replace, by name.
        blocks: names, or a text with commas: ``learned``, beside it a node's ``own`` features and those propagated over
            two hops (``neighbours``), each in at most 256 columns. A graph with relations side by side has a block
            ``neighbours:NAME`` for each as well.
        random_state: the seed of everything; or a numpy ``RandomState`` or ``Generator``, from which every fit draws
            its seed, or ``None`` for numpy's global one.
        device: ``"auto"`` (or ``None``), ``"cpu"``, ``"cuda"``, ``"cuda:N"``; docs/performance.md says what was tried.
        verbose: 1: ``fit`` says a line every 10 % of the epochs; 2: every epoch. Lines go to the logger ``imgcl``,
            and to standard error where no logging was set up for it.

    Attributes:
        embedding_: (N, d) float32 array, one row per node of the fitted graph: the learned block.
        blocks_: all blocks by name, for :func:`imgcl.evaluate` and :func:`imgcl.evaluation.predict`.
        history_: loss of every epoch and what happened at every labelling.
        config_: the full settings of the fit, with its seed.
        n_features_in_: width of the features.
        feature_names_in_: names of the features, if the fitted graph has them.

    Example:
        >>> import imgcl
        >>> graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
        >>> model = imgcl.ImGCL(n_clusters=2, epochs=5, settings={"dim": 8}).fit(graph)
        >>> model.embedding_.shape
        (80, 8)
        >>> {name: block.shape for name, block in model.blocks_.items()}
        {'learned': (80, 8), 'own': (80, 32), 'neighbours': (80, 32)}
    """

    def __init__(
        self,
        method: str | type[Method[Any]] = "gbt",
        *,
        encoder: Any = None,
        views: Views | None = None,
        n_clusters: int | str | None = None,
        balance: Balance = AUTO,
        preset: str = "auto",
        epochs: int | str | None = None,
        settings: Mapping[str, Any] | None = None,
        blocks: str | Sequence[str] = BLOCKS,
        random_state: RandomState = 0,
        device: str | None = "auto",
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.encoder = encoder
        self.views = views
        self.n_clusters = n_clusters
        self.balance = balance
        self.preset = preset
        self.epochs = epochs
        self.settings = settings
        self.blocks = blocks
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, verbose: int | None = None) -> ImGCL:
        """Pre-train on a graph (a :class:`~imgcl.graph.Graph` or anything ``load_graph`` takes).

        ``y`` is not used. It is refused when nodes have no label: in a pipeline the next step would learn "no label" as
        a class. ``verbose`` takes the place of the parameter of that name for this fit.
        """
        if y is not None:
            check_all_labelled(y)
        graph = load_graph(X)
        config = make_config(
            graph.name,
            method=self.method,
            preset=self.preset,
            balance=self.balance,
            n_clusters=self.n_clusters,
            overrides=_overrides(self.settings, epochs=self.epochs, encoder=self.encoder, views=self.views),
            blocks=self.blocks,
            seed=as_seed(self.random_state),
            device=self.device,
        )
        config = config.model_copy(update={"blocks": with_relations(config.blocks, graph)})
        check_blocks(graph, config.blocks)
        trainer = Trainer(config, graph)
        with shown(self.verbose if verbose is None else verbose):
            trainer.train()
        embedding, record = trainer.embed(), GraphRecord.of(graph, X if isinstance(X, str) else None)
        reductions = fit_reductions(graph, config.blocks, config.seed)
        blocks = {LEARNED: embedding} | apply_reductions(reductions, graph)
        trainer.method.eval()  # for good: transform may be called by several threads
        # An earlier fit stays as it is until nothing of this one can fail any more.
        self.config_, self.history_ = config, trainer.history()
        self._encoder, self._record = replace(trainer.encoder, reductions=reductions), record
        self.embedding_: NDArray[np.float32] = embedding
        self.blocks_: dict[str, NDArray[np.float32]] = blocks
        self.n_features_in_ = graph.n_features
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Embed a graph by the fitted encoder.

        Where the fitted graph and this one have feature names, features are matched by name: their order does not
        matter. After ``set_output(transform="pandas")`` it is a ``DataFrame`` with the nodes' names as index, and so
        is what :meth:`fit_transform` returns.

        Raises:
            InputError: when the graph has other features.

        Example:
            >>> import imgcl
            >>> graph = imgcl.Graph.from_edges([[0, 1], [1, 2]], x=np.eye(3), node_names=["ann", "bob", "eve"])
            >>> model = imgcl.ImGCL(balance=None, epochs=2, settings={"dim": 2}).set_output(transform="pandas")
            >>> model.fit_transform(graph).index.tolist(), list(model.transform(graph).columns)
            (['ann', 'bob', 'eve'], ['imgcl0', 'imgcl1'])
        """
        graph = load_graph(X)
        return self._table(self._fitted.embed(graph), graph.node_names)

    def transform_blocks(self, X: Any) -> dict[str, NDArray[np.float32]]:
        """All blocks of a graph by name: its embedding as ``learned``, its features reduced as those of the fitted one.

        Raises:
            InputError: when the graph has other features.

        Example:
            >>> import imgcl
            >>> old, new = (imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=seed) for seed in (1, 2))
            >>> model = imgcl.ImGCL(n_clusters=2, epochs=5, settings={"dim": 8}, blocks="learned,own").fit(old)
            >>> {name: block.shape for name, block in model.transform_blocks(new).items()}
            {'learned': (80, 8), 'own': (80, 32)}
        """
        return self._fitted.embed_blocks(load_graph(X))

    def to_pyg(self) -> nn.Module:
        """The fitted encoder as a plain module on torch_geometric's layers: ``module(x, edge_index)`` gives embeddings.

        It equals :meth:`transform` to 1e-5, with the weights copied. ``x`` goes in as the graph has it, in the order of
        the fitted graph's features: normalisation is part of the module. ``edge_index`` is as ``Graph.to_pyg`` gives
        it; of a weighted graph ``edge_weight`` follows, which ``sage``, ``gin`` and ``gat`` refuse. These, ``gcn`` and
        modules of your own can be written so, and ``torch.export`` takes them. MVGRL needs ``gcn``; its diffusion is
        computed by this package in every call, which cannot be exported.

        Raises:
            InputError: when torch_geometric is not installed, or has no such layers.

        Example:
            >>> import imgcl, torch
            >>> graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
            >>> model = imgcl.ImGCL(n_clusters=2, epochs=5, settings={"dim": 8}).fit(graph)
            >>> data = graph.to_pyg()
            >>> z = model.to_pyg()(data.x, data.edge_index)
            >>> torch.allclose(z, torch.from_numpy(model.embedding_), atol=1e-5)
            True
        """
        return self._fitted.to_pyg()

    @property
    def _fitted(self) -> TrainedEncoder:
        if not hasattr(self, "_encoder"):
            raise NotFittedError("this ImGCL is not fitted yet: call fit(graph) first")
        return self._encoder

    def save(self, path: str | Path) -> None:
        """Write the fitted model as a run directory, as ``imgcl pretrain`` writes them; :meth:`load` reads it.

        It has the settings, the trained encoder, the history, the blocks, and labels and names of the fitted graph,
        so every command that takes a run takes it. The graph itself is not in it.

        Args:
            path: of the directory to create; an existing one must be empty.

        Raises:
            RunError: when it holds a run already.

        Example:
            >>> import tempfile
            >>> import imgcl
            >>> graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
            >>> model = imgcl.ImGCL(n_clusters=2, epochs=5, settings={"dim": 8}).fit(graph)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     model.save(f"{folder}/mine")
            ...     imgcl.ImGCL.load(f"{folder}/mine").transform(graph).shape
            (80, 8)
        """
        encoder = self._fitted
        Run.write(
            path,
            self.config_,
            self._record,
            checkpoint=encoder_checkpoint(encoder, self.history_["loss"]),
            history=self.history_,
            embedding=self.embedding_,
            reductions=encoder.reductions,
            blocks={name: rows for name, rows in self.blocks_.items() if name != LEARNED},
        )

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        method: type[Method[Any]] | None = None,
        encoder: Any = None,
        views: Views | None = None,
        device: str | None = "auto",
    ) -> ImGCL:
        """The fitted model of a finished run directory, of :meth:`save` or of ``imgcl pretrain``.

        Its parameters are those of the run, so that fitting it again repeats the run. Nothing is unpickled.

        Args:
            path: of the run directory.
            method: the class, where no import finds it: one that was defined in a function, or in another program.
            encoder: the same for an encoder that was passed as a module.
            views: the same for views of your own, which only a new fit needs.
            device: as in the constructor.

        Raises:
            RunError: when it is not a finished run, or damaged.
        """
        run = Run(path)
        config = with_objects(run.config, method=method, encoder=encoder, views=views)
        trained = load_encoder(run, config=config, device=device)
        model = cls(**_parameters(config), device=device)
        model.config_, model.history_, model._encoder = config, run.history, trained
        model.blocks_, model._record = run.blocks, run.record
        model.embedding_ = model.blocks_[LEARNED]
        model.n_features_in_ = trained.method.n_features
        return model

    def fit_transform(self, X: Any, y: Any = None, *, verbose: int | None = None, **_: Any) -> NDArray[np.float32]:
        """Pre-train on a graph and return its embedding."""
        self.fit(X, y, verbose=verbose)
        return self._table(self.embedding_, self._record.node_names)

    def _table(self, rows: NDArray[np.float32], node_names: Sequence[str] | None) -> NDArray[np.float32]:
        """The rows, as a ``DataFrame`` where one was asked for; scikit-learn then gives the columns their names."""
        own = getattr(self, "_sklearn_output_config", {}).get("transform")
        if (own or get_config()["transform_output"]) != "pandas" or node_names is None:
            return rows
        import pandas as pd

        return pd.DataFrame(rows, index=list(node_names), copy=True)  # type: ignore[return-value]

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the features that the encoder was trained on; an ``AttributeError`` where there are none."""
        return named_features(self._encoder)

    @property
    def _n_features_out(self) -> int:
        """Width of the embedding, for scikit-learn's ``get_feature_names_out``."""
        return int(self.embedding_.shape[1])


def named_features(encoder: TrainedEncoder) -> NDArray[np.object_]:
    """``feature_names_in_`` of an estimator with this encoder."""
    if encoder.feature_names is None:
        raise AttributeError("the fitted graph has no feature names")
    return np.array(encoder.feature_names, dtype=object)


def _parameters(config: RunConfig) -> dict[str, Any]:
    """The parameters of an estimator whose fit has this config."""
    unread = config.build_settings().not_read()
    own = {name: value for name, value in config.method_settings.items() if name not in unread}
    return {
        "method": config.method,
        **{name: own.pop(name) for name in ("encoder", "views") if name in own},
        "balance": config.balance,
        "preset": "auto" if config.preset is None else config.preset.rsplit("/", 1)[-1],
        "settings": {**config.training.model_dump(), **own},
        "blocks": config.blocks,
        "random_state": config.seed,
    }


def _overrides(settings: Mapping[str, Any] | None, **others: Any) -> dict[str, Any]:
    if settings is not None and not isinstance(settings, Mapping):
        raise InputError(f"settings is {settings!r}: give a mapping of names to values, such as {{'dim': 64}}")
    return {**(settings or {}), **{name: value for name, value in others.items() if value is not None}}


def make_config(
    graph_name: str,
    *,
    method: str | type[Method[Any]] = "gbt",
    preset: str = "fast",
    balance: Balance = AUTO,
    n_clusters: int | str | None = None,
    overrides: Mapping[str, Any] | None = None,
    scope: ScopeSettings | None = None,
    blocks: str | Sequence[str] = LEARNED,
    seed: int = 0,
    device: str | None = "auto",
) -> RunConfig:
    """The full settings of a run: the preset of this method and graph, then what the caller changed."""
    config = apply_overrides(find_preset(method, graph_name, preset).config(), overrides or {})
    balanced, name = make_balance(balance, n_clusters, preset), device_name(device)
    changes: dict[str, Any] = {"balance": balanced, "seed": int(seed), "device": name, "blocks": block_names(blocks)}
    return config.model_copy(update=changes if scope is None else {**changes, "scope": scope})


def make_balance(balance: Balance, n_clusters: int | str | None = None, preset: str = "fast") -> BalanceSettings | None:
    """Balance settings from any of the forms that users may write them in."""
    if isinstance(balance, str) and balance == AUTO:
        balance = None if preset == AUTO and n_clusters is None else IMGCL
    if balance is None or balance is False:
        return None
    if balance is True:
        settings = BalanceSettings()
    elif isinstance(balance, BalanceSettings):
        settings = balance
    elif isinstance(balance, str):
        settings = BalanceSettings() if balance == IMGCL else BalanceSettings.parse(balance)
    elif isinstance(balance, Mapping):
        settings = BalanceSettings.make(balance)
    else:
        raise InputError(
            f"balance is {balance!r}: give 'auto', 'imgcl' or True, None or False, settings as a mapping, or a text "
            "such as 'centrality=none'"
        )
    return settings if n_clusters is None else settings.updated(n_clusters=n_clusters)
