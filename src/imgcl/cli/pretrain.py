"""``imgcl pretrain``: from a graph to a run directory."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imgcl._core.errors import InputError, StoppedError
from imgcl._core.extras import need
from imgcl._core.words import did_you_mean
from imgcl.cli.completion import data_sets, methods
from imgcl.cli.console import DataDir, key_values, put, say, warn
from imgcl.cli.info import after_run
from imgcl.cli.progress import shown_progress

if TYPE_CHECKING:
    from imgcl.graph import Graph
    from imgcl.training import Run, RunConfig


def pretrain_command(
    graph: Annotated[str, typer.Argument(help="Data set name, or path of a graph file.", autocompletion=data_sets)],
    run: Annotated[Path, typer.Option("--out", help="Run directory to create.")],
    method: Annotated[
        str, typer.Option(help="Base method, or package.module:Class of your own.", autocompletion=methods)
    ] = "gbt",
    encoder: Annotated[
        str | None, typer.Option(help="gcn, sage, gin, gat, or package.module:factory (default: the preset's).")
    ] = None,
    views: Annotated[
        str | None,
        typer.Option(help="The two views: edge-drop:0.4,feature-mask:0.1; | separates the first from the second."),
    ] = None,
    features: Annotated[
        str, typer.Option(help="own, structure (made from the edges), or auto: own where the graph has some.")
    ] = "auto",
    preset: Annotated[
        str, typer.Option(help="Settings to start from: auto, fast or paper (see `imgcl presets`).")
    ] = "auto",
    balance: Annotated[
        str,
        typer.Option(
            help="The paper's balanced selection: imgcl, or its settings, key=value,key=value. auto: with --n-clusters "
            "and the presets fast and paper."
        ),
    ] = "auto",
    no_balance: Annotated[
        bool, typer.Option("--no-balance", help="Plain method, without the balanced selection.")
    ] = False,
    n_clusters: Annotated[
        str | None,
        typer.Option(
            help="Number of pseudo-classes, or auto (default: the number of classes that occur; "
            "auto for a graph without labels)."
        ),
    ] = None,
    epochs: Annotated[
        str | None,
        typer.Option(
            help="Epochs, each one optimiser step; auto: until embeddings hardly change (default: the preset's)."
        ),
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Another setting, key=value; repeatable.")] = None,
    scope: Annotated[
        str, typer.Option(help="What the imbalance thins: train (labels only), graph, inductive.")
    ] = "train",
    imbalance: Annotated[str, typer.Option(help="Law of the classes, for --scope graph and inductive.")] = "exp:100",
    split: Annotated[int, typer.Option(help="Number of the split, for --scope graph and inductive.")] = 0,
    batch_size: Annotated[
        str | None, typer.Option(help="Anchors of a step; 0: the whole graph (default: from the graph's size).")
    ] = None,
    fanout: Annotated[
        str | None, typer.Option(help="Sampled neighbours of an anchor, of its neighbours and so on: 10,10.")
    ] = None,
    engine: Annotated[str, typer.Option(help="local (also under torchrun), or ray.")] = "local",
    workers: Annotated[int, typer.Option(help="Number of processes, for --engine ray.")] = 2,
    blocks: Annotated[
        str | None,
        typer.Option(
            help="Blocks of the embedding: learned, a node's own features, those of its neighbours "
            "(default: learned,own,neighbours)."
        ),
    ] = None,
    no_own_features: Annotated[
        bool, typer.Option("--no-own-features", help="The learned block alone, as --blocks learned.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in --out: after an interruption, or to more epochs.")
    ] = False,
    diagnose: Annotated[
        bool, typer.Option(help="Record how pseudo-labels compare with the labels (not used to train).")
    ] = False,
    track: Annotated[
        str | None, typer.Option(help="Log every epoch to tensorboard (RUN/tensorboard) or mlflow (mlruns beside RUN).")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Learn node embeddings without labels.

    Examples:
      imgcl pretrain digits --out runs/digits
      imgcl pretrain amazon-photo --balance imgcl --preset fast --out runs/photo-imgcl
      imgcl pretrain my-graph.npz --n-clusters auto --set lr=0.001 --out runs/mine
      imgcl pretrain digits --method grace --views "edge-drop:0.3,node-drop:0.1" --out runs/views
      imgcl pretrain lastfm-asia --features structure --out runs/lastfm
      imgcl pretrain amazon-photo --out runs/photo --resume
      imgcl pretrain amazon-photo --out runs/photo --epochs 600 --resume
      imgcl pretrain products.store --batch-size 1024 --fanout 10,10 --out runs/products
      torchrun --nproc-per-node 2 --max-restarts 3 -m imgcl pretrain products.store --out runs/products
    """
    from imgcl.data import load_graph
    from imgcl.training.estimator import make_config
    from imgcl.training.settings import BLOCKS, LEARNED, ScopeSettings, validated
    from imgcl.training.tracking import resolve_tracker

    if no_balance and balance != "auto":
        raise InputError("--no-balance and --balance contradict each other: give one of them")
    if no_own_features and blocks is not None:
        raise InputError("--no-own-features and --blocks contradict each other: give one of them")
    overrides = key_values(settings or [])
    given = {"encoder": encoder, "views": views, "epochs": epochs, "batch_size": batch_size, "fanout": fanout}
    overrides |= {name: value for name, value in given.items() if value is not None}
    if engine not in ("local", "ray"):
        raise InputError(f"--engine {engine}{did_you_mean(engine, ('local', 'ray'))}")
    if engine == "ray":
        need("ray", "--engine ray")
    if track is not None:
        resolve_tracker(track)
        if engine == "ray":
            raise InputError("--track follows a training of this process: leave it out with --engine ray")
    thinning = {"scope": scope, "imbalance": imbalance, "split": split}
    if features != "auto":
        graph = f"{graph}:features={features}"  # whoever loads the graph again gets the same
    loaded = load_graph(graph, data_dir=data_dir)
    config = make_config(
        loaded.name,
        method=method,
        preset=preset,
        balance=None if no_balance else balance,
        n_clusters=n_clusters,
        overrides=overrides,
        scope=None if scope == "train" else validated(ScopeSettings, thinning),
        blocks=LEARNED if no_own_features else blocks or BLOCKS,
        seed=seed,
        device=device,
    )
    done: Run | None
    try:
        if engine == "ray":
            from imgcl.training.distributed.ray import pretrain_with_ray

            done = pretrain_with_ray(
                graph, config, run, workers=workers, resume=resume, diagnose=diagnose, data_dir=data_dir
            )
        else:
            done = _pretrain_here(loaded, config, run, source=graph, resume=resume, diagnose=diagnose, track=track)
    except (StoppedError, KeyboardInterrupt) as stopped:
        warn(str(stopped) or "stopped")
        warn(f"continue with: {_resuming(sys.argv[1:])}")
        raise typer.Exit(getattr(stopped, "exit_code", 130)) from None
    if done is not None:
        _say_what_is_next(done, run)


def _pretrain_here(
    graph: Graph,
    config: RunConfig,
    run: Path,
    *,
    source: str,
    resume: bool,
    diagnose: bool,
    track: str | None,
) -> Run | None:
    """Pre-train in this process, which may be one rank of torchrun's process group; ``None`` on all ranks but 0."""
    from imgcl.training.distributed.group import joined_group, restarted
    from imgcl.training.pretrain import pretrain
    from imgcl.training.run import Run
    from imgcl.training.tracking import tracking

    with joined_group() as group:
        speaks = group.is_rank_zero
        if speaks:
            say(f"preset {config.preset or 'none: the defaults of the method'}")
            if resume:
                _say_extension(Run(run), graph, config)
        with (
            shown_progress("pre-training") if speaks else nullcontext(),
            tracking(track if speaks else None, run, config) as on_epoch,
        ):
            done = pretrain(
                graph,
                config,
                run,
                source=source,
                resume=resume or restarted(),
                diagnose=diagnose,
                on_epoch=on_epoch,
                on_interrupt=_say_what_happens if speaks else lambda: None,
                group=group,
            )
    return done if speaks else None


def _say_extension(run: Run, graph: Graph, config: RunConfig) -> None:
    """Say what it means that the run gets more epochs now."""
    from imgcl.training.extending import continued_config, extension_sentence

    if not run.exists:
        return
    further = continued_config(run, graph, config)
    sentence = extension_sentence(further)
    if sentence is not None and further.extended != run.config.extended:
        say(sentence)


def _say_what_is_next(done: Run, run: Path) -> None:
    from imgcl.training.settling import settling_sentence

    blocks = done.blocks
    widths = ", ".join(f"{name} {block.shape[1]}" for name, block in blocks.items())
    if sentence := settling_sentence(done.history):
        say(sentence)
    say(f"{len(done.embedding):,} embeddings ({widths} columns) in {run}", head="done")
    for command in after_run(done)[:2]:
        say(f"next: {command}")
    put(str(run))


def _say_what_happens() -> None:
    warn("finishing this epoch and writing a checkpoint; Ctrl-C again stops at once")


def _resuming(arguments: list[str]) -> str:
    """The command that continues the run of a command.

    Example:
        >>> _resuming(["pretrain", "my graph.npz", "--out", "runs/mine"])
        "imgcl pretrain 'my graph.npz' --out runs/mine --resume"
    """
    return shlex.join(["imgcl", *arguments, *([] if "--resume" in arguments else ["--resume"])])
