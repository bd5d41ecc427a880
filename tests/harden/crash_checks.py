"""What must hold of the files of a command, at any moment and at its end.

A check gives the first problem in one line, or ``None``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from imgcl._core.errors import ImgclError
from imgcl.data.store import verify_store
from imgcl.studies.journal import JOURNAL, Journal
from imgcl.training import Run
from imgcl.training.checkpoint import Checkpoint

LEFTOVER = re.compile(r"\..*\.(tmp|scratch)(\..*)?")
MADE_ANEW = re.compile(r"^.*(compute time|commit).*$", flags=re.MULTILINE)  # how long it took, in a study's pages
STATES = ("checkpoint.safetensors", "reduction.safetensors")


def leftovers(folder: Path) -> str | None:
    """Temporary files that nobody will remove any more."""
    found = [str(path.relative_to(folder)) for path in folder.rglob("*") if LEFTOVER.fullmatch(path.name)]
    return f"left behind: {', '.join(found[:3])}" if found else None


def run_is_sound(path: Path) -> str | None:
    """Every file of a run directory is absent or whole."""
    run = Run(path)
    try:
        for file in path.iterdir() if path.exists() else ():
            name = file.name
            if name == "config.json":
                _ = run.config
            elif name in STATES:
                Checkpoint.load(file)
            elif name == "history.json":
                _ = run.history
            elif name == "names.json":
                _ = run.node_names
            elif name.endswith(".npy") and not name.startswith("."):
                run._read_array(name)
            elif not (LEFTOVER.fullmatch(name) or name in (".training.lock", ".lock", "record.json")):
                return f"{file} does not belong there"
    except ImgclError as error:
        return str(error)
    return None


def progress(path: Path) -> int:
    """How many epochs a run directory has saved."""
    return int(Run(path).checkpoint().values["epoch"]) if Run(path).has_checkpoint else 0


def same_run(path: Path, reference: Path) -> str | None:
    """Two finished run directories hold the same, bit for bit."""
    differing = same_files(path, reference, ignore={"config.json", *STATES})
    if differing is not None:
        return differing
    if Run(path).config != Run(reference).config:
        return "config.json differs"
    states = [same_state(path / name, reference / name) for name in STATES if (reference / name).exists()]
    return next((problem for problem in states if problem is not None), leftovers(path))


def same_state(path: Path, reference: Path) -> str | None:
    """Two files hold the same tensors and values; the order of their headers is not fixed."""
    ours, theirs = Checkpoint.load(path), Checkpoint.load(reference)
    if ours.values != theirs.values or ours.tensors.keys() != theirs.tensors.keys():
        return f"values of {path.name} differ"
    unlike = [name for name, tensor in ours.tensors.items() if not tensor.equal(theirs.tensors[name])]
    return f"{unlike[0]} of {path.name} differs" if unlike else None


def same_files(path: Path, reference: Path, ignore: set[str] = frozenset()) -> str | None:  # type: ignore[assignment]
    """Two directories hold the same bytes."""
    ours, theirs = (
        {file.name: file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")}
        for folder in (path, reference)
    )
    if ours.keys() != theirs.keys():
        return f"other files than without a kill: {', '.join(sorted(ours.keys() ^ theirs.keys()))}"
    unlike = [name for name in ours if name not in ignore and ours[name].read_bytes() != theirs[name].read_bytes()]
    return f"{unlike[0]} differs from the undisturbed one" if unlike else None


def study_is_sound(root: Path) -> str | None:
    """Journals, records and run directories of a study are whole."""
    try:
        for journal in root.glob(f"*/{JOURNAL}"):
            Journal(journal).lines()
        for cell in _cells(root):
            problem = run_is_sound(cell)
            if problem is not None:
                return problem
            if (cell / "record.json").exists() and "status" not in json.loads((cell / "record.json").read_text()):
                return f"{cell / 'record.json'} has no status"
    except (ImgclError, ValueError) as error:
        return str(error)
    return None


def finished_cells(root: Path) -> dict[str, object]:
    """Results of the cells that a study's journals know to be done."""
    lines = [line for journal in root.glob(f"*/{JOURNAL}") for line in Journal(journal).lines()]
    return {line["key"]: line["result"] for line in lines if line["type"] == "cell" and line["status"] == "done"}


def _cells(root: Path) -> Iterator[Path]:
    return (path for path in (root / "cells").iterdir() if path.is_dir()) if (root / "cells").exists() else iter(())


def same_pages(path: Path, reference: Path) -> str | None:
    """The written forms of two studies agree in everything but the time they took."""
    for theirs in reference.iterdir():
        ours = path / theirs.name
        if not ours.exists():
            return f"{theirs.name} was not written"
        pages = [ours.read_bytes(), theirs.read_bytes()]
        if theirs.suffix in (".md", ".tex"):
            pages = [MADE_ANEW.sub("", page.decode()).encode() for page in pages]
        if pages[0] != pages[1]:
            return f"{theirs.name} differs from the undisturbed one"
    return leftovers(path)


def store_is_sound(path: Path) -> str | None:
    """A graph store is absent or whole to the last byte."""
    if not path.exists():
        return None
    try:
        verify_store(path)
    except ImgclError as error:
        return str(error)
    return None
