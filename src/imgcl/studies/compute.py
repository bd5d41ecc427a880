"""Computing one cell: from its settings to a plain record, wherever it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from imgcl_lab.contraction import simulate
from numpy.typing import NDArray

from imgcl._core import seeding
from imgcl._core.errors import InputError, RunError
from imgcl.baselines import run_baseline
from imgcl.evaluation import EvaluationResult, evaluate
from imgcl.graph import Graph
from imgcl.imbalance import Split, make_splits, random_splits, validation_split
from imgcl.studies.cells import (
    ORDINARY,
    BaselineCell,
    Cell,
    EvaluateCell,
    MapCell,
    PretrainCell,
    Protocol,
    TheoryCell,
    TrialCell,
)
from imgcl.studies.facts import commit
from imgcl.studies.packing import pack_result, rounded
from imgcl.training import EpochReport, Run, Trainer
from imgcl.training.pretrain import pretrain, scoped_graph

LABELLING_FACTS = ("epoch", "alpha", "sizes", "drawn", "agreement", "ari", "nmi", "true_drawn")


@dataclass(frozen=True)
class Embedded:
    """What evaluation needs of a finished pre-training."""

    embedding: NDArray[np.float32]
    labels: NDArray[np.int64]
    class_names: list[str] | None = None
    split: Split | None = None

    @classmethod
    def of(cls, run: Run) -> Embedded:
        """Read it from a run directory."""
        return cls(run.embedding, run.labels, run.class_names, run.split)

    def splits(self, protocol: Protocol, number: int | None = None) -> list[Split]:
        """The splits to evaluate on: the run's own, or those of the protocol."""
        if self.split is not None:
            return [self.split]
        drawn = _draw(self.labels, protocol, number or protocol.splits)
        return drawn if protocol.measure == "test" else [validation_split(split, self.labels) for split in drawn]


def compute(
    cell: Cell,
    load_graph: Callable[[], Graph],
    load_embedded: Callable[[], Embedded],
    directory: Path,
    on_epoch: Callable[[EpochReport], None] | None = None,
) -> dict[str, Any]:
    """The result of a cell, as plain values.

    Args:
        cell: what to compute.
        load_graph: gives the cell's graph, called when it is needed.
        load_embedded: gives the pre-training that the cell starts from.
        directory: where a pre-training keeps its checkpoints and its embedding.
        on_epoch: called after every epoch of a pre-training.
    """
    if isinstance(cell, PretrainCell):
        return _pretrain(cell, load_graph(), directory, on_epoch)
    if isinstance(cell, BaselineCell):
        return _baseline(cell, load_graph())
    if isinstance(cell, TrialCell):
        return _evaluate(cell, _embedded(cell, load_graph()))
    if isinstance(cell, EvaluateCell):
        return _evaluate(cell, load_embedded())
    if isinstance(cell, MapCell):
        return _map(cell, load_embedded())
    if isinstance(cell, TheoryCell):
        return {"rows": simulate(samples=cell.samples, repeats=cell.repeats, seed=cell.seed)}
    raise InputError(f"there is no cell of type {type(cell).__name__}")


def timed(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A record of a result and how long it took."""
    start = time.monotonic()
    result = work()
    seconds = round(time.monotonic() - start, 3)
    return {"status": "done", "seconds": seconds, "commit": commit(), "result": result}


def failure(error: BaseException, seconds: float = 0.0) -> dict[str, Any]:
    """A record of a cell that could not be computed."""
    message = " ".join(str(error).split()) or type(error).__name__
    facts = {"error": type(error).__name__, "message": message[:500]}
    return {"status": "failed", "seconds": round(seconds, 3), "commit": commit(), **facts}


def _pretrain(
    cell: PretrainCell, graph: Graph, directory: Path, on_epoch: Callable[[EpochReport], None] | None
) -> dict[str, Any]:
    _check_unchanged(cell, graph)
    run = pretrain(
        graph,
        cell.config,
        directory,
        source=cell.graph.name,
        resume=True,
        diagnose=graph.y is not None,
        on_epoch=on_epoch,
    )
    history = run.history
    labellings = [{name: entry.get(name) for name in LABELLING_FACTS} for entry in history["labellings"]]
    facts = {
        "epochs": len(history["loss"]),
        "loss": history["loss"][-1],
        "width": run.embedding.shape[1],
        "labellings": labellings,
    }
    return rounded(facts, 6)  # type: ignore[no-any-return]


def _check_unchanged(cell: PretrainCell, graph: Graph) -> None:
    if graph.fingerprint != cell.graph.fingerprint:
        raise RunError(f"graph {cell.graph.source!r} changed while the study was running: start the study again")


def _embedded(cell: TrialCell, graph: Graph) -> Embedded:
    """The embedding of a trial, which is never written."""
    _check_unchanged(cell.pretrain, graph)
    if graph.y is None:
        raise InputError(f"graph {graph.name!r} has no labels: a trial cannot be evaluated without them")
    scoped = scoped_graph(graph, cell.pretrain.config)
    trainer = Trainer(cell.pretrain.config, graph if scoped is None else scoped.pretrain)
    trainer.train()
    if scoped is None:
        return Embedded(trainer.embed(), graph.y, split=None)
    assert scoped.embed.y is not None
    return Embedded(trainer.embed(scoped.embed), scoped.embed.y, split=scoped.embed_split)


def _evaluate(cell: EvaluateCell, embedded: Embedded) -> dict[str, Any]:
    protocol, splits = cell.protocol, embedded.splits(cell.protocol)
    result = evaluate(
        embedded.embedding,
        embedded.labels,
        protocol.imbalance,
        protocol.classifiers,
        splits,
        protocol.seed,
        protocol.probe,
        # A ceiling would train on test nodes, which a figure of validation nodes must not have seen.
        ceiling=0 if cell.pretrain.tied or protocol.measure == "validation" else protocol.ceiling,
        class_names=embedded.class_names,
    )
    return _packed(result, embedded.labels, splits)


def _baseline(cell: BaselineCell, graph: Graph) -> dict[str, Any]:
    from imgcl.baselines import resolve_baseline

    if graph.y is None:
        raise InputError(f"graph {graph.name!r} has no labels: a baseline cannot be evaluated without them")
    protocol, known = cell.protocol, resolve_baseline(cell.baseline).classifiers
    splits = _draw(graph.y, protocol, protocol.splits)
    names = [name for name in protocol.classifiers if name in known]
    result = run_baseline(cell.baseline, graph, protocol.imbalance, names, splits, protocol.seed)
    return _packed(result, graph.y, splits)


def _draw(labels: NDArray[np.int64], protocol: Protocol, number: int) -> list[Split]:
    if protocol.imbalance == ORDINARY:
        return random_splits(labels, splits=number, random_state=protocol.seed)
    return make_splits(labels, protocol.imbalance, number, protocol.seed)


def _packed(result: EvaluationResult, labels: NDArray[np.int64], splits: list[Split]) -> dict[str, Any]:
    known = labels[labels >= 0]
    n_classes = int(known.max()) + 1
    train = np.mean([np.bincount(labels[split.train], minlength=n_classes) for split in splits], axis=0)
    sizes = {"class_sizes": np.bincount(known, minlength=n_classes).tolist(), "train_sizes": rounded(train.tolist(), 2)}
    return {**pack_result(result), **sizes}


def _map(cell: MapCell, embedded: Embedded) -> dict[str, Any]:
    """t-SNE of the first split's test nodes."""
    import torch
    from sklearn.manifold import TSNE

    from imgcl.evaluation.labels import encode_labels, normalise_rows
    from imgcl.evaluation.names import resolve_classifiers, resolve_probe
    from imgcl.evaluation.tasks import PooledBench, Task

    split = embedded.splits(cell.protocol, 1)[0]
    points = normalise_rows(np.asarray(embedded.embedding))
    if cell.classifier is not None:
        # A classifier cannot move a frozen embedding: what it changes are its scores.
        labels = encode_labels(embedded.labels)
        x, codes = torch.from_numpy(points), torch.from_numpy(labels.codes)
        train, val = np.array(split.train), np.array(split.val)
        bench = PooledBench(
            [Task(x[train], codes[train], x[val], codes[val], labels.n_classes)], resolve_probe(cell.protocol.probe)
        )
        points = resolve_classifiers(cell.classifier)[cell.classifier](bench)[0].logits(x).numpy()
    seed = seeding.derive(cell.protocol.seed, "t-SNE") % 2**32
    drawn = TSNE(n_components=2, random_state=seed, init="pca", perplexity=30).fit_transform(points[split.test])
    return {
        "points": rounded(drawn.astype(float).tolist(), 2),
        "classes": embedded.labels[split.test].tolist(),
        "class_names": embedded.class_names,
    }
