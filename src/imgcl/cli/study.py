"""``imgcl study``: studies of the user's own and those of installed packages, such as the paper's."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imgcl._core.errors import InputError
from imgcl._core.extras import need
from imgcl._core.words import did_you_mean, nearest_names
from imgcl.cli.console import DataDir, SpreadsheetSafe, put, say, warn
from imgcl.cli.progress import shown_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from imgcl.studies import Results, Store, Study

ACTIONS = ("run", "list", "status", "render")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def study(
    name: Annotated[str, typer.Argument(help="A study, or one of: run FILE, list, status [STUDY], render STUDY.")],
    target: Annotated[str | None, typer.Argument(help="TOML file of `run`, study of `status` or `render`.")] = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="Write Markdown, CSV, LaTeX and figures into this directory.")
    ] = None,
    root: Annotated[Path, typer.Option(help="Directory of all studies: journals and computed cells.")] = Path(
        "studies"
    ),
    only: Annotated[list[str] | None, typer.Option(help="Part of the grid, key=value,key=value; repeatable.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Pre-trainings of each kind.")] = None,
    splits: Annotated[int | None, typer.Option(min=1, help="Number of splits.")] = None,
    preset: Annotated[str | None, typer.Option(help="Settings of the methods: auto, fast or paper.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Another setting, key=value; repeatable.")] = None,
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", help="Other graphs than the study's; repeatable.")
    ] = None,
    budget: Annotated[str | None, typer.Option(help="Stop after this time, for example 30m or 4h.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Compute failed cells again.")] = False,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    workers: Annotated[int | None, typer.Option(help="Processes, one cell each (default: one per core).")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads per process (default: cores / workers).")] = None,
    address: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster (default: one is started here).")
    ] = None,
    data_dir: DataDir = None,
    spreadsheet_safe: SpreadsheetSafe = False,
) -> None:
    """Run a study and print it; what was computed before is not computed again.

    A study is a TOML file of yours or comes with a package: imgcl-lab has those of the paper.

    Examples:
      imgcl study list
      imgcl study main --only dataset=amazon-photo,method=gbt --seeds 1 --splits 5
      imgcl study main --budget 4h --out results
      imgcl study run my-study.toml --engine ray
      imgcl study status
      imgcl study render main --out results
    """
    from imgcl.studies import Graphs, Store, resolve_study, run_study
    from imgcl.studies import only as filtered
    from imgcl.studies.engines import Settings
    from imgcl.studies.grid import only_datasets

    store = Store(root)
    if name == "list":
        _list()
        return
    if name == "status":
        _status(store, target)
        return
    if name == "render":
        if target is None:
            raise InputError("render what? For example: imgcl study render main --out results")
        _show(store, target, out_dir, spreadsheet_safe)
        return
    _check_action(name)
    chosen, shown = _own(target) if name == "run" else (resolve_study(name), name)
    if name != "run" and target is not None:
        raise InputError(f"imgcl study {name} takes no {target!r}: options only")
    if engine == "ray":
        need("ray", "--engine ray")
    if out_dir is not None and chosen.figures:
        need("plots", f"imgcl study {name} --out")
    spec, options = _changed(chosen, seeds, splits, preset, settings or [], datasets or [], only or [])
    deadline = None if budget is None else time.monotonic() + parse_time(budget)
    graphs = Graphs.load(only_datasets(spec, only or []).datasets, data_dir)
    points = filtered(chosen.points(spec, graphs), only or [])
    with _progress(f"study {spec.name}") as on_progress:
        try:
            done = run_study(
                spec.name,
                points,
                store,
                command=shlex.join(["imgcl", "study", *shown.split(), *options]),
                engine=engine,
                settings=Settings(workers, threads, None if data_dir is None else str(data_dir), deadline, address),
                missing=graphs.missing,
                retry_failed=retry_failed,
                on_progress=on_progress,
            )
        except KeyboardInterrupt:
            warn(f"stopped; the same command continues ({_status_command(spec.name)})")
            raise typer.Exit(130) from None
    say(f"{done.computed} cells computed, {done.finished} of {done.total} done")
    _show(store, spec.name, out_dir, spreadsheet_safe)
    if done.failed or done.blocked:
        warn(f"{done.failed} cells failed: see `{_status_command(spec.name)}`")
        raise typer.Exit(1)


def parse_time(text: str) -> float:
    """Seconds of ``90``, ``30m``, ``1h30m``.

    Example:
        >>> parse_time("1h30m"), parse_time("45")
        (5400.0, 45.0)
    """
    seconds, number = 0.0, ""
    for character in text.strip().lower():
        if character in UNITS and number:
            seconds, number = seconds + float(number) * UNITS[character], ""
        elif character.isdigit() or (character == "." and "." not in number):
            number += character
        else:
            raise InputError(f"--budget {text}: write a time such as 90s, 30m, 4h or 1h30m")
    return seconds + float(number or 0)


def _check_action(name: str) -> None:
    """Refuse a misspelt action: it would be taken for the name of a study."""
    from imgcl.studies import STUDIES

    if name not in (*ACTIONS, *STUDIES.names()) and nearest_names(name, ACTIONS):
        raise InputError(f"unknown study {name!r}{did_you_mean(name, ACTIONS)}")


def _own(file: str | None) -> tuple[Study, str]:
    from imgcl.studies import STUDIES, Study, custom, read_spec

    if file is None:
        raise InputError("run what? For example: imgcl study run my-study.toml")
    spec = read_spec(file)
    if spec.name in STUDIES.names() or spec.name in (*ACTIONS, "cells"):
        raise InputError(f"{file}: the name {spec.name!r} is taken: give the study another name")
    return Study(spec, custom.report), f"run {Path(file).name}"


def _changed(
    chosen: Study,
    seeds: int | None,
    splits: int | None,
    preset: str | None,
    settings: list[str],
    datasets: list[str],
    only: list[str],
) -> tuple[Any, list[str]]:
    """The grid with the user's changes, and the options that say them."""
    from imgcl.cli.console import key_values
    from imgcl.studies import StudySpec
    from imgcl.training.settings import validated

    changes: dict[str, Any] = {"seeds": seeds, "splits": splits, "preset": preset}
    changes = {key: value for key, value in changes.items() if value is not None}
    options = [text for key, value in changes.items() for text in (f"--{key}", str(value))]
    if settings:
        changes["settings"] = {**chosen.spec.settings, **key_values(settings)}
        options += [text for pair in settings for text in ("--set", pair)]
    if datasets:
        changes["datasets"] = tuple(datasets)
        options += [text for name in datasets for text in ("--dataset", Path(name).name)]
    options += [text for condition in only for text in ("--only", condition)]
    return validated(StudySpec, {**chosen.spec.model_dump(), **changes}).checked(), options


def _show(store: Store, name: str, out_dir: Path | None, spreadsheet_safe: bool) -> None:
    from imgcl.studies import Results, make_report, to_text, write_report

    results = Results(name, store.journal(name))
    report = make_report(results)
    put(to_text(report, results))
    if out_dir is not None:
        for path in write_report(report, results, out_dir, spreadsheet_safe=spreadsheet_safe):
            say(str(path), head="written")


def _list() -> None:
    from imgcl.studies.study import INSTALL, STUDIES

    names = STUDIES.names()
    if not names:
        raise InputError(f"no study is installed: {INSTALL}")
    for name in names:
        put(name)


def _status_command(name: str) -> str:
    return shlex.join(["imgcl", "study", "status", name])


def _status(store: Store, name: str | None) -> None:
    from imgcl.studies import Results

    names = [name] if name is not None else store.studies()
    if not names:
        raise InputError(f"no study has been run in {store.root}: start one, for example imgcl study run my-study.toml")
    for each in names:
        results = Results(each, store.journal(each))
        counts = results.counts()
        put(
            f"{each}: {counts['done']} done, {counts['failed']} failed, {counts['open']} open, "
            f"{results.facts()['compute time']} of computing"
        )
        if name is not None:
            _explain(results)


def _explain(results: Results) -> None:
    for line in results.failures():
        labels = " ".join(f"{key}={value}" for key, value in line["labels"].items())
        text = f"failed {line['kind']} ({labels}): {line['error']}: {line['message']}"
        put(text)
    for dataset, why in results.missing.items():
        put(f"{dataset}: {why}")


@contextmanager
def _progress(title: str) -> Iterator[Callable[..., None]]:
    """The cells that are done with the time left; a line for each failure."""
    with shown_progress(title) as whole:

        def show(progress: Any, cell: Any, record: dict[str, Any] | None) -> None:
            done = progress.finished + progress.failed + progress.blocked
            if record is not None and record["status"] == "failed":
                warn(f"failed {cell.kind}: {record['error']}: {record['message']}")
            failed = f"{progress.failed} failed" if progress.failed else ""
            took = "" if record is None else f"{cell.kind} {record['seconds']:.1f} s"
            counted = f"{done}/{progress.total} cells"
            whole.to(done / max(1, progress.total), ", ".join(filter(None, (counted, failed, took))), progress.left)

        yield show
