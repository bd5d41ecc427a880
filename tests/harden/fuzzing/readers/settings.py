"""Readers of what people write: study files, presets, label files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

from harden.fuzzing.readers.graphs import small_graph
from imgcl.evaluation import align_labels, read_labels
from imgcl.studies import Graphs
from imgcl.studies.cells import GraphRef
from imgcl.studies.grid import expand, read_spec
from imgcl.training import presets

STUDY = """\
name = "mine"
datasets = ["synthetic", "graph.npz"]
methods = ["gbt", "grace"]
baselines = ["features"]
imbalances = ["exp:10", "natural"]
classifiers = ["plain", "pbs"]
scope = "train"
preset = "fast"
seeds = 1
splits = 2
[balances]
none = "none"
mine = "alpha=step:0.5,n_clusters=3"
[settings]
epochs = 2
lr = 0.01
"""


def one_graph() -> Graphs:
    """The graphs of a study, without loading what an input names."""
    ref = GraphRef(source="synthetic", name="synthetic", fingerprint="0" * 32, n_classes=2)
    return Graphs({"synthetic": (ref, small_graph())})


def prepare_study(root: Path) -> None:
    (root / "0").mkdir()
    (root / "0" / "study.toml").write_text(STUDY)


def read_study(folder: Path, flags: int) -> None:
    for point in expand(read_spec(folder / "study.toml"), one_graph()):
        json.dumps(point.line())


def prepare_preset(root: Path) -> None:
    shutil.copytree(Path(presets.__file__).parent / "gbt", root / "0" / "gbt")


def read_preset(folder: Path, flags: int) -> None:
    original = presets.resources
    presets.resources = SimpleNamespace(files=lambda package: folder)
    try:
        for preset in presets.list_presets():
            preset.config().build_settings()
    finally:
        presets.resources = original


def prepare_labels(root: Path) -> None:
    (root / "0").mkdir()
    (root / "0" / "labels.csv").write_text("node,label\n0,a\n1,b\n2,a\n3,\n")


def read_label_file(folder: Path, flags: int) -> None:
    names = ["n0", "n1", "n2", "n3", "node"] if flags & 1 else None
    align_labels(read_labels(folder / "labels.csv", names or ()), 5, names)
