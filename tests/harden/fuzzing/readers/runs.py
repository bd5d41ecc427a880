"""Readers of run directories: settings, history, names, arrays, checkpoint."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
from safetensors.torch import save_file

from harden.fuzzing.readers.graphs import small_graph
from imgcl.balance import BalanceSettings
from imgcl.balance.trace import trace_rows
from imgcl.report.directories import read_nodes, read_runs
from imgcl.training import Run, RunConfig, Trainer
from imgcl.training.checkpoint import UNCHECKED
from imgcl.training.pretrain import pretrain, restore
from imgcl.training.settings import ScopeSettings, TrainingSettings

CHECKPOINT = "checkpoint.safetensors"


def config(scope: str = "train") -> RunConfig:
    return RunConfig(
        method_settings={"dim": 4},
        training=TrainingSettings(epochs=2, checkpoint_every=1),
        balance=BalanceSettings(n_clusters=2, fraction=0.5),
        scope=ScopeSettings(scope=scope, imbalance="exp:2"),
    )


def prepare_run(root: Path) -> None:
    for number, scope in enumerate(("train", "graph")):
        run = pretrain(small_graph(), config(scope), root / str(number), source="synthetic")
        (run.path / CHECKPOINT).unlink()  # has a suite of its own
        without_checksums(shutil.copytree(run.path, root / str(number + 2)))


def without_checksums(folder: Path) -> None:
    """Files as they were before there were checksums: a change in them gets past the first check."""
    for file in folder.glob("*.json"):
        content = json.loads(file.read_text())
        file.write_text(json.dumps({key: content[key] for key in content if key not in ("format", "checksum")}))
    for file in folder.glob("*.npy"):
        np.save(file, np.load(file, allow_pickle=False), allow_pickle=False)


def read_run(folder: Path, flags: int) -> None:
    run = Run(folder)
    run.config.build_settings()
    trace_rows(run.history["labellings"])
    read_runs([folder])
    read_nodes(folder)


def prepare_checkpoint(root: Path) -> None:
    begun = Trainer(config(), small_graph())
    begun.step()
    state = begun.checkpoint()
    state.save(root / "0" / CHECKPOINT)
    (root / "1").mkdir()
    save_file(state.tensors, root / "1" / CHECKPOINT, {"format": UNCHECKED, "values": json.dumps(state.values)})


@cache
def trainer() -> Trainer:
    return Trainer(config(), small_graph())


def read_checkpoint(folder: Path, flags: int) -> None:
    restore(trainer(), Run(folder))
    if flags & 1:
        trainer().step()
