"""From a graph and settings to a finished run directory: start, continue, embed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import torch

from imgcl._core.errors import InputError, RunError
from imgcl._core.interrupts import deferred_interrupts
from imgcl.graph import Graph
from imgcl.imbalance import ScopedGraph, apply_scope, make_splits
from imgcl.training import EpochReport, Run, RunConfig, Trainer
from imgcl.training.checkpoint import REMEDY
from imgcl.training.distributed.group import ALONE, ProcessGroup
from imgcl.training.record import GraphRecord


def pretrain(
    graph: Graph,
    config: RunConfig,
    out: str | Path,
    *,
    source: str | None = None,
    resume: bool = False,
    diagnose: bool = False,
    on_epoch: Callable[[EpochReport], None] | None = None,
    on_interrupt: Callable[[], None] | None = None,
    group: ProcessGroup = ALONE,
) -> Run:
    """Pre-train on a graph into a run directory.

    Nothing that a crash at any moment leaves behind is in the way of ``resume``, which ends with the same bits as a run
    that was never interrupted.

    Args:
        graph: the graph.
        config: the settings.
        out: the run directory.
        source: what the user called the graph; by default its name.
        resume: continue the run in ``out`` from its last checkpoint; a run that is finished is left as it is, but for
            damaged files, which are written again.
        diagnose: record how pseudo-labels compare with the graph's labels.
        on_epoch: called after every epoch.
        on_interrupt: called when Ctrl-C or SIGTERM comes; the epoch is finished and a checkpoint written then.
            ``None``: an interruption is an exception at once, as usual.
        group: the process group; every rank calls this function, rank 0 writes the run directory.

    Raises:
        RunError: when another process trains into ``out``, or what lies there is another run or damaged.
        StoppedError: when an interruption ended training.
        TrainingError: when loss or weights are no longer finite.
    """
    run = Run(out)
    continued = bool(group.broadcast(torch.tensor(resume and run.exists, device="cpu")))
    if continued:
        check_same(run, graph, config)
        if bool(group.broadcast(torch.tensor(group.is_rank_zero and run.finished and run.whole, device="cpu"))):
            return run
    with run.in_use() if group.is_rank_zero else nullcontext():
        if group.is_rank_zero and not continued:
            run.check_free()
        scoped = scoped_graph(graph, config)
        trainer = Trainer(
            config, graph if scoped is None else scoped.pretrain, diagnose=diagnose, scratch=run.path, group=group
        )
        # From here on, before anything is written, an interruption waits for the end of an epoch. Rank 0
        # decides when to stop: another rank that ended by itself would leave it waiting.
        with nullcontext() if on_interrupt is None else deferred_interrupts(on_interrupt) as interrupts:
            if continued:
                if run.has_checkpoint:
                    restore(trainer, run)
                if group.is_rank_zero:
                    run.write_inputs(GraphRecord.of(graph, embedded=scoped))
            elif group.is_rank_zero:
                Run.start(out, config, graph, source=source or graph.name, embedded=scoped)
            if group.is_rank_zero:
                run.train(trainer, on_epoch, interrupts)
            else:
                trainer.train()
        if group.is_rank_zero:
            run.finish(trainer.embed(None if scoped is None else scoped.embed))
        group.wait()
    return run


def restore(trainer: Trainer, run: Run) -> None:
    """Continue from the run's last checkpoint; one that another run wrote is refused."""
    checkpoint = run.checkpoint()
    try:
        trainer.restore(checkpoint)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        file = run.path / "checkpoint.safetensors"
        reason = " ".join(str(error).split())[:200]
        raise RunError(f"{file} does not fit the run's settings ({reason}): {REMEDY}") from None


def scoped_graph(graph: Graph, config: RunConfig) -> ScopedGraph | None:
    """What to pre-train on and what to embed when the imbalance reaches into the graph; ``None``: the graph itself."""
    scope = config.scope
    if scope.scope == "train":
        return None
    if graph.y is None:
        raise InputError(f"scope {scope.scope} thins classes: the graph needs labels")
    law, number, names = scope.imbalance, scope.split + 1, graph.class_names
    split = make_splits(graph.y, law, splits=number, random_state=config.seed, class_names=names)[scope.split]
    return apply_scope(graph, split, scope.scope, random_state=config.seed)


def check_same(run: Run, graph: Graph, config: RunConfig) -> None:
    """Refuse to continue a run with another graph or other settings than it was started with."""
    fingerprint = run.facts["graph"].get("fingerprint")
    if fingerprint != graph.fingerprint:
        raise RunError(
            f"{run.path} was trained on another graph (fingerprint {fingerprint}, now {graph.fingerprint}): "
            "use another directory (`out`)"
        )
    stored, given = run.config.model_dump(), config.model_dump()
    changed = [key for key in stored if stored[key] != given[key]]
    if changed:
        raise RunError(
            f"{run.path} was started with other settings ({', '.join(changed)}): "
            "resume with the same ones, or use another directory (`out`)"
        )
