"""The run directory: everything about one pre-training run, each file written atomically and with its checksum.

=====================  ==========================================================================
``config.json``        settings, seed, preset, graph (name, source, fingerprint), versions
``checkpoint.safetensors``  the training state; the trained encoder once finished, with the statistics of its features
``history.json``       loss of every epoch, what happened at every labelling
``reduction.safetensors``  what makes the blocks of features, where the run has some
``own.npy``, ``neighbours.npy``  those blocks, (N, up to 256) float32; ``neighbours-NAME.npy`` of a relation
``embedding.npy``      (N, d) float32, the learned block; present once finished, and written last
``labels.npy``         the graph's labels, for evaluation without the graph
``names.json``         names of nodes, classes and features, where the graph has them
``split-*.npy``        rows of train, val and test, when the scope ties the run to one split
``.training.lock``     the process that is training into it
=====================  ==========================================================================

A file is absent, old or new, and always whole. ``resume`` goes on from the checkpoint and writes whatever else is
missing or damaged again.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError
from torch import nn

from imgcl._core.checksums import read_checked_array, read_checked_json, write_checked_array, write_checked_json
from imgcl._core.errors import RunError, TrainingError
from imgcl._core.files import new_directory
from imgcl._core.locks import owned
from imgcl._core.providers import provided
from imgcl._core.version import __version__
from imgcl.graph import Graph
from imgcl.imbalance import ScopedGraph, Split
from imgcl.training.blocks import Reductions, block_file, load_reductions, reduced_blocks, save_reductions
from imgcl.training.checkpoint import Checkpoint
from imgcl.training.content import array_problem, json_problem
from imgcl.training.limits import IF_NOT_FINITE
from imgcl.training.record import GraphRecord
from imgcl.training.settings import LEARNED, NEIGHBOURS, OWN, RunConfig, block_names

FORMAT = "imgcl-run-2"
SPLIT_PARTS = ("train", "val", "test")
REDUCTION = "reduction.safetensors"
FILES = (
    *("checkpoint.safetensors", "history.json", "embedding.npy", "labels.npy", "names.json"),
    *(REDUCTION, f"{OWN}.npy", f"{NEIGHBOURS}.npy"),
    *(f"split-{part}.npy" for part in SPLIT_PARTS),
)
RECORDED_PACKAGES = ("torch", "numpy", "scipy", "numba", "scikit-learn", "torch_geometric")
LOCK = ".training.lock"
CONFIG_BYTES = 1 << 26
WRITTEN_AGAIN = "pre-train into the same directory with `resume=True`, which writes it again"
NOT_WRITTEN_AGAIN = "train again into another directory (`out`)"


class Run:
    """A run directory.

    Args:
        path: of the directory.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    # ------------------------------------------------------------------ writing

    @classmethod
    def start(
        cls, path: str | Path, config: RunConfig, graph: Graph, *, source: str, embedded: ScopedGraph | None = None
    ) -> Run:
        """Create a run directory for a graph.

        Args:
            path: of the directory; it must not hold a run yet.
            config: of the run.
            graph: the graph as it was given.
            source: what the user called the graph, so that it can be loaded again.
            embedded: what is embedded and evaluated, when the scope makes that another graph or fixes the split.
        """
        run = cls(path)
        run.check_free()
        # The config comes first: a directory that has one can be resumed, and files without one are not ours.
        run.path.mkdir(parents=True, exist_ok=True)
        run._write_start(config, GraphRecord.of(graph, source, embedded))
        return run

    @classmethod
    def write(
        cls,
        path: str | Path,
        config: RunConfig,
        record: GraphRecord,
        *,
        checkpoint: Checkpoint,
        history: dict[str, Any],
        embedding: NDArray[np.float32],
        reductions: Reductions | None = None,
        blocks: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> Run:
        """Write a finished run at once: the directory is there with all its files, or it is not there.

        Args:
            path: of the directory; it must not exist, or be empty.
            config: of the run.
            record: of the graph.
            checkpoint: with the weights.
            history: losses and labellings.
            embedding: of the nodes.
            reductions: what makes its blocks of features.
            blocks: those blocks.

        Raises:
            RunError: when ``path`` holds a run.
            InputError: when there is something else.
        """
        if cls(path).exists:
            raise RunError(f"{path} already holds a run: choose another directory, or remove it first")
        with new_directory(Path(path)) as folder:
            run = cls(folder)
            run._write_start(config, record)
            run.save(checkpoint, history)
            run.finish(embedding, reductions, blocks)
        return cls(path)

    def _write_start(self, config: RunConfig, record: GraphRecord) -> None:
        facts = {
            "config": config.model_dump(mode="json"),
            "graph": record.facts(),
            "versions": versions(),
            "threads": torch.get_num_threads(),
        }
        write_checked_json(self.path / "config.json", facts, FORMAT)
        self.write_inputs(record)

    def check_free(self) -> None:
        """Refuse a directory that holds a run, or files that a run would write over."""
        if self.exists:
            raise RunError(
                f"{self.path} already holds a run: continue it with `resume=True`, or use another directory (`out`)"
            )
        foreign = [name for name in FILES if (self.path / name).exists()]
        if foreign:
            raise RunError(
                f"{self.path} is not a run directory but has a file {foreign[0]}: use another directory (`out`)"
            )

    def write_inputs(self, record: GraphRecord) -> None:
        """Write what evaluation needs of the graph."""
        if record.split is not None:
            for part in SPLIT_PARTS:
                write_checked_array(self.path / f"split-{part}.npy", getattr(record.split, part))
        if record.labels is not None:
            write_checked_array(self.path / "labels.npy", record.labels)
        write_checked_json(self.path / "names.json", record.names(), FORMAT)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While the block lasts, no other process trains into this directory; leftovers of crashes are removed.

        Raises:
            RunError: when another process does, naming it.
        """
        try:
            with owned(self.path / LOCK, str(self.path)):
                for leftover in self.path.glob(".*.tmp*"):
                    leftover.unlink(missing_ok=True)
                yield
        finally:
            with suppress(OSError):  # only an empty directory can be removed: nothing is left of a run that never began
                self.path.rmdir()

    def finish(
        self,
        embedding: NDArray[np.float32],
        reductions: Reductions | None = None,
        blocks: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> None:
        """Store the blocks of features, what makes them, and last the embedding: the run is complete."""
        if reductions:
            save_reductions(self.path / REDUCTION, reductions)
        for name, rows in (blocks or {}).items():
            write_checked_array(self.path / f"{block_file(name)}.npy", rows)
        write_checked_array(self.path / "embedding.npy", embedding)

    def add_blocks(self, names: tuple[str, ...]) -> None:
        """Note in ``config.json`` that the run has these blocks too; their files are there already."""
        config, facts = self.config, self.facts
        every = block_names({*config.blocks, *names})
        if every != config.blocks:
            changed = config.model_copy(update={"blocks": every})
            write_checked_json(self.path / "config.json", {**facts, "config": changed.model_dump(mode="json")}, FORMAT)

    def change_length(self, config: RunConfig) -> None:
        """Note in ``config.json`` that the run has more epochs now; it is no longer finished.

        The embedding goes first: a crash in between leaves a run of the old length, to be finished or extended.
        """
        stored, facts = self.config, self.facts
        if config.training != stored.training:
            (self.path / "embedding.npy").unlink(missing_ok=True)
            changed = stored.model_copy(update={"training": config.training, "extended": config.extended})
            write_checked_json(self.path / "config.json", {**facts, "config": changed.model_dump(mode="json")}, FORMAT)

    def save(self, state: Checkpoint, history: dict[str, Any]) -> None:
        """Store the training state and what has happened so far.

        Raises:
            TrainingError: when the weights are no longer finite; the last checkpoint stays as it is.
        """
        bad = state.not_finite()
        if bad is not None:
            raise TrainingError(f"{bad} is no longer finite: {IF_NOT_FINITE}")
        state.save(self.path / "checkpoint.safetensors")
        write_checked_json(self.path / "history.json", history, FORMAT)

    # ------------------------------------------------------------------ reading

    @property
    def exists(self) -> bool:
        return (self.path / "config.json").exists()

    @property
    def finished(self) -> bool:
        return (self.path / "embedding.npy").exists()

    @property
    def whole(self) -> bool:
        """Whether the run is finished and every file of it can be read."""
        try:
            _ = self.facts, self.config, self.history, self.blocks, self.reductions, self.node_names, self.split
            if (self.path / "labels.npy").exists():
                _ = self.labels
            self.checkpoint()
        except RunError:
            return False
        return True

    @property
    def facts(self) -> dict[str, Any]:
        """The content of ``config.json``."""
        return self._read_json("config.json", NOT_WRITTEN_AGAIN)

    @property
    def config(self) -> RunConfig:
        try:
            return RunConfig.model_validate(self.facts.get("config"))
        except ValidationError as error:
            raise RunError(
                f"{self.path / 'config.json'} does not fit this version: {error.errors()[0]['msg']}"
            ) from None

    @property
    def history(self) -> dict[str, Any]:
        return self._read_json("history.json")

    @property
    def embedding(self) -> NDArray[np.float32]:
        if not self.finished and self.exists:
            raise RunError(f"{self.path} is not finished: pre-train into it with `resume=True` to continue it")
        return self._read_array("embedding.npy")

    @property
    def blocks(self) -> dict[str, NDArray[np.float32]]:
        """The blocks of the embedding by name: ``learned``, and the blocks of features that the run has."""
        blocks = {LEARNED: self.embedding}
        for name in self._reduced:
            file = f"{block_file(name)}.npy"
            rows = blocks[name] = self._read_array(file)
            if len(rows) != len(blocks[LEARNED]):
                problem = f"{len(rows)} rows for {len(blocks[LEARNED])} nodes"
                raise RunError(f"{self.path / file} is damaged ({problem}): {WRITTEN_AGAIN}")
        return blocks

    @property
    def reductions(self) -> Reductions:
        """What makes the blocks of features, to be applied to other graphs."""
        names = self._reduced
        return load_reductions(self.path / REDUCTION, names, WRITTEN_AGAIN) if names else {}

    @property
    def _reduced(self) -> tuple[str, ...]:
        """Names of the blocks of features."""
        return reduced_blocks(self.config.blocks, self.facts["graph"].get("n_features"))

    @property
    def labels(self) -> NDArray[np.int64]:
        if self.exists and not (self.path / "labels.npy").exists():
            raise RunError(
                f"the graph of {self.path} has no labels: evaluation needs some (imgcl suggest says which to make)"
            )
        return self._read_array("labels.npy")

    @property
    def split(self) -> Split | None:
        """The split that the run was made for; ``None``: it serves any split."""
        if self.config.scope.scope == "train":
            return None
        n = len(self.labels)
        parts = {part: self._read_array(f"split-{part}.npy") for part in SPLIT_PARTS}
        for part, rows in parts.items():
            if len(rows) and rows.max() >= n:
                raise RunError(f"{self.path / f'split-{part}.npy'} is damaged (not all 0..{n - 1}): {WRITTEN_AGAIN}")
        return Split(parts["train"], parts["val"], parts["test"])

    @property
    def node_names(self) -> list[str] | None:
        return self._read_json("names.json")["nodes"]  # type: ignore[no-any-return]

    @property
    def class_names(self) -> list[str] | None:
        return self._read_json("names.json")["classes"]  # type: ignore[no-any-return]

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features; ``None``: the graph has none, or the run is from before they were kept."""
        return self._read_json("names.json").get("features")

    @property
    def record(self) -> GraphRecord:
        """What is known of the graph."""
        graph = self.facts["graph"]
        return GraphRecord(
            graph["name"],
            graph["source"],
            graph["fingerprint"],
            graph.get("n_features"),
            self.labels if (self.path / "labels.npy").exists() else None,
            self.node_names,
            self.class_names,
            self.feature_names,
            self.split,
            graph.get("direction"),
            graph.get("rules"),
        )

    def to_pyg(self, device: str | None = "cpu") -> nn.Module:
        """The encoder of a finished run as a module on torch_geometric's layers, see :meth:`imgcl.ImGCL.to_pyg`."""
        return provided("Run.to_pyg")(self, device)  # type: ignore[no-any-return]

    def checkpoint(self) -> Checkpoint:
        """The last checkpoint."""
        return Checkpoint.load(self.path / "checkpoint.safetensors")

    @property
    def has_checkpoint(self) -> bool:
        return (self.path / "checkpoint.safetensors").exists()

    def _not_a_run(self, name: str) -> RunError:
        """What to say where the file ``name`` is missing: what the path is instead of a run."""
        what = f"it has no {name}"
        if not self.path.is_dir():
            what = "it is a file" if self.path.exists() else "there is no such directory; imgcl pretrain makes one"
        elif (self.path / "manifest.json").is_file():
            what = "it is a graph store; pre-train on it first (imgcl pretrain)"
        elif (self.path / "scorer.json").is_file():
            what = "it is a scorer; imgcl score uses it"
        return RunError(f"{self.path} is not a run directory: {what}")

    def _read_json(self, name: str, remedy: str = WRITTEN_AGAIN) -> dict[str, Any]:
        try:
            largest = CONFIG_BYTES if name == "config.json" else None  # names and histories grow with the graph
            content = read_checked_json(self.path / name, FORMAT, remedy, largest=largest)
        except (FileNotFoundError, NotADirectoryError):
            raise self._not_a_run(name) from None
        problem = json_problem(name, content)
        if problem is not None:
            raise RunError(f"{self.path / name} is damaged ({problem}): {remedy}")
        return content

    def _read_array(self, name: str) -> NDArray[Any]:
        try:
            array = read_checked_array(self.path / name, WRITTEN_AGAIN)
        except (FileNotFoundError, NotADirectoryError):
            raise self._not_a_run(name) from None
        problem = array_problem(name, array)
        if problem is not None:
            raise RunError(f"{self.path / name} is damaged ({problem}): {WRITTEN_AGAIN}")
        return array


def versions() -> dict[str, str]:
    """Versions of everything that decides a result; optional packages where they are installed."""
    found = {"imgcl": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for name in RECORDED_PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
