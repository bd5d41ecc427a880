"""From a graph and settings to a finished run directory: start, continue, embed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from pathlib import Path

from imgcl._core.errors import InputError, RunError, StoppedError, TrainingError
from imgcl._core.interrupts import Interrupts, deferred_interrupts
from imgcl._core.progress import stage
from imgcl._core.words import one_line
from imgcl.graph import Graph
from imgcl.graph.structure import is_structural
from imgcl.imbalance import ScopedGraph, apply_scope, make_splits
from imgcl.training import EpochReport, Run, RunConfig, Trainer
from imgcl.training.blocks import (
    Reductions,
    apply_reductions,
    check_blocks,
    fit_reductions,
    load_reductions,
    reduced_blocks,
    with_relations,
)
from imgcl.training.checkpoint import REMEDY
from imgcl.training.distributed.group import ALONE, ProcessGroup
from imgcl.training.extending import continued_config
from imgcl.training.record import GraphRecord
from imgcl.training.run import REDUCTION

TRAINING = 0.97  # share of the time of a run, roughly; the rest makes the embedding and the blocks


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
            damaged files, which are written again, and blocks that it has not yet, which are added. With more epochs
            than the run has it goes on to those, see :mod:`imgcl.training.extending`.
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
    run, writes = Run(out), group.is_rank_zero
    config = config.model_copy(update={"blocks": with_relations(config.blocks, graph)})
    continued = group.decide(resume and run.exists)
    if continued:
        stored, config = run.config, continued_config(run, graph, config)
        same = (config.blocks, config.training) == (stored.blocks, stored.training)
        if group.decide(writes and run.finished and same and run.whole):
            return run
    check_blocks(graph, config.blocks)
    with run.in_use() if writes else nullcontext():
        if writes and not continued:
            run.check_free()
        scoped = scoped_graph(graph, config)
        seen, embedded = (graph, None) if scoped is None else (scoped.pretrain, scoped.embed)
        trainer = Trainer(config, seen, diagnose=diagnose, scratch=run.path, group=group)
        # From here on, before anything is written, an interruption waits for the end of an epoch. Rank 0
        # decides when to stop: another rank that ended by itself would leave it waiting.
        with nullcontext(Interrupts()) if on_interrupt is None else deferred_interrupts(on_interrupt) as interrupts:
            if continued and run.has_checkpoint:
                restore(trainer, run)
            if not writes:
                trainer.train()
            elif continued:
                run.change_length(config)
                run.write_inputs(GraphRecord.of(graph, embedded=scoped))
                train_into(run, trainer, on_epoch, interrupts)
            else:
                Run.start(out, config, graph, source=source or graph.name, embedded=scoped)
                train_into(run, trainer, on_epoch, interrupts)
            if writes:
                reached = f"after epoch {trainer.epoch} of {trainer.epoch}"
                with interrupts.at_once(f"stopped {reached}, with a checkpoint, while the nodes were embedded"):
                    _finish(run, trainer, embedded)
        group.wait()
    return run


def _finish(run: Run, trainer: Trainer, embedded: Graph | None) -> None:
    """Embed the nodes, make the blocks of features, and store all of it."""
    with stage("embedding of all nodes", weight=1 - TRAINING):
        reductions = _reductions(run, trainer)
        blocks = apply_reductions(reductions, embedded or trainer.graph, scratch=run.path)
        run.finish(trainer.embed(embedded), reductions, blocks)
        run.add_blocks(trainer.config.blocks)


def _reductions(run: Run, trainer: Trainer) -> Reductions:
    """What makes the blocks of features: as the run has it, or fitted on the graph that was trained on."""
    graph, config = trainer.graph, trainer.config
    names = reduced_blocks(config.blocks, graph.n_features)
    with suppress(RunError):
        stored = load_reductions(run.path / REDUCTION, names, "")
        if all(reduction.n_features == graph.n_features for reduction in stored.values()):
            return stored
    return fit_reductions(graph, config.blocks, config.seed, run.path)


def train_into(
    run: Run,
    trainer: Trainer,
    on_epoch: Callable[[EpochReport], None] | None = None,
    interrupts: Interrupts | None = None,
) -> None:
    """Train to the end, with checkpoints into a run directory.

    Args:
        run: the run directory.
        trainer: the training.
        on_epoch: called after every epoch.
        interrupts: where Ctrl-C and SIGTERM are noted; the epoch is finished and a checkpoint written then.

    Raises:
        StoppedError: when an interruption ended training.
        TrainingError: when loss or weights are no longer finite; the last checkpoint stays as it is.
    """
    try:
        with trainer.stage(weight=TRAINING) as advance, closing(trainer.epochs()) as epochs:
            for report in epochs:
                advance(text=report.text)
                if on_epoch is not None:
                    on_epoch(report)
                if interrupts:
                    run.save(trainer.checkpoint(), trainer.history())
                    message = f"stopped after epoch {report.epoch} of {report.epochs}, with a checkpoint"
                    raise StoppedError(message, interrupts.exit_code)
                if trainer.checkpoint_due:
                    run.save(trainer.checkpoint(), trainer.history())
        run.save(trainer.checkpoint(), trainer.history())
    except TrainingError as error:
        where = f"stopped in epoch {trainer.epoch + 1} of {trainer.config.training.epochs}"
        raise TrainingError(f"{error}; {where}, {_last_good(run)}") from None


def _last_good(run: Run) -> str:
    if not run.has_checkpoint:
        return "before the first checkpoint"
    epoch = run.checkpoint().values["epoch"]
    return f"the last good checkpoint is that after epoch {epoch}: {run.path / 'checkpoint.safetensors'}"


def restore(trainer: Trainer, run: Run) -> None:
    """Continue from the run's last checkpoint; one that another run wrote is refused."""
    checkpoint = run.checkpoint()
    try:
        trainer.restore(checkpoint)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        file = run.path / "checkpoint.safetensors"
        raise RunError(f"{file} does not fit the run's settings ({one_line(error)}): {REMEDY}") from None


def scoped_graph(graph: Graph, config: RunConfig) -> ScopedGraph | None:
    """What to pre-train on and what to embed when the imbalance reaches into the graph; ``None``: the graph itself."""
    scope = config.scope
    if scope.scope == "train":
        return None
    if graph.y is None:
        raise InputError(f"scope {scope.scope} thins classes: the graph needs labels")
    if is_structural(graph.feature_names):
        raise InputError(
            f"scope {scope.scope} hides nodes, but structural features are made from all edges: it needs features "
            "that nodes have by themselves"
        )
    law, number, names = scope.imbalance, scope.split + 1, graph.class_names
    split = make_splits(graph.y, law, splits=number, random_state=config.seed, class_names=names)[scope.split]
    return apply_scope(graph, split, scope.scope, random_state=config.seed)
