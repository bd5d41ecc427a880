"""An encoder with a scorer behind it: from a graph to probabilities and decisions, without training.

A scorer directory is a run directory without a row of the training graph, and beside it

=====================  ==========================================================================
``scorer.json``        classifier, blocks, classes, calibration, prior, decision rule, quality; checksums
``coefficients.npy``   of the linear classifier
``MODEL_CARD.md``      what it is, in words
=====================  ==========================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imgcl._core.files import new_directory, write_text
from imgcl.data import load_graph
from imgcl.evaluation import FittedScorer
from imgcl.graph import Graph
from imgcl.graph.structure import is_structural
from imgcl.training.encoder import TrainedEncoder
from imgcl.training.loading import encoder_checkpoint, load_encoder
from imgcl.training.model_card import CARD, model_card
from imgcl.training.record import GraphRecord
from imgcl.training.run import Run
from imgcl.training.settings import LEARNED, RunConfig, ScopeSettings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class GraphScorer:
    """What scores the nodes of a graph.

    Attributes:
        encoder: makes the blocks of the embedding.
        scorer: from blocks to probabilities and classes.
        config: settings of the pre-training.
        record: of the graph it was trained on; its nodes are not kept.
        history: of the pre-training.

    Example:
        >>> import imgcl
        >>> from imgcl.evaluation import fit_scorer
        >>> graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
        >>> model = imgcl.ImGCL(n_clusters=2, epochs=5, settings={"dim": 8}).fit(graph)
        >>> scorer = GraphScorer.of(model, fit_scorer(model.blocks_, graph.y))
        >>> scorer.score(imgcl.load_graph("synthetic", class_sizes=[30, 10], seed=2)).columns.tolist()
        ['node', 'class', 'p_0', 'p_1', 'rank', 'given']
    """

    encoder: TrainedEncoder
    scorer: FittedScorer
    config: RunConfig
    record: GraphRecord
    history: dict[str, Any]

    @classmethod
    def of(cls, source: Any, scorer: FittedScorer, *, device: str | None = "auto") -> GraphScorer:
        """A scorer of a finished :class:`~imgcl.training.Run`, or of a fitted :class:`imgcl.ImGCL`."""
        if isinstance(source, Run):
            encoder = load_encoder(source, device=device)
            return cls(encoder, scorer, source.config, _without_nodes(source.record), source.history)
        encoder, record = source._fitted, _without_nodes(source._record)
        return cls(encoder, scorer, source.config_, record, source.history_)

    def blocks(self, graph: Graph) -> dict[str, NDArray[np.float32]]:
        """The blocks of a graph that the scorer reads.

        Raises:
            InputError: when the graph has other features than the training graph.
        """
        wanted = set(self.scorer.widths)
        if wanted == {LEARNED}:
            return {LEARNED: self.encoder.embed(graph)}
        return {name: rows for name, rows in self.encoder.embed_blocks(graph).items() if name in wanted}

    def score(self, graph: Any, *, given: ArrayLike | None = None) -> pd.DataFrame:
        """Class, probabilities and rank of every node; see :meth:`imgcl.evaluation.FittedScorer.frame`.

        Args:
            graph: a graph with the features of the training graph, or anything ``load_graph`` takes.
            given: whether the label of each node was given; by default of none.
        """
        structural = is_structural(self.encoder.feature_names)
        loaded = load_graph(graph, features="structure" if structural else "auto")
        return self.scorer.frame(self.blocks(loaded), node_names=loaded.node_names, given=given)

    def save(self, path: str | Path) -> None:
        """Write a scorer directory: all of it, or nothing.

        Raises:
            InputError: when the directory is there and not empty, or the classifier cannot be saved without pickle.
        """
        reductions = self.encoder.reductions
        widths = {name: width for name, width in self.scorer.widths.items() if name != LEARNED}
        with new_directory(Path(path)) as folder:
            Run.write(
                folder / "run",
                self.config.model_copy(update={"scope": ScopeSettings()}),
                self.record,
                checkpoint=encoder_checkpoint(self.encoder, self.history["loss"]),
                history=self.history,
                embedding=_empty(self.encoder.method.n_features),
                reductions=reductions,
                blocks={name: _empty(widths.get(name, 1)) for name in reductions},
            )
            self.scorer.write_into(folder)
            write_text(folder / CARD, model_card(self.scorer, self.config, self.record))

    @classmethod
    def load(cls, path: str | Path, *, device: str | None = "auto", scratch: Path | None = None) -> GraphScorer:
        """Read a scorer directory; nothing is unpickled.

        Args:
            path: of the directory.
            device: where to compute.
            scratch: directory for hidden layers of large graphs; by default the system's.

        Raises:
            RunError: when it is not a scorer directory, or damaged.
        """
        scorer, run = FittedScorer.load(path), Run(Path(path) / "run")
        encoder = load_encoder(run, device=device, scratch=scratch)
        return cls(encoder, scorer, run.config, run.record, run.history)


def _without_nodes(record: GraphRecord) -> GraphRecord:
    return replace(record, labels=None, node_names=None, split=None)


def _empty(width: int) -> NDArray[np.float32]:
    """An array for no nodes: a scorer keeps none of the training graph's."""
    return np.empty((0, width), dtype=np.float32)
