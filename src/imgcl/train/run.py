"""The run directory: everything about one pre-training run, each file written atomically.

=====================  ==========================================================================
``config.json``        settings, seed, preset, graph (name, source, fingerprint), versions
``checkpoint.safetensors``  the training state; the trained encoder once finished
``history.json``       loss of every epoch, what happened at every labelling
``embedding.npy``      (N, d) float32; present once finished
``labels.npy``         the graph's labels, for evaluation without the graph
``names.json``         names of nodes and classes, where the graph has them
``split-*.npy``        rows of train, val and test, when the scope ties the run to one split
=====================  ==========================================================================
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError

from imgcl._version import __version__
from imgcl.errors import RunError
from imgcl.files import write_array, write_json
from imgcl.graph import Graph
from imgcl.imbalance import ScopedGraph, Split
from imgcl.train.checkpoint import Checkpoint
from imgcl.train.settings import RunConfig
from imgcl.train.trainer import EpochReport, Trainer

SPLIT_PARTS = ("train", "val", "test")
RECORDED_PACKAGES = ("torch", "numpy", "scipy", "numba", "scikit-learn", "torch_geometric")


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
        facts = {"name": graph.name, "source": source, "fingerprint": graph.fingerprint}
        if run.exists:
            raise RunError(f"{run.path} already holds a run: use --resume to continue it, or another --out")
        run.path.mkdir(parents=True, exist_ok=True)
        if embedded is not None:
            graph, split = embedded.embed, embedded.embed_split
            for part in SPLIT_PARTS:
                write_array(run.path / f"split-{part}.npy", getattr(split, part))
        if graph.y is not None:
            write_array(run.path / "labels.npy", graph.y)
        names = {"nodes": graph.node_names, "classes": graph.class_names}
        write_json(run.path / "names.json", {key: None if v is None else list(v) for key, v in names.items()})
        # The config comes last: a directory that has one is a run that can be resumed.
        write_json(
            run.path / "config.json",
            {
                "config": config.model_dump(mode="json"),
                "graph": facts,
                "versions": versions(),
                "threads": torch.get_num_threads(),
            },
        )
        return run

    def train(self, trainer: Trainer, on_epoch: Callable[[EpochReport], None] | None = None) -> None:
        """Train to the end, with checkpoints into this directory."""
        trainer.train(on_epoch, self._save)

    def finish(self, embedding: NDArray[np.float32]) -> None:
        """Store the embedding: the run is complete."""
        write_array(self.path / "embedding.npy", embedding)

    def _save(self, trainer: Trainer) -> None:
        trainer.checkpoint().save(self.path / "checkpoint.safetensors")
        write_json(self.path / "history.json", trainer.history())

    # ------------------------------------------------------------------ reading

    @property
    def exists(self) -> bool:
        return (self.path / "config.json").exists()

    @property
    def finished(self) -> bool:
        return (self.path / "embedding.npy").exists()

    @property
    def facts(self) -> dict[str, Any]:
        """The content of ``config.json``."""
        facts = self._read_json("config.json")
        if not isinstance(facts, dict):
            raise RunError(f"{self.path / 'config.json'} is damaged (not an object)")
        return facts

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
        return self._read_json("history.json")  # type: ignore[no-any-return]

    @property
    def embedding(self) -> NDArray[np.float32]:
        if not self.finished and self.exists:
            raise RunError(
                f"{self.path} is not finished: continue it with `imgcl pretrain … --out {self.path} --resume`"
            )
        return self._read_array("embedding.npy")

    @property
    def labels(self) -> NDArray[np.int64]:
        if self.exists and not (self.path / "labels.npy").exists():
            raise RunError(f"the graph of {self.path} has no labels: evaluation needs some")
        return self._read_array("labels.npy")

    @property
    def split(self) -> Split | None:
        """The split that the run was made for; ``None``: it serves any split."""
        if self.config.scope.scope == "train":
            return None
        train, val, test = (self._read_array(f"split-{part}.npy") for part in SPLIT_PARTS)
        return Split(train, val, test)

    @property
    def node_names(self) -> list[str] | None:
        return self._read_json("names.json")["nodes"]  # type: ignore[no-any-return]

    @property
    def class_names(self) -> list[str] | None:
        return self._read_json("names.json")["classes"]  # type: ignore[no-any-return]

    def checkpoint(self) -> Checkpoint:
        """The last checkpoint."""
        return Checkpoint.load(self.path / "checkpoint.safetensors")

    @property
    def has_checkpoint(self) -> bool:
        return (self.path / "checkpoint.safetensors").exists()

    def _read_json(self, name: str) -> Any:
        path = self.path / name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError(f"{self.path} is not a run directory: it has no {name}") from None
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise RunError(f"{path} is damaged ({error})") from None

    def _read_array(self, name: str) -> NDArray[Any]:
        path = self.path / name
        try:
            array: NDArray[Any] = np.load(path, allow_pickle=False)
            return array
        except FileNotFoundError:
            raise RunError(f"{self.path} is not a run directory: it has no {name}") from None
        except (ValueError, EOFError, OSError) as error:
            raise RunError(f"{path} is damaged ({error})") from None


def versions() -> dict[str, str]:
    """Versions of everything that decides a result."""
    found = {"imgcl": __version__, "python": platform.python_version(), "machine": platform.machine()}
    return found | {name: metadata.version(name) for name in RECORDED_PACKAGES}
