"""A training state as one safetensors file: tensors, and everything else as JSON in its header. No pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from imgcl.errors import RunError
from imgcl.files import atomic_path

FORMAT = "imgcl-checkpoint-1"


@dataclass(frozen=True)
class Checkpoint:
    """Named tensors and plain values."""

    tensors: dict[str, Tensor]
    values: dict[str, Any]

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in self.tensors.items()}
        with atomic_path(path) as temporary:
            save_file(tensors, temporary, metadata={"format": FORMAT, "values": json.dumps(self.values)})

    @classmethod
    def load(cls, path: Path) -> Checkpoint:
        """Read the file; anything but a whole checkpoint of this format is refused."""
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        except FileNotFoundError:
            raise RunError(f"{path} does not exist: the run has not reached its first checkpoint") from None
        except (SafetensorError, OSError) as error:
            raise RunError(f"{path} is damaged ({error}): delete it and train again") from None
        if metadata.get("format") != FORMAT:
            found = metadata.get("format", "none")
            raise RunError(f"{path} has format {found!r}, this version reads {FORMAT!r}: train again")
        return cls(tensors, json.loads(metadata["values"]))


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
    values["optimiser_groups"] = state["param_groups"]


def unpack_optimiser(optimiser: torch.optim.Optimizer, checkpoint: Checkpoint) -> None:
    """Load what :func:`pack_optimiser` stored."""
    slots: dict[int, dict[str, Any]] = {}
    for name, value in unpack("optimiser", checkpoint).items():
        index, _, key = name.partition("/")
        slots.setdefault(int(index), {})[key] = value
    optimiser.load_state_dict({"state": slots, "param_groups": checkpoint.values["optimiser_groups"]})
