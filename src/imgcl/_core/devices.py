"""Which code computes: our own kernels on the CPU, torch's operations on every other device.

Every place that has both asks :func:`has_kernels`. Tests force the second kind on the CPU with
:func:`without_kernels`, so that it is exercised where there is no other device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_kernels = True  # the switch; it belongs to the process, for a backward pass may run in another thread


def has_kernels(device: torch.device) -> bool:
    """Whether our kernels compute on a device.

    Example:
        >>> has_kernels(torch.device("cpu")), has_kernels(torch.device("cuda"))
        (True, False)
    """
    return device.type == "cpu" and _kernels


@contextmanager
def without_kernels() -> Iterator[None]:
    """The CPU is treated as any other device until the end of the block.

    Example:
        >>> with without_kernels():
        ...     has_kernels(torch.device("cpu"))
        False
    """
    global _kernels
    before, _kernels = _kernels, False
    try:
        yield
    finally:
        _kernels = before
