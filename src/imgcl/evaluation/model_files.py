"""Fitted models as JSON and arrays: nothing is pickled, and nothing that is read can run code or leave its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imgcl._core.checksums import read_checked_array, write_checked_array
from imgcl._core.errors import InputError
from imgcl.evaluation.ensemble import EnsembleModel
from imgcl.evaluation.forest import TreeModel, Trees
from imgcl.evaluation.tasks import LinearModel, Model

COEFFICIENTS, NODES = "coefficients.npy", "trees.npy"
MEMBERS = (NODES, "forest.npy")  # files of an ensemble's trees, in their order


def write_model(model: Model, name: str, folder: Path) -> dict[str, Any]:
    """Write the arrays of a model into a directory.

    Returns:
        What else there is to know, for a JSON file.

    Raises:
        InputError: when the model is not one of ours: scikit-learn's can only be pickled.
    """
    if isinstance(model, LinearModel):
        write_checked_array(folder / COEFFICIENTS, model.coefficients.numpy())
        return {"kind": "linear", "setting": dict(model.setting)}
    if isinstance(model, TreeModel):
        return {"kind": "trees", "setting": dict(model.setting), "trees": _write_trees(model, folder / NODES)}
    if isinstance(model, EnsembleModel):
        linear = write_model(model.linear, name, folder)
        trees = [_write_trees(each, folder / file) for each, file in zip(model.trees, MEMBERS, strict=False)]
        entry = {"kind": "ensemble", "setting": dict(model.setting), "shift": model.shift.tolist()}
        return {**entry, "linear": linear["setting"], "trees": trees}
    raise InputError(f"classifier {name!r} cannot be saved without pickle: use one of ours")


def read_model(entry: Mapping[str, Any], folder: Path, n_classes: int, width: int, remedy: str) -> Model:
    """Read back what :func:`write_model` wrote.

    Args:
        entry: what it returned.
        folder: where the arrays are.
        n_classes: K.
        width: columns of the rows.
        remedy: what to do with a damaged file, for the message.

    Raises:
        FileNotFoundError: when an array is missing.
        KeyError, TypeError, ValueError: when parts are missing or do not fit together.
        RunError: when an array is damaged.
    """
    kind, setting = entry["kind"], {str(key): float(value) for key, value in entry["setting"].items()}
    if kind == "trees":
        return _read_trees(entry["trees"], folder / NODES, n_classes, width, setting, remedy)
    if kind not in ("linear", "ensemble"):
        raise ValueError(f"model of kind {kind!r}")
    coefficients = read_checked_array(folder / COEFFICIENTS, remedy)
    if coefficients.shape != (n_classes, width + 1) or coefficients.dtype != np.float32:
        raise ValueError(f"coefficients of shape {coefficients.shape}")
    linear = LinearModel(torch.from_numpy(np.array(coefficients)), setting if kind == "linear" else entry["linear"])
    if kind == "linear":
        return linear
    files = zip(entry["trees"], MEMBERS, strict=False)
    trees = tuple(_read_trees(part, folder / file, n_classes, width, {}, remedy) for part, file in files)
    shift = torch.tensor([float(value) for value in entry["shift"]], dtype=torch.float32)
    if len(shift) != n_classes:
        raise ValueError(f"shift of {len(shift)} classes")
    return EnsembleModel(linear, trees, shift, setting)


def _write_trees(model: TreeModel, file: Path) -> dict[str, Any]:
    """One array with a row for each node; numbers of nodes and columns are exact in it."""
    trees = model.trees
    heads = np.stack([trees.column, trees.threshold, trees.left, trees.right], axis=1)
    write_checked_array(file, np.concatenate([heads, trees.value], axis=1))
    arrays = {"base": model.base, "classes": model.classes, "columns": model.columns, "shift": model.shift}
    lists = {name: array.tolist() for name, array in (arrays | {"root": trees.root, "output": trees.output}).items()}
    return {"kind": model.kind, "smallest": model.smallest, **lists}


def _read_trees(
    entry: Mapping[str, Any], file: Path, n_classes: int, width: int, setting: dict[str, float], remedy: str
) -> TreeModel:
    nodes = np.asarray(read_checked_array(file, remedy), dtype=np.float64)
    if nodes.ndim != 2 or nodes.shape[1] < 5 or not np.isfinite(nodes).all():
        raise ValueError(f"nodes of trees of shape {nodes.shape}")
    column, left, right = (nodes[:, i].astype(np.int64) for i in (0, 2, 3))
    trees = Trees(
        _ints(entry["root"]), _ints(entry["output"]), column, nodes[:, 1].copy(), left, right, nodes[:, 4:].copy()
    )
    base, shift = (np.array(entry[name], dtype=np.float64) for name in ("base", "shift"))
    classes, columns = _ints(entry["classes"]), _ints(entry["columns"])
    trees.check(len(columns), len(base))
    outputs = len(classes) if len(base) > 1 else 2
    inside = _inside(classes, n_classes) and _inside(columns, width)
    if not inside or len(shift) != n_classes or len(classes) != outputs or len(base) not in (1, outputs):
        raise ValueError("trees do not fit the classes or blocks")
    if entry["kind"] not in ("boosting", "forest"):
        raise ValueError(f"trees of kind {entry['kind']!r}")
    smallest = float(entry["smallest"])
    if not 0 < smallest < 1:
        raise ValueError(f"smallest probability of trees {smallest}")
    return TreeModel(trees, str(entry["kind"]), base, classes, n_classes, columns, shift, setting, smallest)


def _ints(values: Any) -> NDArray[np.int64]:
    return np.array([int(value) for value in values], dtype=np.int64)


def _inside(values: NDArray[np.int64], end: int) -> bool:
    return bool(((values >= 0) & (values < end)).all()) and len(np.unique(values)) == len(values)
