"""``imgcl tune``: settings of a method for a graph."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl.cli.console import DataDir, option_words, put, say
from imgcl.cli.progress import shown_progress


def tune(
    graph: Annotated[str, typer.Argument(help="Data set name, or path of a graph file.")],
    method: Annotated[str, typer.Option(help="Base method.")] = "gbt",
    trials: Annotated[int, typer.Option(min=1, help="Total number of trials, those in the storage included.")] = 50,
    storage: Annotated[Path, typer.Option(help="File of the trials; a later call continues.")] = Path("tune.db"),
    preset: Annotated[str, typer.Option(help="Settings to start from: fast or paper.")] = "fast",
    balance: Annotated[str, typer.Option(help="ImGCL settings, key=value,key=value.")] = "imgcl",
    no_balance: Annotated[bool, typer.Option("--no-balance", help="Plain method, without ImGCL.")] = False,
    no_labels: Annotated[
        bool, typer.Option("--no-labels", help="Do not use the graph's labels: choose by effective rank.")
    ] = False,
    imbalance: Annotated[str, typer.Option(help="Law of the training labels.")] = "exp:100",
    epochs: Annotated[int | None, typer.Option(help="Epochs of each trial (default: the preset's).")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    data_dir: DataDir = None,
) -> None:
    """Search the settings of a method: validation accuracy, or a criterion without labels when there are none.

    Examples:
      imgcl tune digits --method gbt --trials 50
      imgcl tune my-graph.npz --method grace --no-labels --storage my-trials.db
    """
    from imgcl.data import load_graph
    from imgcl.training.tuning import tune as search

    if no_balance and balance != "imgcl":
        raise InputError("--no-balance and --balance contradict each other: give one of them")
    need("tune", "imgcl tune")
    loaded = load_graph(graph, data_dir=data_dir)

    def show(number: int, value: float | None, settings: Mapping[str, Any]) -> None:
        text = "failed" if value is None else f"{value:.4f}"
        say(f"trial {number}: {text}  {_written(settings)}")

    with shown_progress("tuning"):
        found = search(
            # The number of classes is a setting of the task; without labels it has to be found.
            loaded.with_labels(None) if no_labels else loaded,
            method=method,
            trials=trials,
            balance=None if no_balance else balance,
            imbalance=imbalance,
            preset=preset,
            epochs=epochs,
            storage=storage,
            random_state=seed,
            on_trial=show,
        )
    say(f"best of {found.trials} trials: {found.criterion} {found.value:.4f}")
    command = _command(
        graph,
        method,
        found.settings,
        preset=preset,
        balance=None if no_balance else balance,
        no_labels=no_labels,
        epochs=epochs,
        seed=seed,
        data_dir=data_dir,
    )
    put(command)


def _command(
    graph: str,
    method: str,
    settings: Mapping[str, Any],
    *,
    preset: str = "fast",
    balance: str | None = "imgcl",
    no_labels: bool = False,
    epochs: int | None = None,
    seed: int = 0,
    data_dir: Path | None = None,
) -> str:
    """The command that pre-trains as the best trial did.

    Example:
        >>> _command("my graph.npz", "gbt", {"lr": 0.001}, seed=3)
        "imgcl pretrain 'my graph.npz' --method gbt --set lr=0.001 --preset fast --seed 3 --out runs/tuned"
    """
    from imgcl.training.estimator import make_balance

    words = ["imgcl", "pretrain", graph, "--method", method]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]  # with all digits: the trial itself, not one like it
    words += option_words({"preset": (preset, "auto")})
    if balance is None:
        words += ["--no-balance"]
    elif balance != "imgcl" or preset == "auto":
        words += ["--balance", balance]
    chosen = make_balance(balance)
    if no_labels and chosen is not None and chosen.n_clusters is None:
        words += ["--n-clusters", "auto"]
    words += option_words({"epochs": (epochs, None), "seed": (seed, 0), "data_dir": (data_dir, None)})
    return shlex.join([*words, "--out", "runs/tuned"])


def _written(settings: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_short(value)}" for name, value in settings.items())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
