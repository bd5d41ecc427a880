"""Where to compute."""

from __future__ import annotations

import torch

from imgcl._core.errors import InputError


def resolve_device(device: str) -> torch.device:
    """``auto`` is the GPU if there is one, else the CPU; anything else is torch's own name."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise InputError(f"unknown device {device!r}: use auto, cpu, cuda or cuda:N") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device {device!r} was asked for, but torch sees no GPU: use --device auto")
    return chosen
