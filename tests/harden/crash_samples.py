"""Commands small enough to be run hundreds of times, with what must hold of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from harden.crash_checks import (
    finished_cells,
    leftovers,
    progress,
    run_is_sound,
    same_files,
    same_pages,
    same_run,
    store_is_sound,
    study_is_sound,
)

QUICK = ("--epochs", "40", "--set", "dim=16", "--set", "checkpoint_every=1", "--quiet")
BALANCED = ("--balance", "imgcl")
PRETRAININGS = (
    ("digits", *QUICK, *BALANCED),
    ("digits", *QUICK, *BALANCED, "--method", "bgrl", "--batch-size", "256", "--fanout", "4,4"),
    ("digits", *QUICK, *BALANCED, "--scope", "inductive", "--imbalance", "exp:10"),
    ("digits", *QUICK, "--method", "grace", "--set", "patience=5"),
)
STUDY = """
name = "tiny"
datasets = ["digits"]
classifiers = ["plain", "pbs"]
splits = 2
seeds = 2

[settings]
epochs = 60
dim = 8
checkpoint_every = 2
"""


@dataclass(frozen=True)
class Sample:
    """A command that works in a folder of its own.

    Attributes:
        name: what is done.
        arguments: of ``imgcl``, for the folder.
        again: what to add to continue after an interruption.
        sound: the problem of a folder in which it was interrupted.
        saved: how much work the folder holds; it must never become less.
        same: how a folder differs from one in which it was not interrupted.
    """

    name: str
    arguments: Callable[[Path], list[str]]
    again: tuple[str, ...]
    sound: Callable[[Path], str | None]
    saved: Callable[[Path], int]
    same: Callable[[Path, Path], str | None]


def pretraining(number: int) -> Sample:
    """A pre-training; there are several kinds."""
    arguments = PRETRAININGS[number % len(PRETRAININGS)]
    return Sample(
        "pre-training",
        lambda folder: ["pretrain", *arguments, "--out", str(folder / "run")],
        ("--resume",),
        lambda folder: run_is_sound(folder / "run"),
        lambda folder: progress(folder / "run"),
        lambda folder, reference: same_run(folder / "run", reference / "run") or leftovers(folder),
    )


def study(inputs: Path) -> Sample:
    """A study of four pre-trainings and four evaluations, with its pages."""
    spec = inputs / "tiny.toml"
    spec.write_text(STUDY, encoding="utf-8")

    def arguments(folder: Path) -> list[str]:
        places = ("--root", str(folder / "studies"), "--out", str(folder / "pages"))
        return ["study", "run", str(spec), *places, "--workers", "2", "--threads", "1", "--quiet"]

    def same(folder: Path, reference: Path) -> str | None:
        if finished_cells(folder / "studies") != finished_cells(reference / "studies"):
            return "the results differ from the undisturbed ones"
        return same_pages(folder / "pages", reference / "pages") or leftovers(folder)

    return Sample(
        "study",
        arguments,
        (),
        lambda folder: study_is_sound(folder / "studies"),
        lambda folder: len(finished_cells(folder / "studies")),
        same,
    )


def import_(inputs: Path) -> Sample:
    """An import of 5,000 nodes and 40,000 edges."""
    rng = np.random.default_rng(0)
    nodes = pd.DataFrame(rng.normal(size=(5000, 16)), columns=[f"f{i}" for i in range(16)])
    nodes.assign(id=[f"n{i}" for i in range(5000)], label=rng.integers(0, 4, 5000)).to_csv(inputs / "nodes.csv")
    ends = rng.integers(0, 5000, (40_000, 2))
    pd.DataFrame({"src": [f"n{i}" for i in ends[:, 0]], "dst": [f"n{i}" for i in ends[:, 1]]}).to_csv(
        inputs / "edges.csv", index=False
    )
    tables = ("--edges", str(inputs / "edges.csv"), "--nodes", str(inputs / "nodes.csv"))
    columns = ("--features", "f*", "--label", "label", "--quiet")
    return Sample(
        "import",
        lambda folder: ["import", *tables, *columns, "--out", str(folder / "mine.store")],
        (),
        lambda folder: store_is_sound(folder / "mine.store"),
        lambda folder: int((folder / "mine.store").exists()),
        lambda folder, reference: same_files(folder / "mine.store", reference / "mine.store") or leftovers(folder),
    )


def report(finished: Path) -> Sample:
    """A report of a finished run."""
    options = ("--map", "pca", "--splits", "2", "--imbalance", "exp:10")

    def sound(folder: Path) -> str | None:
        page = folder / "report.html"
        whole = not page.exists() or page.read_bytes().rstrip().endswith(b"</html>")
        return None if whole else f"{page} is half a page"

    return Sample(
        "report",
        lambda folder: ["report", str(finished), *options, "--out", str(folder / "report.html")],
        (),
        sound,
        lambda folder: int((folder / "report.html").exists()),
        lambda folder, reference: same_files(folder, reference) or leftovers(folder),
    )
