"""A training state as one safetensors file: tensors, and everything else as JSON in its header. No pickle.

The header also holds a checksum of both, so a file that was cut short or changed is never trained on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from imgcl._core.checksums import check_format, hasher
from imgcl._core.documents import parse_json
from imgcl._core.errors import RunError
from imgcl._core.files import atomic_path

FORMAT = "imgcl-checkpoint-2"
UNCHECKED = "imgcl-checkpoint-1"  # the same without a checksum
REMEDY = "delete it; `resume=True` then trains again from the start"


@dataclass(frozen=True)
class Checkpoint:
    """Named tensors and plain values."""

    tensors: dict[str, Tensor]
    values: dict[str, Any]

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in self.tensors.items()}
        values = json.dumps(self.values)
        metadata = {"format": FORMAT, "values": values, "checksum": _checksum(tensors, values)}
        with atomic_path(path) as temporary:
            temporary.write_bytes(save(tensors, metadata))

    def not_finite(self) -> str | None:
        """Name of the first weight, or state of the optimiser, that is infinite or not a number, if any."""
        for name, tensor in self.tensors.items():
            trained = name.startswith(("method/", "best_method/", "optimiser/"))
            if trained and tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
                return name
        return None

    @classmethod
    def load(cls, path: Path, remedy: str = REMEDY) -> Checkpoint:
        """Read the file; anything but a whole checkpoint of this format is refused, with what to do."""
        if not path.exists():
            raise RunError(f"{path} does not exist: the run has not reached its first checkpoint")
        with open(path, "rb"):  # what the system refuses is not damage
            pass
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        except (SafetensorError, OSError, RuntimeError, ValueError) as error:
            raise RunError(f"{path} is damaged ({error}): {remedy}") from None
        found, values = metadata.get("format", "none"), metadata.get("values", "")
        if found != UNCHECKED:
            check_format(path, found, FORMAT)
            if metadata.get("checksum") != _checksum(tensors, values):
                raise RunError(f"{path} is damaged (its checksum does not fit): {remedy}")
        try:
            plain = parse_json(values)
        except ValueError as error:
            raise RunError(f"{path} is damaged ({error}): {remedy}") from None
        if not isinstance(plain, dict):
            raise RunError(f"{path} is damaged (its values are not an object): {remedy}")
        return cls(tensors, plain)


def _checksum(tensors: Mapping[str, Tensor], values: str) -> str:
    digest = hasher(values.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def pack(prefix: str, state: Mapping[str, Any], tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
    """Put a flat state dict under a prefix: tensors and arrays with the tensors, the rest with the values."""
    values[prefix] = {}
    for key, value in state.items():
        if isinstance(value, np.ndarray):
            tensors[f"{prefix}/{key}"] = torch.from_numpy(value)
        elif isinstance(value, Tensor):
            tensors[f"{prefix}/{key}"] = value
        else:
            values[prefix][key] = value


def unpack(prefix: str, checkpoint: Checkpoint) -> dict[str, Any]:
    """The state dict that :func:`pack` put under the prefix."""
    start = prefix + "/"
    tensors = {name[len(start) :]: tensor for name, tensor in checkpoint.tensors.items() if name.startswith(start)}
    return {**checkpoint.values.get(prefix, {}), **tensors}


def pack_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
    """Put an optimiser's state under the prefix ``optimiser``."""
    state = optimiser.state_dict()
    flat = {f"{index}/{key}": value for index, slot in state["state"].items() for key, value in slot.items()}
    pack("optimiser", flat, tensors, values)


def unpack_optimiser(optimiser: torch.optim.Optimizer, checkpoint: Checkpoint) -> None:
    """Load what :func:`pack_optimiser` stored; its settings are those of the run and stay as they are."""
    slots: dict[int, dict[str, Any]] = {}
    for name, value in unpack("optimiser", checkpoint).items():
        index, _, key = name.partition("/")
        slots.setdefault(int(index), {})[key] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": slots})
