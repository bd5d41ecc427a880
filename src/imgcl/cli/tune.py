"""``imgcl tune``: settings of a method for a graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from imgcl.cli.console import err, out


def tune(
    graph: Annotated[str, typer.Argument(help="Data set name, or path of a graph file.")],
    method: Annotated[str, typer.Option(help="Base method.")] = "gbt",
    trials: Annotated[int, typer.Option(min=1, help="Trials in all; those in the storage count.")] = 50,
    storage: Annotated[Path, typer.Option(help="File that keeps the trials; a later call goes on.")] = Path("tune.db"),
    preset: Annotated[str, typer.Option(help="Settings to start from: fast or paper.")] = "fast",
    balance: Annotated[str, typer.Option(help="ImGCL settings, key=value,key=value.")] = "imgcl",
    no_balance: Annotated[bool, typer.Option("--no-balance", help="Plain method, without ImGCL.")] = False,
    no_labels: Annotated[
        bool, typer.Option("--no-labels", help="Do not look at the graph's labels: choose by effective rank.")
    ] = False,
    imbalance: Annotated[str, typer.Option(help="Law of the training labels.")] = "exp:100",
    epochs: Annotated[int | None, typer.Option(help="Epochs of each trial (default: the preset's).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 0,
    data_dir: Annotated[Path | None, typer.Option(help="Directory with raw files (default: IMGCL_DATA).")] = None,
) -> None:
    """Search the settings of a method: validation accuracy, or a criterion without labels when there are none.

    Examples:
      imgcl tune digits --method gbt --trials 50
      imgcl tune my-graph.npz --method grace --no-labels --storage my-trials.db
    """
    from imgcl.data import load_graph
    from imgcl.studies.tuning import tune as search

    loaded = load_graph(graph, data_dir=data_dir)

    def show(number: int, value: float | None, settings: Mapping[str, Any]) -> None:
        text = "failed" if value is None else f"{value:.4f}"
        err.print(f"trial {number}: {text}  {_written(settings)}", highlight=False, markup=False, soft_wrap=True)

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
        seed=seed,
        on_trial=show,
    )
    err.print(f"best of {found.trials} trials: {found.criterion} {found.value:.4f}", highlight=False)
    options = " ".join(f"--set {name}={_short(value)}" for name, value in found.settings.items())
    out.print(f"imgcl pretrain {graph} --method {method} {options} --out runs/tuned", highlight=False, soft_wrap=True)


def _written(settings: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_short(value)}" for name, value in settings.items())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
