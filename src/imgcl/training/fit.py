"""Whether a checkpoint belongs to this training: all of it is checked before anything is used."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

from imgcl._core.sparse import ColumnStatistics
from imgcl.training.checkpoint import Checkpoint, unpack

LARGEST = sys.float_info.max
ADAM = {"step", "exp_avg", "exp_avg_sq"}  # what the optimiser keeps of every parameter


def check_fit(
    checkpoint: Checkpoint,
    method: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    epochs: int,
    statistics: ColumnStatistics | None = None,
) -> None:
    """Refuse a checkpoint whose parts have other names, shapes or types than those of this training.

    Raises:
        ValueError: saying which part.
        KeyError: naming a part that is missing.
        TypeError: when a part is something else altogether.
    """
    values = checkpoint.values
    epoch, losses = values["epoch"], values["losses"]
    _check("epoch", isinstance(epoch, int) and 0 <= epoch <= epochs)
    _check("losses", isinstance(losses, list) and len(losses) == epoch and all(map(_is_number, losses)))
    for name in ("rng/views", "rng/global"):
        try:
            torch.Generator().set_state(checkpoint.tensors[name])
        except RuntimeError:
            raise ValueError(f"{name} is no state of a generator") from None
    check_weights(checkpoint, method)
    if "best" in values:
        best = values["best"]
        _check("best", isinstance(best["epoch"], int) and 0 <= best["epoch"] <= epoch and _is_number(best["loss"]))
        _check_same("best_method", unpack("best_method", checkpoint), method.state_dict())
    _check_optimiser(checkpoint, optimiser)
    check_statistics(checkpoint, statistics)


def check_weights(checkpoint: Checkpoint, method: torch.nn.Module) -> None:
    """Refuse weights of another method, as :func:`check_fit` does."""
    _check_same("method", unpack("method", checkpoint), method.state_dict())


def check_statistics(checkpoint: Checkpoint, mine: ColumnStatistics | None) -> None:
    """Refuse statistics of other features than these, or that nothing can be divided by."""
    stored = unpack("features", checkpoint)
    if not stored:  # not needed, or from before they were kept
        return
    _check_same("features", stored, {} if mine is None else vars(mine))
    for name, values in stored.items():
        _check(f"features/{name}", bool(torch.isfinite(values).all()) and (name == "mean" or bool((values > 0).all())))


def _check_optimiser(checkpoint: Checkpoint, optimiser: torch.optim.Optimizer) -> None:
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    kept: dict[str, set[str]] = {}
    for name, value in unpack("optimiser", checkpoint).items():
        index, _, key = name.partition("/")
        known = index.isdecimal() and int(index) < len(parameters)
        shape = parameters[int(index)].shape if known and key != "step" else torch.Size()
        _check(f"optimiser/{name}"[:100], known and isinstance(value, Tensor) and value.shape == shape)
        kept.setdefault(index, set()).add(key)
    for index, keys in kept.items():
        _check(f"optimiser/{index}", keys == ADAM)


def _check_same(part: str, stored: dict[str, Any], mine: dict[str, Any]) -> None:
    for name in (*mine, *stored):
        found: Any = stored.get(name)
        expected: Any = mine.get(name)
        both = isinstance(found, Tensor) and isinstance(expected, Tensor)
        _check(f"{part}/{name}"[:100], both and (found.shape, found.dtype) == (expected.shape, expected.dtype))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and -LARGEST <= value <= LARGEST


def _check(part: str, fits: bool) -> None:
    if not fits:
        raise ValueError(f"{part} does not fit")
