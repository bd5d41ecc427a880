"""Where to compute."""

from __future__ import annotations

import torch

from imgcl.errors import InputError

AUTO = "auto"
TYPES = ("cpu", "cuda")  # what the kernels, or torch's own sparse products, compute on


def device_name(device: str | torch.device | None) -> str:
    """The name of a device, if it is one to compute on; ``None`` stands for ``auto``.

    Example:
        >>> device_name(None), device_name("cuda:1")
        ('auto', 'cuda:1')
    """
    if device is None or device == AUTO:
        return AUTO
    try:
        if torch.device(device).type in TYPES and not isinstance(device, int):
            return str(device)
    except (RuntimeError, TypeError):  # not a name of torch's
        pass
    raise InputError(f"device {device!r} cannot be used: choose auto, cpu, cuda or cuda:N")


def resolve_device(device: str | torch.device | None) -> torch.device:
    """``auto`` is the GPU if there is one, else the CPU; anything else is torch's own name."""
    name = device_name(device)
    if name == AUTO:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    chosen, gpus = torch.device(name), torch.cuda.device_count()
    if chosen.type == "cuda" and (chosen.index or 0) >= gpus:
        raise InputError(f"device {name!r} was asked for, but torch sees {gpus or 'no'} GPU: use --device auto")
    return torch.device("cpu") if chosen.type == "cpu" else chosen
